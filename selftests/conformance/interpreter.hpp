// SPDX-License-Identifier: MIT
// The slow reference: runs a Schedule step by step on plain arrays, element by element, in the
// Schedule's own order of summation. It shares no code with emit, the device or the arithmetic
// engine. Entry: interpret().
#pragma once

#include <vector>

#include "daemon/compose/schedule.hpp"

namespace sdmacc {

// Codes of elements, by rank. With `in_place` IN and OUT are one array.
using Codes = std::vector<std::vector<std::uint32_t>>;

// OUT of every rank after one run over `in`.
Codes interpret(const Schedule& schedule, const Codes& in, bool in_place);

}  // namespace sdmacc
