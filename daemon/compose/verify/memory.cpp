// SPDX-License-Identifier: MIT
// Implements memory.hpp: the arithmetic of tokens, and the search for conflicting accesses.
#include "daemon/compose/verify/memory.hpp"

#include <fmt/format.h>

#include <bit>

namespace sdmacc::verifying {
namespace {

constexpr std::uint32_t kSetRanks = 64;  // ranks that have a bit in Value's sets

// SplitMix64: a fixed, well mixed sequence.
std::uint64_t mixed(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15ull;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ull;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebull;
  return n ^ (n >> 31);
}

std::string rank_list(std::uint64_t set) {
  std::string text;
  for (; set != 0; set &= set - 1)
    text += fmt::format("{}r{}", text.empty() ? "" : ", ", std::countr_zero(set));
  return text;
}

}  // namespace

Tokens::Tokens(const Schedule& schedule) {
  for (Rank r = 0; r < schedule.ranks; ++r) {
    token.push_back(mixed(2 * r));
    scale.push_back(schedule.op == ReduceOp::Fma ? mixed(2 * r + 1) | 1 : 1);
  }
}

std::uint64_t Tokens::expected(bool in_place, std::uint32_t runs) const {
  std::uint64_t sum = 0, scales = 0;
  for (std::size_t r = 0; r < token.size(); ++r) {
    sum += scale[r] * token[r];
    scales += scale[r];
  }
  for (std::uint32_t run = 1; in_place && run < runs; ++run) sum *= scales;
  return sum;
}

Memory::Memory(const Geometry& geometry, const Tokens& tokens)
    : g_(geometry), tokens_(tokens), values_(g_.start.size()), history_(g_.start.size()) {
  for (Rank r = 0; r < g_.schedule->ranks; ++r) {
    const auto [begin, end] = g_.cells_of(r, Space::In);
    for (std::uint32_t cell = begin; cell < end; ++cell)
      values_[cell] = {tokens_.token[r], r < kSetRanks ? 1ull << r : 0, 0, 0, 0, 0, true};
  }
}

void Memory::take(Value& sum, const Value& more, const Ref& source) const {
  const bool meets = source.scale != kNoIndex;
  sum.sum += meets ? tokens_.scale[source.scale] * more.sum : more.sum;
  sum.doubled |= more.doubled | (sum.ranks & more.ranks);
  sum.ranks |= more.ranks;
  sum.rescaled |= more.rescaled | (meets ? more.scaled : 0);
  sum.scaled |= more.scaled | (meets ? more.ranks : 0);
}

void Memory::move(const DataStep& step, std::uint32_t lane, std::optional<Fault>& fault) {
  const Ref* refs = g_.refs.data() + step.refs;
  const auto report = [&](FaultKind kind, std::string text) {
    if (fault) return;
    const Lane& l = g_.schedule->lanes[lane];
    fault = Fault{kind, l.rank, l.channel, step.index,
                  step_text(*g_.schedule, lane, step.index) + std::move(text)};
  };
  for (std::uint32_t k = 0; k < step.cells; ++k) {
    Value sum;
    const std::uint64_t at = g_.start[refs[0].first + k];
    const std::uint64_t element = values_[refs[0].first + k].shift + at;
    for (std::uint32_t i = 0; i < step.sources; ++i) {
      const std::uint32_t cell = refs[i].first + k;
      const Value& more = values_[cell];
      if (!more.written)
        report(FaultKind::UnwrittenRead,
               fmt::format(" reads {}, which nothing has written", g_.cell_text(cell)));
      else if (more.shift + g_.start[cell] != element)
        report(FaultKind::WrongResult,
               fmt::format(" adds {} and {}, which hold different elements, from {} and {}",
                           g_.cell_text(refs[0].first + k), g_.cell_text(cell), element,
                           more.shift + g_.start[cell]));
      take(sum, more, refs[i]);
    }
    sum.written = true;
    for (std::uint32_t i = step.sources; i < step.sources + step.destinations; ++i) {
      const std::uint32_t cell = refs[i].first + k;
      sum.shift = element - g_.start[cell];
      values_[cell] = sum;
    }
  }
}

std::uint32_t Memory::drop(std::uint32_t reader) {
  const std::uint32_t next = readers_[reader].next;
  readers_[reader].next = free_readers_;
  free_readers_ = reader;
  return next;
}

std::string Memory::conflict(const Access& now, bool writes, const Access& before, bool wrote,
                             std::uint32_t cell) const {
  return fmt::format("{} {} {} while {} may still {} it: no signal orders them",
                     step_text(*g_.schedule, now.lane, now.step), writes ? "writes" : "reads",
                     g_.cell_text(cell), step_text(*g_.schedule, before.lane, before.step),
                     wrote ? "write" : "read");
}

std::string Memory::read(std::uint32_t cell, const Access& access, const ClockWord* clock) {
  History& history = history_[cell];
  const Access& writer = history.writer;
  if (writer.lane != kNoIndex && !clock[writer.lane].knows(writer.group))
    return conflict(access, false, writer, true, cell);
  std::uint32_t* link = &history.readers;
  while (*link != kNoIndex) {
    const Access& before = readers_[*link].access;
    if (clock[before.lane].knows(before.group))
      *link = drop(*link);
    else
      link = &readers_[*link].next;
  }
  std::uint32_t node = free_readers_;
  if (node != kNoIndex) {
    free_readers_ = readers_[node].next;
  } else {
    node = static_cast<std::uint32_t>(readers_.size());
    readers_.emplace_back();
  }
  readers_[node] = {access, history.readers};
  history.readers = node;
  return {};
}

// A step may write what it reads itself: then both ranges are the same, element by element.
std::string Memory::write(std::uint32_t cell, const Access& access, const ClockWord* clock) {
  History& history = history_[cell];
  const Access& writer = history.writer;
  if (writer.lane != kNoIndex && !clock[writer.lane].knows(writer.group))
    return conflict(access, true, writer, true, cell);
  while (history.readers != kNoIndex) {
    const Access& before = readers_[history.readers].access;
    if (before != access && !clock[before.lane].knows(before.group))
      return conflict(access, true, before, false, cell);
    history.readers = drop(history.readers);
  }
  history.writer = access;
  return {};
}

std::string Memory::touch(const DataStep& step, const Access& access, const ClockWord* clock) {
  const Ref* refs = g_.refs.data() + step.refs;
  for (std::uint32_t i = 0; i < step.sources + step.destinations; ++i)
    for (std::uint32_t k = 0; k < step.cells; ++k) {
      const std::uint32_t cell = refs[i].first + k;
      std::string text = i < step.sources ? read(cell, access, clock) : write(cell, access, clock);
      if (!text.empty()) return text;
    }
  return {};
}

// Without sets: which one input, left out or added again, would make the difference.
std::string Memory::explain_sum(std::uint64_t sum) const {
  const std::uint64_t missing = tokens_.expected(false, 1) - sum;
  for (Rank r = 0; r < g_.schedule->ranks; ++r) {
    const std::uint64_t input = tokens_.scale[r] * tokens_.token[r];
    if (missing == input) return fmt::format("without the input of r{}", r);
    if (missing == 0 - input) return fmt::format("more than once that of r{}", r);
  }
  return {};
}

std::string Memory::explain(const Value& value) const {
  const std::uint32_t n = g_.schedule->ranks;
  if (n > kSetRanks) return explain_sum(value.sum);
  const std::uint64_t all = n == 64 ? ~0ull : (1ull << n) - 1;
  std::string text;
  const auto say = [&](std::string_view what, std::uint64_t set) {
    if (set == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, rank_list(set));
  };
  say("without the input of", all & ~value.ranks);
  say("more than once that of", value.doubled);
  if (g_.schedule->op == ReduceOp::Fma) {
    say("without the scale of", value.ranks & ~value.scaled);
    say("more than once the scale of", value.rescaled);
  }
  return text;
}

}  // namespace sdmacc::verifying
