// SPDX-License-Identifier: MIT
// Target: for which device and by which rules something is lowered: the options that `lower` and
// `explain` share, and what they mean.
#pragma once

#include <string>

#include "daemon/cli/command.hpp"
#include "daemon/select/rules.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc::cli {

struct TargetOptions {
  std::string arch = "cayman";
  std::string policy = "host";
  std::string alg;  // "" = chosen by the rules
  bool order_rank = false;
};
void add_target_options(CLI::App& command, TargetOptions& options);
void add_alg_option(CLI::App& command, std::string& alg);  // only this one

struct Target {
  const sdmacc_generation* arch = nullptr;
  Policy policy;
  Rules rules;
};
Result<Target> make_target(const TargetOptions& options);

// A group of `ranks` on one device that holds no other.
Result<World> make_world(const Target& target, std::uint32_t ranks);

}  // namespace sdmacc::cli
