// SPDX-License-Identifier: MIT
// select: Operation → Choice. Every algorithm of the registry is a candidate; each gets the verdict
// of its own requirements and of the rules' preferences, and the choice says why.
#pragma once

#include "daemon/match/operation.hpp"
#include "daemon/select/choice.hpp"
#include "daemon/select/rules.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

// A forced algorithm must be possible; the error then names the rule it breaks. Without a force the
// first preferred candidate in order of precedence wins, else the first possible one.
Result<Choice> select(const Operation& operation, const World& world, const Rules& rules);

}  // namespace sdmacc
