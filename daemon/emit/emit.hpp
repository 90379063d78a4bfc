// SPDX-License-Identifier: MIT
// emit: Schedule → Program. Cuts steps into CCE packets and copies, writes semaphores as
// descriptors after a write barrier, and lays out rings, SLOT lists, CTRL entries, ring channels
// and mesh events. A Schedule whose structure no handler runs is refused.
#pragma once

#include "daemon/compose/schedule.hpp"
#include "daemon/emit/program.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

Result<Program> emit(const Schedule&, const World&);

}  // namespace sdmacc
