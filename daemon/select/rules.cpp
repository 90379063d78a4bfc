// SPDX-License-Identifier: MIT
// Rules: the parser. Entry: parse_rules(). Tested by selftests/select.
#include "daemon/select/rules.hpp"

#include <algorithm>
#include <charconv>

#include "daemon/select/builtin_rules.hpp"

namespace sdmacc {
namespace {

struct Line {
  const std::string& file;
  std::uint32_t number;
  std::vector<std::string_view> words;

  template <typename... Args>
  tl::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Errc::Invalid, Stage::Select, kNoIndex, "{}:{}: {}", file, number,
                fmt::format(format, std::forward<Args>(args)...));
  }
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const auto start = text.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || text[start] == '#') return words;
    text.remove_prefix(start);
    const auto end = std::min(text.find_first_of(" \t\r"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Result<std::uint64_t> parse_number(const Line& line, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::uint64_t factor = 1;
  if (unit == "KiB")
    factor = 1ull << 10;
  else if (unit == "MiB")
    factor = 1ull << 20;
  else if (unit == "GiB")
    factor = 1ull << 30;
  else if (!unit.empty())
    return line.error("'{}' has the unit '{}'; known are KiB, MiB, GiB", text, unit);
  if (error != std::errc{} || __builtin_mul_overflow(value, factor, &value))
    return line.error("'{}' is no number", text);
  return value;
}

Result<Band> parse_band(const Line& line, std::string_view text) {
  Band band;
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    SDMACC_TRY(band.low, parse_number(line, text));
    band.high = band.low;
    return band;
  }
  if (dots > 0) {
    SDMACC_TRY(band.low, parse_number(line, text.substr(0, dots)));
  }
  if (dots + 2 < text.size()) {
    SDMACC_TRY(band.high, parse_number(line, text.substr(dots + 2)));
  }
  if (band.low > band.high) return line.error("band '{}' is empty", text);
  return band;
}

Result<Collective> parse_collective(const Line& line, std::string_view text) {
  if (text == "all_reduce") return Collective::AllReduce;
  if (text == "reduce_scatter") return Collective::ReduceScatter;
  if (text == "all_gather") return Collective::AllGather;
  return line.error("'{}' is no collective; known are all_reduce, reduce_scatter, all_gather",
                    text);
}

Result<Rule> parse_rule(const Line& line, bool tune) {
  if (line.words.size() < 3)
    return line.error("'{}' takes a collective and an algorithm", line.words[0]);
  Rule rule;
  rule.line = line.number;
  SDMACC_TRY(rule.collective, parse_collective(line, line.words[1]));
  rule.algorithm = line.words[2];
  for (std::size_t i = 3; i < line.words.size(); i += 2) {
    const std::string_view key = line.words[i];
    if (i + 1 == line.words.size()) return line.error("'{}' has no value", key);
    const std::string_view value = line.words[i + 1];
    if (key == "ranks") {
      SDMACC_TRY(rule.ranks, parse_band(line, value));
    } else if (key == "bytes") {
      SDMACC_TRY(rule.bytes, parse_band(line, value));
    } else if (tune && key == "channels") {
      SDMACC_TRY(const std::uint64_t n, parse_number(line, value));
      if (n < 1 || n > 32) return line.error("channels {}: must be 1 to 32", n);
      rule.channels = static_cast<std::uint32_t>(n);
    } else if (tune && (key == "slice" || key == "window")) {
      SDMACC_TRY(const std::uint64_t n, parse_number(line, value));
      if (n == 0) return line.error("{} 0: must be at least 1", key);
      (key == "slice" ? rule.slice : rule.window) = n;
    } else {
      return line.error("'{}' does not take '{}'", line.words[0], key);
    }
  }
  return rule;
}

}  // namespace

std::size_t Rules::place(const std::string& algorithm) const {
  return static_cast<std::size_t>(std::find(precedence.begin(), precedence.end(), algorithm) -
                                  precedence.begin());
}

std::string Rules::where(const Rule& rule) const {
  return fmt::format("{}:{}", file, rule.line);
}

Result<Rules> parse_rules(const std::string& file, std::string_view text) {
  Rules rules;
  rules.file = file;
  std::uint32_t number = 0;
  bool versioned = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const Line line{file, ++number, split(text.substr(0, end))};
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.words.empty()) continue;
    const std::string_view verb = line.words[0];
    if (!versioned) {
      if (verb != "sdmacc-rules" || line.words.size() != 2)
        return line.error("the first line must be 'sdmacc-rules 1'");
      if (line.words[1] != "1")
        return line.error("version '{}' is unknown, this is 1", line.words[1]);
      versioned = true;
    } else if (verb == "precedence") {
      if (!rules.precedence.empty()) return line.error("a second precedence line");
      rules.precedence.assign(line.words.begin() + 1, line.words.end());
    } else if (verb == "prefer" || verb == "tune") {
      SDMACC_TRY(Rule rule, parse_rule(line, verb == "tune"));
      (verb == "tune" ? rules.tune : rules.prefer).push_back(std::move(rule));
    } else {
      return line.error("'{}' is unknown; known are precedence, prefer, tune", verb);
    }
  }
  if (!versioned)
    return fail(Errc::Invalid, Stage::Select, kNoIndex,
                "{}: no rules: the first line must be 'sdmacc-rules 1'", file);
  return rules;
}

Result<Rules> builtin_rules(const std::string& policy) {
  for (const BuiltinRules& b : kBuiltinRules)
    if (policy == b.policy) return parse_rules(std::string(b.policy) + ".rules", b.text);
  return fail(Errc::NotFound, Stage::Select, kNoIndex,
              "policy '{}' is unknown; known are host, neuron", policy);
}

}  // namespace sdmacc
