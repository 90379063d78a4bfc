// SPDX-License-Identifier: MIT
// The rule files of daemon/select/rules/, compiled in as text.
#pragma once

#include <string_view>
#include <vector>

namespace sdmacc {

struct BuiltinRules {
  std::string_view policy, text;
};
extern const std::vector<BuiltinRules> kBuiltinRules;

}  // namespace sdmacc
