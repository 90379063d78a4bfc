// SPDX-License-Identifier: MIT
// dump: a loaded Program as it lies in the memory of the device, decoded, as JSON with the names of
// the layouts in libuapi/abi. Entry: dump_json(). All values are read from the device's memory
// (Inspection); the Program only says which step and tensor a descriptor belongs to.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "daemon/device/device.hpp"
#include "daemon/emit/program.hpp"

namespace sdmacc {

inline constexpr int kDumpVersion = 1;

struct DumpOptions {
  // Descriptors of all rings together. A longer ring is shown round its head, with how many it has.
  std::size_t descriptors = 16384;
};

// Keys: version, program, arch, ranks[]: rank, topsp, ncfw, spad_ctrl, slot, neff_configs,
// algo_configs, algo_ctx, rings. Unused ring channels, mesh events, SLOT words and CTRL entries
// (all zero) are left out; addresses are "0x…" and a semaphore also has the TOP_SP and id that its
// address means.
nlohmann::ordered_json dump_json(const Program& program, const Inspection& inspection,
                                 const sdmacc_generation& arch, const DumpOptions& options = {});

}  // namespace sdmacc
