// SPDX-License-Identifier: MIT
// Plan: an operation lowered, ready to run any number of times on any tensors: one Program for a
// window and one for the rest.
#pragma once

#include <memory>

#include "daemon/emit/program.hpp"
#include "daemon/select/choice.hpp"

namespace sdmacc {

struct Plan {
  Choice choice;
  std::uint64_t count = 0;               // elements of the operation, at least 1
  std::uint32_t element = 0;             // bytes
  std::uint64_t window = 0;              // elements of one run of `whole`
  std::shared_ptr<const Program> whole;  // for each full window; the only one when count ≤ window
  std::shared_ptr<const Program>
      rest;  // for what is left after the last full window; null when nothing is
};
using PlanRef = std::shared_ptr<const Plan>;

}  // namespace sdmacc
