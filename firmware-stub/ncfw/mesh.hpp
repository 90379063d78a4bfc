// SPDX-License-Identifier: MIT
// The SLOT list that mesh entries share: it runs on over the entries of a run, so its cursor is in
// the progress block.
#pragma once

#include "firmware-stub/ncfw/slot.hpp"

namespace sdmacc::ncfw {

inline constexpr std::uint32_t kMeshList = 0;

List mesh_list(Context&);
void save_mesh_list(Context&, const List&);

}  // namespace sdmacc::ncfw
