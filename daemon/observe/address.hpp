// SPDX-License-Identifier: MIT
// What a SoC address means on a generation: a semaphore, host memory, HBM, a doorbell. For dumps
// and status.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

struct sdmacc_generation;

namespace sdmacc::observe {

// "0x0000008280001030": the form of an address everywhere in a dump.
std::string hex(std::uint64_t value);

// {"address", "topsp", "id", "window"} of a semaphore of a TOP_SP; only the address when it is
// none; null for 0.
nlohmann::ordered_json semaphore(const sdmacc_generation& arch, std::uint64_t address);

// "INC of semaphore 12 of TOP_SP 3", "host memory +0x40", "HBM 1 +0x1000", "doorbell M2S of core 0
// queue 3", or "".
std::string address_text(const sdmacc_generation& arch, std::uint64_t address);

}  // namespace sdmacc::observe
