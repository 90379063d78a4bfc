// SPDX-License-Identifier: MIT
// explain: why an operation runs as it does: each candidate algorithm, the verdict of each rule on
// it, the choice, and how the work is cut. Pure: nothing is run. Entry: explain_json();
// explain_text() is for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "daemon/match/operation.hpp"
#include "daemon/select/choice.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

inline constexpr int kExplainVersion = 1;

// Keys: version, operation, choice, legs, candidates[]. `choice` was made by select() for this
// operation and world.
nlohmann::ordered_json explain_json(const Operation& operation, const World& world,
                                    const Choice& choice);
std::string explain_text(const Operation& operation, const World& world, const Choice& choice);

// The five algorithms of the legs in the words and order of the runtime's log.
std::string legs_line(std::uint32_t device, const Legs& legs);

}  // namespace sdmacc
