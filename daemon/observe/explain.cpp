// SPDX-License-Identifier: MIT
// Implements explain.hpp. Tested by selftests/cli, whose golden files are both forms for several
// operations.
#include "daemon/observe/explain.hpp"

#include <iterator>

#include "daemon/compose/compose.hpp"
#include "libuapi/abi/generation.h"

namespace sdmacc {
namespace {

using nlohmann::ordered_json;

struct Leg {
  const char* name;
  Alg alg;
};
std::array<Leg, 5> legs_of(const Legs& legs) {
  return {{{"alg_intra_allg", legs.intra_allg},
           {"alg_intra_redsct", legs.intra_redsct},
           {"alg_inter_allr", legs.inter_allr},
           {"alg_inter_allg", legs.inter_allg},
           {"alg_inter_redsct", legs.inter_redsct}}};
}

std::string chosen_id(const Choice& choice) {
  Candidate chosen;
  chosen.alg = choice.alg;
  chosen.mesh = choice.mesh;
  chosen.sub_type = choice.sub_type;
  chosen.secondaries = choice.secondaries;
  return algorithm_id(chosen);
}

std::uint64_t pieces(std::uint64_t count, std::uint64_t of) {
  return of == 0 ? 0 : (count + of - 1) / of;
}

const char* standing(const Candidate& c) {
  return !c.possible ? "impossible" : c.preferred ? "preferred" : "possible";
}

std::string where(const Verdict& v) {
  return v.where.empty() ? "structure" : v.where;
}

ordered_json operation_json(const Operation& o, const World& world) {
  return {{"collective", name(o.collective)},
          {"op", name(o.op)},
          {"dtype", name(o.dtype)},
          {"count", o.count},
          {"bytes", o.count * element_bytes(o.dtype)},
          {"ranks", world.size()},
          {"arch", world.arch != nullptr ? world.arch->name : ""},
          {"policy", world.policy.name}};
}

ordered_json candidate_json(const Candidate& c) {
  ordered_json out{{"algorithm", algorithm_id(c)}, {"alg_type", name(c.alg)}};
  if (c.alg == Alg::Mesh) out["mesh_type"] = name(c.mesh);
  if (const AlgorithmInfo* info = find_algorithm(c.alg, c.mesh, c.sub_type)) {
    out["best_at"] = info->best_at;
    out["cost"] = info->cost;
  }
  out["possible"] = c.possible;
  out["preferred"] = c.preferred;
  out["verdicts"] = ordered_json::array();
  for (const Verdict& v : c.verdicts)
    out["verdicts"].push_back({{"rule", v.rule},
                               {"kind", v.required ? "requires" : "prefers"},
                               {"passed", v.passed},
                               {"reason", v.reason},
                               {"where", where(v)}});
  return out;
}

}  // namespace

std::string legs_line(std::uint32_t device, const Legs& legs) {
  std::string out = fmt::format("[nec_dev {}] Hier algorithm selections -", device);
  for (const Leg& leg : legs_of(legs))
    out += fmt::format(" {} {}", leg.name, static_cast<int>(leg.alg));
  return out;
}

ordered_json explain_json(const Operation& o, const World& world, const Choice& c) {
  const std::uint64_t element = element_bytes(o.dtype);
  const std::uint64_t window = std::min(c.window_elements, o.count);
  ordered_json out{{"version", kExplainVersion}, {"operation", operation_json(o, world)}};
  out["choice"] = {{"algorithm", chosen_id(c)},
                   {"alg_type", name(c.alg)},
                   {"why", c.why},
                   {"forced", c.forced},
                   {"channels", c.channels},
                   {"engines", world.policy.engines},
                   {"slice_elements", c.slice_elements},
                   {"slice_bytes", c.slice_elements * element},
                   {"window_elements", c.window_elements},
                   {"window_bytes", c.window_elements * element},
                   {"windows", pieces(o.count, c.window_elements)},
                   {"slices", pieces(window, c.slice_elements * c.channels)}};
  for (const Leg& leg : legs_of(c.legs))
    out["legs"][leg.name] = {{"value", static_cast<int>(leg.alg)}, {"name", name(leg.alg)}};
  out["candidates"] = ordered_json::array();
  for (const Candidate& candidate : c.candidates)
    out["candidates"].push_back(candidate_json(candidate));
  return out;
}

std::string explain_text(const Operation& o, const World& world, const Choice& c) {
  const std::uint64_t element = element_bytes(o.dtype);
  std::string text;
  auto to = std::back_inserter(text);
  fmt::format_to(to, "{} {} {}: {} elements, {} bytes, {} ranks on {}, policy {}\n",
                 name(o.collective), name(o.op), name(o.dtype), o.count, o.count * element,
                 world.size(), world.arch != nullptr ? world.arch->name : "no device",
                 world.policy.name);
  fmt::format_to(to, "runs {}: {}\n", chosen_id(c), c.why);
  if (o.count == 0)
    fmt::format_to(to, "0 elements: nothing moves; it is done when all ranks have arrived\n");
  fmt::format_to(
      to,
      "{} channels, {} engines a channel; a slice is {} elements ({} bytes) of a channel, "
      "a window {} elements ({} bytes), {} windows\n",
      c.channels, world.policy.engines, c.slice_elements, c.slice_elements * element,
      c.window_elements, c.window_elements * element, pieces(o.count, c.window_elements));
  fmt::format_to(to, "{}\n",
                 legs_line(world.places.empty() ? 0 : world.places.front().device, c.legs));
  for (const Candidate& candidate : c.candidates) {
    fmt::format_to(to, "\n{}: {}\n", algorithm_id(candidate), standing(candidate));
    if (const AlgorithmInfo* info =
            find_algorithm(candidate.alg, candidate.mesh, candidate.sub_type))
      fmt::format_to(to, "  best at: {}\n  cost: {}\n", info->best_at, info->cost);
    for (const Verdict& v : candidate.verdicts)
      fmt::format_to(to, "  {} {} {}: {} ({})\n", v.passed ? "passed" : "REFUSED",
                     v.required ? "requires" : "prefers", v.rule, v.reason, where(v));
  }
  return text;
}

}  // namespace sdmacc
