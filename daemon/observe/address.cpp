// SPDX-License-Identifier: MIT
// Implements address.hpp by comparing with the bases of the generation's row.
#include "daemon/observe/address.hpp"

#include <fmt/format.h>

#include <optional>

#include "libuapi/abi/generation.h"

namespace sdmacc::observe {
namespace {

struct Window {
  std::uint32_t first;
  const char* name;
};
constexpr Window kWindows[] = {{SDMACC_SEM_READ, "READ"},
                               {SDMACC_SEM_SET, "SET"},
                               {SDMACC_SEM_INC, "INC"},
                               {SDMACC_SEM_DEC, "DEC"}};

// A chip id takes the place of the local routing bits.
std::uint64_t local_part(std::uint64_t address) {
  if ((address & SDMACC_CHIP_VALID) == 0) return address & ~SDMACC_PEB_ROUTE;
  return address & ~(SDMACC_CHIP_VALID | SDMACC_PEB_ROUTE | SDMACC_CHIP_MASK << SDMACC_CHIP_SHIFT);
}

struct Semaphore {
  std::uint32_t topsp, id;
  const char* window;
};

std::optional<Semaphore> find_semaphore(const sdmacc_generation& arch, std::uint64_t address) {
  const std::uint64_t local = local_part(address);
  for (std::uint32_t sp = 0; sp < arch.topsps; ++sp) {
    const std::uint64_t offset = local - sdmacc_soc_topsp(&arch, sp);
    if (offset >= SDMACC_EVTSEM_SIZE || offset < SDMACC_SEM_READ) continue;
    const Window& window = kWindows[(offset - SDMACC_SEM_READ) / (4 * SDMACC_SEMAPHORES)];
    return Semaphore{sp, static_cast<std::uint32_t>((offset - window.first) / 4), window.name};
  }
  return std::nullopt;
}

std::optional<std::string> find_doorbell(const sdmacc_generation& arch, std::uint64_t local) {
  for (std::uint32_t core = 0; core < arch.cores; ++core)
    for (std::uint32_t queue = 0; queue < arch.queues; ++queue)
      for (const bool s2m : {false, true})
        if (local ==
            sdmacc_soc_bcast(&arch, core, s2m ? SDMACC_S2M_OFFSET : 0, queue, SDMACC_Q_TAIL_INC))
          return fmt::format("doorbell {} of core {} queue {}", s2m ? "S2M" : "M2S", core, queue);
  return std::nullopt;
}

std::optional<std::string> find_hbm(const sdmacc_generation& arch, std::uint64_t local) {
  for (std::uint32_t stack = 0; stack < arch.hbm_stacks; ++stack)
    if (const std::uint64_t offset = local - arch.hbm_base[stack]; offset < arch.hbm_slot)
      return fmt::format("HBM {} +{:#x}", stack, offset);
  return std::nullopt;
}

}  // namespace

std::string hex(std::uint64_t value) {
  return fmt::format("0x{:016X}", value);
}

nlohmann::ordered_json semaphore(const sdmacc_generation& arch, std::uint64_t address) {
  if (address == 0) return nullptr;
  nlohmann::ordered_json out;
  out["address"] = hex(address);
  if (const auto found = find_semaphore(arch, address)) {
    out["topsp"] = found->topsp;
    out["id"] = found->id;
    out["window"] = found->window;
  }
  return out;
}

std::string address_text(const sdmacc_generation& arch, std::uint64_t address) {
  const std::uint64_t local = local_part(address);
  if (const auto found = find_semaphore(arch, address))
    return fmt::format("{} of semaphore {} of TOP_SP {}", found->window, found->id, found->topsp);
  if ((local & arch.host_aperture) != 0 && local - arch.host_aperture < 1ull
                                                                            << SDMACC_APERTURE_BITS)
    return fmt::format("host memory +{:#x}", local - arch.host_aperture);
  if (const auto found = find_doorbell(arch, local)) return *found;
  return find_hbm(arch, local).value_or("");
}

}  // namespace sdmacc::observe
