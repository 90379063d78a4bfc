// SPDX-License-Identifier: MIT
// Implements geometry.hpp: finds the cells by carrying each cut to the other ranges of its steps
// until nothing moves, then rewrites the steps in cells.
#include "daemon/compose/verify/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sdmacc::verifying {
namespace {

using Cuts = std::vector<std::uint64_t>;  // sorted, unique, with 0 and the memory's size

class Cutter {
 public:
  Cutter(const Schedule& schedule, const Geometry& geometry)
      : s_(schedule), g_(geometry), cuts_(s_.ranks * g_.memories_of_a_rank()) {}

  // False when there are too many.
  bool run() {
    seed();
    const std::size_t limit = 16 * total() + (1u << 20);
    while (carry())
      if (total() > limit) return false;
    return true;
  }
  const std::vector<Cuts>& cuts() const { return cuts_; }

 private:
  template <typename F>
  static void for_ranges(const Step& step, F f) {
    for (const Range& range : step.src) f(range);
    for (const Range& range : step.dst) f(range);
  }
  template <typename F>
  void for_steps(F f) const {
    for (std::size_t i = 0; i < s_.lanes.size(); ++i)
      for (const Step& step : s_.lanes[backwards_ ? s_.lanes.size() - 1 - i : i].steps)
        if (!step.src.empty() && step.src[0].count > 0) f(step);
  }
  static void tidy(Cuts& cuts) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
  std::size_t total() const {
    std::size_t sum = 0;
    for (const Cuts& cuts : cuts_) sum += cuts.size();
    return sum;
  }

  void seed() {
    for (Rank r = 0; r < s_.ranks; ++r) {
      const auto add = [&](Space space, std::uint32_t tmp, std::uint64_t size) {
        Cuts& cuts = cuts_[g_.memory_of({r, space, tmp, 0, 0})];
        cuts.push_back(0);
        cuts.push_back(size);
      };
      add(Space::In, 0, s_.in_elements);
      add(Space::Out, 0, s_.out_elements);
      for (std::uint32_t k = 0; k < s_.tmp_elements.size(); ++k)
        add(Space::Tmp, k, s_.tmp_elements[k]);
    }
    for_steps([&](const Step& step) {
      for_ranges(step, [&](const Range& range) {
        Cuts& cuts = cuts_[g_.memory_of(range)];
        cuts.push_back(range.first);
        cuts.push_back(range.first + range.count);
      });
    });
    for (Cuts& cuts : cuts_) tidy(cuts);
  }

  // One round: gives every range of a step the cuts that the step's other ranges have inside. Cuts
  // travel from rank to rank in either direction, so rounds alternate.
  bool carry() {
    bool any = false;
    for_steps([&](const Step& step) {
      if (!collect(step)) return;
      any = true;
      for_ranges(step, [&](const Range& range) {
        Cuts& cuts = cuts_[g_.memory_of(range)];
        for (const std::uint64_t offset : inside_) {
          const auto at = std::lower_bound(cuts.begin(), cuts.end(), range.first + offset);
          if (*at != range.first + offset) cuts.insert(at, range.first + offset);
        }
      });
    });
    backwards_ = !backwards_;
    return any;
  }

  // Puts all cuts inside the step's ranges, as offsets, into inside_. Whether the ranges differ in
  // them.
  bool collect(const Step& step) {
    inside_.clear();
    bool differ = false, first = true;
    for_ranges(step, [&](const Range& range) {
      const Cuts& cuts = cuts_[g_.memory_of(range)];
      std::size_t seen = 0;
      for (auto at = std::upper_bound(cuts.begin(), cuts.end(), range.first);
           *at != range.first + range.count; ++at, ++seen) {
        const std::uint64_t offset = *at - range.first;
        if (!first && seen < inside_.size() && inside_[seen] == offset) continue;
        inside_.push_back(offset);
        differ |= !first;
      }
      differ |= seen != inside_.size();
      first = false;
    });
    if (differ) tidy(inside_);
    return differ;
  }

  const Schedule& s_;
  const Geometry& g_;
  std::vector<Cuts> cuts_;
  Cuts inside_;
  bool backwards_ = false;
};

class Compiler {
 public:
  Compiler(const std::vector<Cuts>& cuts, Geometry& geometry) : cuts_(cuts), g_(geometry) {}

  void run() {
    for (const Cuts& cuts : cuts_) {
      g_.memory_begin.push_back(static_cast<std::uint32_t>(g_.start.size()));
      g_.start.insert(g_.start.end(), cuts.begin(), cuts.end());
    }
    g_.memory_begin.push_back(static_cast<std::uint32_t>(g_.start.size()));
    for (const Lane& lane : g_.schedule->lanes) {
      g_.lane_begin.push_back(static_cast<std::uint32_t>(g_.groups.size()));
      for (std::uint32_t i = 0; i < lane.steps.size(); ++i) add(lane.steps[i], i);
    }
    g_.lane_begin.push_back(static_cast<std::uint32_t>(g_.groups.size()));
  }

