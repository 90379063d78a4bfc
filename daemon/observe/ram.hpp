// SPDX-License-Identifier: MIT
// The RAM of one TOP_SP decoded: what dump says about it, table by table.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "daemon/device/device.hpp"

namespace sdmacc::observe {

struct Ram {
  const sdmacc_generation& arch;
  std::span<const std::byte> bytes;  // from +0; what lies beyond its end reads as zero
};

nlohmann::ordered_json ncfw(const Ram& ram, std::span<const WaitView> waits);
nlohmann::ordered_json spad_ctrl(const Ram& ram);
nlohmann::ordered_json slot(const Ram& ram);
nlohmann::ordered_json neff_configs(const Ram& ram);
nlohmann::ordered_json algo_configs(const Ram& ram);
nlohmann::ordered_json algo_ctx(const Ram& ram);

}  // namespace sdmacc::observe
