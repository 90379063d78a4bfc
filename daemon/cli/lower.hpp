// SPDX-License-Identifier: MIT
// lower_text: a file of instruction words through the stages up to one, as text. It is what `sdmacc
// lower` prints and what golden files hold.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/cli/world_file.hpp"

namespace sdmacc::cli {

enum class StopAfter : std::uint8_t { Decode, Match, Select, Compose, Emit };
Result<StopAfter> parse_stop_after(std::string_view text);

// Every rank runs the same words. `scales`: by rank; given, each ADD becomes an FMA.
Result<std::string> lower_text(std::string_view words, const LowerWorld& world,
                               StopAfter stop_after, const std::vector<float>& scales = {});

}  // namespace sdmacc::cli
