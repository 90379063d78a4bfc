// SPDX-License-Identifier: MIT
// ring_walk: the lanes of RING and KANGARING, which are one walk: a ring is a kangaring without
// secondaries.
#pragma once

#include "daemon/compose/algorithm/builder.hpp"

namespace sdmacc::algorithm {

// Adds signals, TMP and lanes to a head whose `secondaries` is set.
void walk_rings(Schedule& schedule);

}  // namespace sdmacc::algorithm