 private:
  std::uint32_t cell_at(const Range& range, std::uint64_t element) const {
    const std::uint32_t memory = g_.memory_of(range);
    const Cuts& cuts = cuts_[memory];
    const auto at = std::lower_bound(cuts.begin(), cuts.end(), element);
    return g_.memory_begin[memory] + static_cast<std::uint32_t>(at - cuts.begin());
  }

  void add(const Step& step, std::uint32_t index) {
    if (!step.joined)
      g_.groups.push_back({index, index, static_cast<std::uint32_t>(g_.steps.size()), 0});
    Group& group = g_.groups.back();
    group.last = index;
    if (!step.src.empty() && step.src[0].count > 0) {
      DataStep data;
      data.refs = static_cast<std::uint32_t>(g_.refs.size());
      data.sources = static_cast<std::uint32_t>(step.src.size());
      data.destinations = static_cast<std::uint32_t>(step.dst.size());
      data.index = index;
      data.reduce = step.kind == Kind::Reduce;
      data.cells = cell_at(step.src[0], step.src[0].first + step.src[0].count) -
                   cell_at(step.src[0], step.src[0].first);
      const bool scaled = data.reduce && g_.schedule->op == ReduceOp::Fma;
      for (const Range& range : step.src)
        g_.refs.push_back({cell_at(range, range.first),
                           scaled && range.space == Space::In ? range.rank : kNoIndex});
      for (const Range& range : step.dst)
        g_.refs.push_back({cell_at(range, range.first), kNoIndex});
      g_.steps.push_back(data);
    }
    group.data_end = static_cast<std::uint32_t>(g_.steps.size());
  }

  const std::vector<Cuts>& cuts_;
  Geometry& g_;
};

}  // namespace

// Memories of a rank: IN, OUT (the same cells when in place), then each TMP. The last cut of each
// is a cell of no elements.
std::uint32_t Geometry::memories_of_a_rank() const {
  return 2 + static_cast<std::uint32_t>(schedule->tmp_elements.size());
}
std::uint32_t Geometry::memory_of(const Range& range) const {
  const std::uint32_t place = range.space == Space::In    ? 0
                              : range.space == Space::Out ? (in_place ? 0 : 1)
                                                          : 2 + range.tmp;
  return range.rank * memories_of_a_rank() + place;
}
std::uint32_t Geometry::memory_of_cell(std::uint32_t cell) const {
  const auto after = std::upper_bound(memory_begin.begin(), memory_begin.end(), cell);
  return static_cast<std::uint32_t>(after - memory_begin.begin()) - 1;
}
std::uint64_t Geometry::end_of(std::uint32_t cell) const {
  return start[cell + 1];
}
Rank Geometry::rank_of_cell(std::uint32_t cell) const {
  return memory_of_cell(cell) / memories_of_a_rank();
}
std::string Geometry::cell_text(std::uint32_t cell) const {
  const std::uint32_t place = memory_of_cell(cell) % memories_of_a_rank();
  Range range{rank_of_cell(cell), Space::Tmp, 0, start[cell], end_of(cell) - start[cell]};
  if (place >= 2)
    range.tmp = place - 2;
  else
    range.space = place == 0 && !in_place ? Space::In : Space::Out;
  return to_string(range);
}
std::pair<std::uint32_t, std::uint32_t> Geometry::cells_of(Rank rank, Space space) const {
  const std::uint32_t memory = memory_of({rank, space, 0, 0, 0});
  return {memory_begin[memory], memory_begin[memory + 1] - 1};
}

std::string step_text(const Schedule& schedule, std::uint32_t lane, std::uint32_t step) {
  const Lane& l = schedule.lanes[lane];
  return fmt::format("r{} c{} step {} ({})", l.rank, l.channel, step, name(l.steps[step].prim));
}

std::optional<Fault> compile(const Schedule& schedule, bool in_place, Geometry& geometry) {
  geometry = {};
  geometry.schedule = &schedule;
  geometry.in_place = in_place;
  Cutter cutter(schedule, geometry);
  if (!cutter.run())
    return Fault{FaultKind::Malformed, 0, 0, kNoIndex,
                 "the ranges are shifted against each other without end: too many pieces to check"};
  Compiler(cutter.cuts(), geometry).run();
  return std::nullopt;
}

}  // namespace sdmacc::verifying
