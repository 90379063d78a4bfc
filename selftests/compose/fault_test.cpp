// SPDX-License-Identifier: MIT
// Each class of fault, injected at every place of every algorithm's Schedule where it can be, is
// found and named by its kind.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>

#include "daemon/compose/verify.hpp"
#include "selftests/compose/shapes.hpp"

namespace sdmacc::test {
namespace {

using Kinds = std::set<FaultKind>;
using FaultKind::Deadlock;
using FaultKind::Malformed;
using FaultKind::Race;
using FaultKind::Residue;
using FaultKind::UnwrittenRead;
using FaultKind::WrongResult;

struct Subject {
  const char* id;
  Shape shape;
  // Signals without which some access has no order. Not those that only say that a tensor is ready,
  // which it is when the Schedule starts, nor credits of rings so short that an arrival says as
  // much.
  std::vector<const char*> needed = {};
};

// More than one slice each, so that what orders slices matters; the meshes of 34 have chained sums.
std::vector<Subject> subjects() {
  return {
      {"ring", shape(2, 256, 1, 64), {"recv", "done"}},
      {"ring", shape(4, 1024, 2, 256), {"recv", "credit", "done"}},
      {"ring", shape(5, 320, 1, 160, 0, ReduceOp::Fma), {"recv", "credit", "done"}},
      {"kangaring", shape(2, 256, 2, 64, 1), {}},
      {"kangaring", shape(8, 512, 1, 256, 1), {"recv", "credit", "done"}},
      {"kangaring", shape(16, 256, 1, 128, 3, ReduceOp::Fma), {"recv", "credit", "done"}},
      {"mesh-t0", shape(2, 128, 1, 64), {"Z"}},
      {"mesh-t2", shape(4, 256, 1, 64), {"D", "Z"}},
      {"mesh-t2", shape(34, 3400, 1, 1700), {"D", "Z"}},
      {"single-step-mesh", shape(4, 128, 1, 64), {"A", "C", "Z"}},
      {"single-step-mesh", shape(3, 128, 1, 64, 0, ReduceOp::Fma), {"A", "C", "Z"}},
      {"single-step-mesh", shape(34, 64, 1, 32), {"A", "C", "D", "Z"}},
  };
}

// All places, or a fixed sample where there are very many.
template <typename F>
void at_places(std::size_t count, F f) {
  const std::size_t step = std::max<std::size_t>(1, count / 60);
  for (std::size_t i = 0; i < count; i += step) f(i);
}

// Every step of `s` for which `wanted`.
std::vector<Step*> steps_where(Schedule& s, const std::function<bool(const Step&)>& wanted) {
  std::vector<Step*> found;
  for (Lane& lane : s.lanes)
    for (Step& step : lane.steps)
      if (wanted(step)) found.push_back(&step);
  return found;
}
bool has_data(const Step& step) {
  return !step.src.empty() && step.src[0].count > 0;
}

class ComposeFaults : public ::testing::Test {
 protected:
  // Injects at place after place until `inject` says there is none; each must be found as one of
  // `kinds`.
  void expect_found(const Subject& subject, const char* what, const Kinds& kinds,
                    std::size_t places, const std::function<void(Schedule&, std::size_t)>& inject) {
    ASSERT_GT(places, 0u) << subject.id << ": nowhere to inject " << what;
    const Schedule good = built(algorithm_by_id(subject.id), subject.shape);
    at_places(places, [&](std::size_t place) {
      Schedule bad = good;
      inject(bad, place);
      for (const bool in_place : {false}) {
        const auto fault = find_fault(bad, {in_place, 2});
        ASSERT_TRUE(fault) << subject.id << ": " << what << " at place " << place << " is not found"
                           << (in_place ? " in place" : "");
        EXPECT_TRUE(kinds.contains(fault->kind))
            << subject.id << ": " << what << " at place " << place << " is called "
            << name(fault->kind) << ": " << fault->text;
        EXPECT_FALSE(fault->text.empty());
      }
    });
  }
  static Schedule good(const Subject& subject) {
    return built(algorithm_by_id(subject.id), subject.shape);
  }
};

TEST_F(ComposeFaults, SubjectsAreClean) {
  for (const Subject& subject : subjects())
    for (const bool in_place : {false}) {
      const auto fault = find_fault(good(subject), {in_place, 2});
      EXPECT_FALSE(fault) << subject.id << ": " << fault->text;
    }
}

// The step runs too early, and the post that it no longer consumes stays: whichever shows first.
TEST_F(ComposeFaults, DroppedWait) {
  for (const Subject& subject : subjects()) {
    const auto waits = [](Schedule& s) {
      return steps_where(s, [](const Step& step) { return !step.waits.empty(); });
    };
    Schedule s = good(subject);
    expect_found(
        subject, "a dropped wait", {Race, UnwrittenRead, WrongResult, Residue}, waits(s).size(),
        [&](Schedule& bad, std::size_t i) {
          Step& step = *waits(bad)[i];
          step.waits.erase(step.waits.begin() + static_cast<std::ptrdiff_t>(i % step.waits.size()));
        });
  }
}

// Somebody waits for ever; a count that another post makes up for meanwhile is a race first.
TEST_F(ComposeFaults, DroppedPost) {
  for (const Subject& subject : subjects()) {
    const auto posts = [](Schedule& s) {
      return steps_where(s, [](const Step& step) { return !step.posts.empty(); });
    };
    Schedule s = good(subject);
    expect_found(
        subject, "a dropped post", {Deadlock, Race}, posts(s).size(),
        [&](Schedule& bad, std::size_t i) {
          Step& step = *posts(bad)[i];
          step.posts.erase(step.posts.begin() + static_cast<std::ptrdiff_t>(i % step.posts.size()));
        });
  }
}

// Two steps of a lane read each other's sources: a wrong sum, or data that is not there yet or no
// longer.
TEST_F(ComposeFaults, SwappedSource) {
  for (const Subject& subject : subjects()) {
    Schedule s = good(subject);
    struct Pair {
      std::size_t lane, a, b, source;
    };
    std::vector<Pair> pairs;
    for (std::size_t lane = 0; lane < s.lanes.size(); ++lane) {
      const std::vector<Step>& steps = s.lanes[lane].steps;
      for (std::size_t a = 0; a < steps.size(); ++a)
        for (std::size_t b = a + 1; b < steps.size(); ++b) {
          if (!has_data(steps[a]) || !has_data(steps[b])) continue;
          const std::size_t last = std::min(steps[a].src.size(), steps[b].src.size()) - 1;
          if (steps[a].src[last] == steps[b].src[last]) continue;
          if (steps[a].src[last].count != steps[b].src[last].count) continue;
          // Reading the same TMP again or a partial's copy of the own data changes nothing.
          if (steps[a].src[last].space == Space::Tmp || steps[b].src[last].space == Space::Tmp)
            continue;
          // In the partials of one chain the order of sources is free.
          if (steps[a].src[last].first == steps[b].src[last].first) continue;
          pairs.push_back({lane, a, b, last});
          break;
        }
    }
    expect_found(subject, "a swapped source", {WrongResult, Race, UnwrittenRead, Malformed},
                 pairs.size(), [&](Schedule& bad, std::size_t i) {
                   std::vector<Step>& steps = bad.lanes[pairs[i].lane].steps;
                   std::swap(steps[pairs[i].a].src[pairs[i].source],
                             steps[pairs[i].b].src[pairs[i].source]);
                 });
  }
}

// A destination one element further: its first element is missing, or it runs into the neighbour's.
TEST_F(ComposeFaults, ShiftedDestination) {
  for (const Subject& subject : subjects()) {
    const auto data = [](Schedule& s) { return steps_where(s, has_data); };
    Schedule s = good(subject);
    expect_found(subject, "a shifted destination", {WrongResult, Race, UnwrittenRead, Malformed},
                 data(s).size(), [&](Schedule& bad, std::size_t i) {
                   Step& step = *data(bad)[i];
                   Range& dst = step.dst[i % step.dst.size()];
                   dst.first = dst.first > 0 ? dst.first - 1 : 1;
                 });
  }
}

TEST_F(ComposeFaults, MissingContribution) {
  for (const Subject& subject : subjects()) {
    const auto sums = [](Schedule& s) {
      return steps_where(s, [](const Step& step) { return has_data(step) && step.src.size() > 1; });
    };
    Schedule s = good(subject);
    expect_found(
        subject, "a missing contribution", {WrongResult}, sums(s).size(),
        [&](Schedule& bad, std::size_t i) {
          Step& step = *sums(bad)[i];
          step.src.erase(step.src.begin() + static_cast<std::ptrdiff_t>(i % step.src.size()));
        });
  }
}

TEST_F(ComposeFaults, DoubledContribution) {
  for (const Subject& subject : subjects()) {
    const auto sums = [](Schedule& s) {
      return steps_where(s, [](const Step& step) { return has_data(step) && step.src.size() > 1; });
    };
    Schedule s = good(subject);
    expect_found(subject, "a doubled contribution", {WrongResult}, sums(s).size(),
                 [&](Schedule& bad, std::size_t i) {
                   Step& step = *sums(bad)[i];
                   step.src.push_back(step.src[i % step.src.size()]);
                 });
  }
}

// A delivery that does not happen: its OUT is never written, or in place still holds the input.
TEST_F(ComposeFaults, MissingDestination) {
  for (const Subject& subject : subjects()) {
    const auto many = [](Schedule& s) {
      return steps_where(s, [](const Step& step) { return has_data(step) && step.dst.size() > 1; });
    };
    Schedule s = good(subject);
    if (many(s).empty()) continue;
    expect_found(
        subject, "a missing destination", {WrongResult, UnwrittenRead}, many(s).size(),
        [&](Schedule& bad, std::size_t i) {
          Step& step = *many(bad)[i];
          step.dst.erase(step.dst.begin() + static_cast<std::ptrdiff_t>(i % step.dst.size()));
        });
  }
}

// Two lanes that each wait at their start for what the other posts at its end.
TEST_F(ComposeFaults, Cycle) {
  for (const Subject& subject : subjects()) {
    Schedule s = good(subject);
    const auto other = [](std::size_t lane, const Schedule& of) {
      return (lane + 1) % of.lanes.size();
    };
    expect_found(subject, "a cycle", {Deadlock}, s.lanes.size(),
                 [&](Schedule& bad, std::size_t lane) {
                   Lane& a = bad.lanes[lane];
                   Lane& b = bad.lanes[other(lane, bad)];
                   for (Lane* l : {&a, &b}) {
                     const auto signal = static_cast<std::uint32_t>(bad.signals.size());
                     bad.signals.push_back({l->rank, SignalRole::Event, l->channel, "X"});
                     l->steps.front().waits.push_back({signal, 1});
                     (l == &a ? b : a).steps.back().posts.push_back({signal, 1});
                   }
                 });
    Lane& a = s.lanes[0];
    Lane& b = s.lanes[1];
    for (Lane* l : {&a, &b}) {
      s.signals.push_back({l->rank, SignalRole::Event, l->channel, "X"});
      const auto signal = static_cast<std::uint32_t>(s.signals.size() - 1);
      l->steps.front().waits.push_back({signal, 1});
      (l == &a ? b : a).steps.back().posts.push_back({signal, 1});
    }
    EXPECT_THAT(find_fault(s)->text, ::testing::StartsWith("a cycle: r0 c0 step 0")) << subject.id;
  }
}

// Everybody uses half the slots, so a slot is written again before it was read.
TEST_F(ComposeFaults, EarlyReuseOfASlot) {
  for (const Subject& subject : subjects()) {
    Schedule s = good(subject);
    const bool credits =
        std::count(subject.needed.begin(), subject.needed.end(), std::string_view("credit")) > 0;
    if (!credits) continue;
    expect_found(subject, "an early reuse of a slot", {Race}, 1, [](Schedule& bad, std::size_t) {
      const auto halve = [](Range& range) { range.tmp = range.tmp / 4 * 4 + range.tmp % 2; };
      for (Lane& lane : bad.lanes)
        for (Step& step : lane.steps) {
          for (Range& range : step.src) halve(range);
          for (Range& range : step.dst) halve(range);
        }
    });
  }
}

// A signal that does not exist at all leaves nothing over and blocks nobody; only the order of
// accesses shows it. In the meshes that is also the early reuse of a temporary: A guards it in the
// single step, D in a chain.
TEST_F(ComposeFaults, SignalLeftOut) {
  const auto leave_out = [](Schedule& s, std::string_view name) {
    const auto gone = [&](const auto& item) { return s.signals[item.signal].name == name; };
    for (Lane& lane : s.lanes)
      for (Step& step : lane.steps) {
        std::erase_if(step.waits, gone);
        std::erase_if(step.posts, gone);
      }
  };
  for (const Subject& subject : subjects()) {
    for (const char* signal : subject.needed)
      expect_found(subject, signal, {Race, UnwrittenRead}, 1,
                   [&](Schedule& bad, std::size_t) { leave_out(bad, signal); });
  }
}

// One post more than is waited for. The first run is right; what is left would let the second run
// start a step early.
TEST_F(ComposeFaults, ResidueThatBreaksTheSecondRun) {
  for (const Subject& subject : subjects()) {
    Schedule s = good(subject);
    expect_found(subject, "a residue", {Residue}, s.lanes.size(),
                 [&](Schedule& bad, std::size_t lane) {
                   Lane& l = bad.lanes[lane];
                   for (std::uint32_t i = 0; i < bad.signals.size(); ++i)
                     if (bad.signals[i].owner == l.rank && bad.signals[i].channel == l.channel) {
                       l.steps.back().posts.push_back({i, 1});
                       return;
                     }
                 });
  }
}

// As many posts as waits in a run, but two wrong by one at the start and the end: only two runs
// back to back race.
TEST_F(ComposeFaults, SecondRunOnly) {
  const Subject subject = {"single-step-mesh", shape(3, 64, 1, 64)};
  Schedule s = good(subject);
  const auto gone = [&](const auto& item) { return s.signals[item.signal].name == "A"; };
  for (Lane& lane : s.lanes)
    for (Step& step : lane.steps) {
      std::erase_if(step.waits, gone);
      std::erase_if(step.posts, gone);
    }
  EXPECT_FALSE(find_fault(s, {false, 1})) << "one slice and one run need no handshake";
  const auto fault = find_fault(s, {false, 2});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Race) << fault->text;
}

TEST_F(ComposeFaults, ScaleMetTwiceOrNever) {
  for (const char* id : {"ring", "mesh-t0", "mesh-t2", "single-step-mesh", "kangaring"}) {
    const Shape of =
        shape(2, 64, 1, 64, std::string_view(id) == "kangaring" ? 1 : 0, ReduceOp::Fma);
    Schedule never = built(algorithm_by_id(id), of), twice = never;
    const auto sums = [](Schedule& s) {
      return steps_where(
          s, [](const Step& step) { return has_data(step) && step.kind == Kind::Reduce; });
    };
    if (std::string_view(id) == "ring" || std::string_view(id) == "single-step-mesh") {
      sums(never)[0]->kind = Kind::Copy;  // the first send, raw
      const auto fault = find_fault(never);
      ASSERT_TRUE(fault) << id;
      EXPECT_EQ(fault->kind, WrongResult) << id;
      EXPECT_THAT(fault->text, ::testing::HasSubstr("without the scale of r")) << id;
    }
    // What a later step copies from an OUT goes through IN's scale once more, in place.
    for (Step* step :
         steps_where(twice, [](const Step& x) { return has_data(x) && x.kind == Kind::Copy; })) {
      step->kind = Kind::Reduce;
      step->src[0].space = Space::In;
    }
    if (std::string_view(id) == "mesh-t2") {
      const auto fault = find_fault(twice, {true, 2});
      ASSERT_TRUE(fault) << id;
      EXPECT_EQ(fault->kind, WrongResult) << id;
      EXPECT_THAT(fault->text, ::testing::HasSubstr("more than once the scale of r0, r1")) << id;
    }
  }
}

// Above 64 ranks there are no sets, above 256 lanes no clocks; the sums and the orders of replay
// still find it.
TEST_F(ComposeFaults, ManyRanks) {
  const Subject many = {"mesh-t2", shape(258, 516)};
  Schedule s = good(many);
  s.lanes[3].steps[2].src.erase(s.lanes[3].steps[2].src.begin() + 7);
  EXPECT_EQ(find_fault(s)->text, "r0.out[6+2] holds a sum without the input of r7");
  s = good(many);
  s.lanes[3].steps[2].src.push_back(s.lanes[3].steps[2].src[9]);
  EXPECT_EQ(find_fault(s)->text, "r0.out[6+2] holds a sum more than once that of r9");
  s = good(many);
  for (Lane& lane : s.lanes)
    for (Step& step : lane.steps) {
      const auto gone = [&](const auto& item) { return s.signals[item.signal].name == "D"; };
      std::erase_if(step.waits, gone);
      std::erase_if(step.posts, gone);
    }
  const auto fault = find_fault(s);
  ASSERT_TRUE(fault);
  EXPECT_TRUE((Kinds{UnwrittenRead, WrongResult}).contains(fault->kind)) << fault->text;
}

}  // namespace
}  // namespace sdmacc::test
