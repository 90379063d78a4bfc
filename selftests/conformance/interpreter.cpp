// SPDX-License-Identifier: MIT
// The slow reference of the conformance tests.
#include "selftests/conformance/interpreter.hpp"

#include <gtest/gtest.h>

#include "selftests/cce/reference.hpp"

namespace sdmacc {
namespace {

cce::Acc accumulator(DType dtype) {
  return dtype == DType::Fp32 ? cce::Acc::Fp32r : static_cast<cce::Acc>(dtype);
}

class Machine {
 public:
  Machine(const Schedule& schedule, const Codes& in, bool in_place)
      : s_(schedule),
        reference_(cce::Reference::of(accumulator(schedule.dtype))),
        in_place_(in_place),
        in_(in),
        out_(schedule.ranks, std::vector<std::uint32_t>(schedule.out_elements)),
        signals_(schedule.signals.size(), 0),
        next_(schedule.lanes.size(), 0) {
    for (const std::uint64_t elements : s_.tmp_elements)
      tmp_.emplace_back(s_.ranks, std::vector<std::uint32_t>(elements));
  }

  Codes run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t lane = 0; lane < s_.lanes.size(); ++lane) moved = try_group(lane) || moved;
    }
    for (std::size_t lane = 0; lane < s_.lanes.size(); ++lane)
      EXPECT_EQ(next_[lane], s_.lanes[lane].steps.size()) << "lane " << lane << " is stuck";
    return in_place_ ? in_ : out_;
  }

 private:
  bool try_group(std::size_t lane) {
    const auto& steps = s_.lanes[lane].steps;
    std::size_t at = next_[lane];
    if (at == steps.size()) return false;
    for (const Wait& w : steps[at].waits)
      if (signals_[w.signal] < w.count) return false;
    for (const Wait& w : steps[at].waits) signals_[w.signal] -= w.count;
    do execute(steps[at++]);
    while (at < steps.size() && steps[at].joined);
    for (const Post& p : steps[at - 1].posts) signals_[p.signal] += p.count;
    next_[lane] = at;
    return true;
  }

  void execute(const Step& step) {
    if (step.kind == Kind::Sync) return;
    std::vector<float> scales;
    for (const Range& from : step.src)
      scales.push_back(s_.op == ReduceOp::Fma && from.space == Space::In ? s_.scales[from.rank]
                                                                         : 1.0f);
    std::vector<std::uint32_t> codes(step.src.size());
    for (std::uint64_t i = 0; i < step.src[0].count; ++i) {
      for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = at(step.src[k], i);
      const std::uint32_t result =
          step.kind == Kind::Copy ? codes[0]
                                  : reference_.fold(static_cast<cce::Op>(s_.op), codes, scales);
      for (const Range& to : step.dst) at(to, i) = result;
    }
  }

  std::uint32_t& at(const Range& range, std::uint64_t i) {
    auto& space = range.space == Space::Tmp               ? tmp_[range.tmp]
                  : range.space == Space::In || in_place_ ? in_
                                                          : out_;
    return space[range.rank][range.first + i];
  }

  const Schedule& s_;
  const cce::Reference& reference_;
  const bool in_place_;
  Codes in_, out_;
  std::vector<Codes> tmp_;
  std::vector<std::uint32_t> signals_;
  std::vector<std::size_t> next_;
};

}  // namespace

Codes interpret(const Schedule& schedule, const Codes& in, bool in_place) {
  return Machine(schedule, in, in_place).run();
}

}  // namespace sdmacc
