// SPDX-License-Identifier: MIT
// Implements target.hpp.
#include "daemon/cli/target.hpp"

#include "daemon/compose/compose.hpp"
#include "libuapi/abi/generation.h"

namespace sdmacc::cli {
namespace {

std::string known_generations() {
  std::string names;
  for (std::uint32_t i = 0; i < SDMACC_GENERATIONS; ++i)
    names += fmt::format("{}{}", i > 0 ? ", " : "", sdmacc_generation_at(i)->name);
  return names;
}

std::string known_algorithms() {
  std::string ids;
  for (const AlgorithmInfo& info : algorithms())
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ", info.id);
  return ids;
}

Result<const sdmacc_generation*> find_generation(const std::string& name) {
  for (std::uint32_t i = 0; i < SDMACC_GENERATIONS; ++i)
    if (name == sdmacc_generation_at(i)->name) return sdmacc_generation_at(i);
  return usage("{} is no generation; it can be {}", name, known_generations());
}

Result<const AlgorithmInfo*> find_id(const std::string& id) {
  for (const AlgorithmInfo& info : algorithms())
    if (info.id == id) return &info;
  return usage("{} is no algorithm; it can be {}", id, known_algorithms());
}

Result<Rules> find_rules(const std::string& policy) {
  if (policy == "host" || policy == "neuron") return builtin_rules(policy);
  SDMACC_TRY(const std::string text, read_file(policy));
  return parse_rules(policy, text);
}

}  // namespace

void add_alg_option(CLI::App& command, std::string& alg) {
  command.add_option("--alg", alg, "force this algorithm: " + known_algorithms())
      ->check(checked_by(find_id))
      ->type_name("ID");
}

void add_target_options(CLI::App& command, TargetOptions& options) {
  command.add_option("--arch", options.arch, "generation of the device: " + known_generations())
      ->check(checked_by(find_generation))
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--policy", options.policy,
                  "rules of selection: host (measured), neuron (published), or a file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  add_alg_option(command, options.alg);
  command.add_flag("--order-rank", options.order_rank,
                   "only algorithms that sum each element in ascending rank, at once");
}

Result<Target> make_target(const TargetOptions& options) {
  Target target;
  SDMACC_TRY(target.arch, find_generation(options.arch));
  SDMACC_TRY(target.rules, find_rules(options.policy));
  target.policy.name = options.policy;
  target.policy.engines = options.policy == "neuron" ? target.arch->engines_per_core : 1;
  target.policy.max_channels = SDMACC_RING_CHANNELS;
  target.policy.order_rank = options.order_rank;
  if (options.alg.empty()) return target;
  SDMACC_TRY(const AlgorithmInfo* info, find_id(options.alg));
  target.policy.force_alg = info->alg;
  if (info->alg == Alg::Mesh) target.policy.force_mesh = info->sub_type;
  return target;
}

Result<World> make_world(const Target& target, std::uint32_t ranks) {
  World world;
  world.name = "cli";
  world.generation = 1;
  world.arch = target.arch;
  world.policy = target.policy;
  SDMACC_TRY(world.places,
             place_ranks(*target.arch, ranks, std::vector<std::uint32_t>(target.arch->topsps, 0)));
  return world;
}

}  // namespace sdmacc::cli
