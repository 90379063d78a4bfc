// SPDX-License-Identifier: MIT
// The examples of docs/arithmetic.md are test cases: each row "| op | format | sources | result |"
// is run on every target and by the reference. The environment names the file.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "selftests/cce/support.hpp"

namespace sdmacc::cce {
namespace {

struct Example {
  int line;
  Case call;
  uint32_t result;
};

uint32_t hex(const std::string& text) {
  return static_cast<uint32_t>(std::stoul(text, nullptr, 16));
}

template <class T, size_t kSize>
std::optional<T> by_name(const T (&values)[kSize], const std::string& name) {
  for (T value : values) {
    if (name_of(value) == name) return value;
  }
  return std::nullopt;
}

// Nothing for lines that are no example.
std::optional<Example> parse(const std::string& text, int line) {
  std::istringstream in(text);
  std::string bar, op_name, acc_name, word, result;
  if (!(in >> bar >> op_name >> bar >> acc_name >> bar)) return std::nullopt;
  const auto op = by_name(kOps, op_name);
  const auto acc = by_name(kAccs, acc_name);
  if (text[0] != '|' || !op || !acc) return std::nullopt;
  Example example;
  example.line = line;
  example.call.op = *op;
  example.call.acc = *acc;
  while (in >> word && word != "|") {
    const size_t star = word.find('*');
    example.call.codes.push_back({hex(word.substr(0, star))});
    if (star == std::string::npos) continue;
    example.call.scales.push_back(std::bit_cast<float>(hex(word.substr(star + 1))));
  }
  in >> result;
  example.result = hex(result);
  return example;
}

TEST(Examples, HoldOnEveryTargetAndInTheReference) {
  const char* path = std::getenv("SDMACC_ARITHMETIC_DOC");
  ASSERT_NE(path, nullptr) << "SDMACC_ARITHMETIC_DOC must name docs/arithmetic.md";
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << path;
  std::map<std::pair<Op, Acc>, int> seen;
  int line = 0;
  for (std::string text; std::getline(file, text);) {
    const auto example = parse(text, ++line);
    if (!example) continue;
    const Case& call = example->call;
    ++seen[{call.op, call.acc}];
    ASSERT_TRUE(call.op != Op::Fma || call.scales.size() == call.codes.size()) << "line " << line;
    EXPECT_EQ(call.expected()[0], example->result) << "line " << line << ": " << text;
    for (const auto& target : targets()) {
      const ForcedTarget forced(target);
      EXPECT_EQ(call.run({example->result}), "") << "line " << line << ": " << text;
    }
  }
  for (Op op : kOps) {
    for (Acc acc : kAccs) {
      EXPECT_GT((seen[{op, acc}]), 0) << "no example of " << name_of(op) << ' ' << name_of(acc);
    }
  }
}

}  // namespace
}  // namespace sdmacc::cce
