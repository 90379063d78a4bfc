// SPDX-License-Identifier: MIT
// Implements world.hpp: where the ranks of a group go on a device, and how a World prints.
#include "daemon/world/world.hpp"

#include <iterator>

#include "libuapi/abi/generation.h"

namespace sdmacc {

Result<std::vector<Place>> place_ranks(const sdmacc_generation& arch, std::uint32_t ranks,
                                       const std::vector<std::uint32_t>& load) {
  if (ranks == 0) return fail(Errc::Invalid, Stage::Server, kNoIndex, "a group of 0 ranks");
  if (load.size() != arch.topsps)
    return fail(Errc::Internal, Stage::Server, kNoIndex,
                "the load of {} TOP_SPs for {}, which has {}", load.size(), arch.name, arch.topsps);
  if (ranks > arch.topsps)
    return fail(Errc::NoSpace, Stage::Server, kNoIndex,
                "{} ranks do not fit one {}: {} cores with {} TOP_SPs, one rank each", ranks,
                arch.name, arch.cores, arch.topsps);
  const std::uint32_t per_core = arch.topsps / arch.cores;
  std::vector<Place> places;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::uint32_t topsp = r;
    if (ranks <= arch.cores) {
      topsp = r * per_core;
      for (std::uint32_t t = topsp + 1; t < (r + 1) * per_core; ++t)
        if (load[t] < load[topsp]) topsp = t;
    }
    places.push_back({0, topsp / per_core, topsp});
  }
  return places;
}

std::string to_string(const World& world) {
  std::string text = fmt::format(
      "group \"{}\" id {} generation {} on {}, {} ranks\n", world.name, world.group_id,
      world.generation, world.arch != nullptr ? world.arch->name : "no device", world.size());
  auto to = std::back_inserter(text);
  for (std::uint32_t r = 0; r < world.size(); ++r)
    fmt::format_to(to, "  r{}: device {} core {} TOP_SP {}\n", r, world.places[r].device,
                   world.places[r].core, world.places[r].topsp);
  const Policy& p = world.policy;
  fmt::format_to(to, "policy {}: engines {} channels {} slice {} B window {} B", p.name, p.engines,
                 p.max_channels, p.slice_bytes, p.window_bytes);
  if (p.force_alg) fmt::format_to(to, " alg {}", name(*p.force_alg));
  if (p.force_mesh) fmt::format_to(to, " t{}", *p.force_mesh);
  if (p.order_rank) text += " order rank";
  return text + "\n";
}

}  // namespace sdmacc
