// SPDX-License-Identifier: MIT
// geometry: a Schedule made ready for replays. Every memory is cut into cells so that no step reads
// or writes part of one and the cells of a step's ranges correspond one to one; steps become lists
// of cell numbers. Entry point compile().
#pragma once

#include <optional>

#include "daemon/compose/verify.hpp"

namespace sdmacc::verifying {

// The k-th cell of a step's range is `first` + k.
struct Ref {
  std::uint32_t first = 0;
  std::uint32_t scale = kNoIndex;  // rank whose scale this source meets; kNoIndex when none
};

struct DataStep {
  std::uint32_t refs = 0;  // in Geometry::refs: the sources, then the destinations
  std::uint32_t sources = 0, destinations = 0;
  std::uint32_t cells = 0;  // of each range
  std::uint32_t index = 0;  // in the lane
  bool reduce = false;
};

struct Group {
  std::uint32_t first = 0, last = 0;  // steps of the lane, both inclusive
  std::uint32_t data_begin = 0,
                data_end = 0;  // in Geometry::steps; those with no data are left out
};

struct Geometry {
  const Schedule* schedule = nullptr;
  bool in_place = false;
  std::vector<std::uint64_t> start;         // of each cell, in elements of its memory
  std::vector<std::uint32_t> memory_begin;  // first cell of each memory; one more at the end
  std::vector<Ref> refs;
  std::vector<DataStep> steps;
  std::vector<Group> groups;
  std::vector<std::uint32_t> lane_begin;  // first group of each lane; one more at the end

  std::uint32_t memories_of_a_rank() const;
  std::uint32_t memory_of(const Range& range) const;
  std::uint32_t memory_of_cell(std::uint32_t cell) const;
  std::uint64_t end_of(std::uint32_t cell) const;   // past its last element
  std::string cell_text(std::uint32_t cell) const;  // "r1.tmp2[0+32]"
  Rank rank_of_cell(std::uint32_t cell) const;
  // Cells of a rank's IN and OUT: [first, second).
  std::pair<std::uint32_t, std::uint32_t> cells_of(Rank rank, Space space) const;
};

// "r1 c0 step 5 (recv_reduce_send …)": a step for fault texts.
std::string step_text(const Schedule& schedule, std::uint32_t lane, std::uint32_t step);

// Whatever makes a Schedule no Schedule: indices, sizes, groups, owners.
std::optional<Fault> find_malformed(const Schedule& schedule, bool in_place);

// `schedule` must not be malformed and must outlive the result. The fault is that ranges are
// shifted against each other so often that the cells do not come to an end.
std::optional<Fault> compile(const Schedule& schedule, bool in_place, Geometry& geometry);

}  // namespace sdmacc::verifying
