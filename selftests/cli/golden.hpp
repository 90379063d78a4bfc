// SPDX-License-Identifier: MIT
// Comparison with a file of selftests/golden/cli; SDMACC_UPDATE_GOLDEN=1 writes it anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "daemon/select/rules.hpp"

namespace sdmacc::test {

inline void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = std::string(SDMACC_GOLDEN_DIR) + "/" + file;
  if (std::getenv("SDMACC_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing";
  std::stringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(golden.str(), text) << "in " << file;
}

// Rules of its own, so that tuning the built-in ones changes no golden file.
inline const char* const kTestRules = R"(sdmacc-rules 1
precedence mesh-t0 mesh-t2 kangaring-1 kangaring-3 single-step-mesh ring
prefer all_reduce mesh-t2 ranks 3.. bytes ..1MiB
prefer all_reduce kangaring-1 ranks 2.. bytes 4KiB..
prefer all_reduce ring
tune all_reduce kangaring-1 slice 64KiB window 1MiB channels 2
tune all_reduce ring slice 32KiB window 512KiB
)";

inline Rules test_rules() {
  auto rules = parse_rules("test.rules", kTestRules);
  EXPECT_TRUE(rules) << rules.error().text();
  return *rules;
}

}  // namespace sdmacc::test
