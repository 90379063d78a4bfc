// SPDX-License-Identifier: MIT
// match: agreement, order, who is missing. Entry: Matcher::add(). Tested by selftests/match.
#include "daemon/match/match.hpp"

#include <algorithm>

namespace sdmacc {
namespace {

bool agree(const Instruction& a, const Instruction& b) {
  return a.collective == b.collective && a.op == b.op && a.dtype == b.dtype && a.count == b.count;
}

std::string values(const Instruction& i) {
  return fmt::format("{} {} {} {} elements", name(i.collective), name(i.op), name(i.dtype),
                     i.count);
}

}  // namespace

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += fmt::format("{}", ranks[i]);
    if (end > i) out += fmt::format("{}{}", end == i + 1 ? ", " : "–", ranks[end]);
    i = end + 1;
  }
  return out;
}

void Matcher::open(std::uint64_t group, std::uint32_t ranks) {
  groups_[group] = Group{ranks, 0, {}, std::vector<std::uint64_t>(ranks, 0)};
}

std::vector<Matcher::Orphan> Matcher::close(std::uint64_t group) {
  std::vector<Orphan> orphans;
  const auto found = groups_.find(group);
  if (found == groups_.end()) return orphans;
  for (const Place& place : found->second.places)
    for (Rank r = 0; r < place.size(); ++r)
      if (place[r]) orphans.push_back({r, place[r]->request});
  groups_.erase(found);
  return orphans;
}

Result<std::optional<Operation>> Matcher::add(std::uint64_t group, Rank rank,
                                              const Instruction& instruction,
                                              std::uint64_t request) {
  const auto found = groups_.find(group);
  if (found == groups_.end() || rank >= found->second.ranks)
    return fail(Errc::NotFound, Stage::Match, rank, "group {} has no such rank", group);
  Group& g = found->second;
  const std::uint64_t index = g.next[rank] - g.first;
  if (index == g.places.size()) g.places.emplace_back(g.ranks);
  Place& place = g.places[index];
  place[rank] = Entry{instruction, request};
  const std::uint64_t sequence = g.next[rank]++;

  for (const auto& other : place) {
    if (!other || agree(other->instruction, instruction)) continue;
    std::string text = fmt::format("ranks disagree on operation {} of the group:", sequence);
    std::vector<Rank> missing;
    for (Rank r = 0; r < place.size(); ++r) {
      if (place[r])
        text += fmt::format(" rank {}: {};", r, values(place[r]->instruction));
      else
        missing.push_back(r);
    }
    text += missing.empty() ? " all ranks arrived"
                            : fmt::format(" not arrived: {}", ranks_text(missing));
    return fail(Errc::Mismatch, Stage::Match, rank, "{}", text);
  }

  Place& front = g.places.front();
  if (!std::all_of(front.begin(), front.end(), [](const auto& e) { return e.has_value(); }))
    return std::nullopt;
  Operation operation;
  const Instruction& first = front[0]->instruction;
  operation.group = first.group;
  operation.sequence = g.first++;
  operation.collective = first.collective;
  operation.op = first.op;
  operation.dtype = first.dtype;
  operation.count = first.count;
  for (const auto& entry : front)
    operation.ranks.push_back(
        {entry->instruction.src, entry->instruction.dst, entry->instruction.scale, entry->request});
  g.places.pop_front();
  return operation;
}

std::optional<Matcher::Waiting> Matcher::waiting(std::uint64_t group) const {
  const auto found = groups_.find(group);
  if (found == groups_.end() || found->second.places.empty()) return std::nullopt;
  Waiting waiting;
  waiting.sequence = found->second.first;
  const Place& front = found->second.places.front();
  for (Rank r = 0; r < front.size(); ++r) {
    if (front[r]) {
      if (waiting.arrived.empty()) waiting.instruction = front[r]->instruction;
      waiting.arrived.push_back(r);
    } else {
      waiting.missing.push_back(r);
    }
  }
  return waiting;
}

std::string to_string(const Operation& o) {
  std::string out =
      fmt::format("operation {} group {}: {} {} {} {} elements, {} ranks\n", o.sequence, o.group,
                  name(o.collective), name(o.op), name(o.dtype), o.count, o.ranks.size());
  for (Rank r = 0; r < o.ranks.size(); ++r) {
    const RankOperands& x = o.ranks[r];
    out += fmt::format("  rank {}: tensor {} [{}, {}) -> tensor {} [{}, {}){}", r, x.src.tensor,
                       x.src.first, x.src.first + x.src.count, x.dst.tensor, x.dst.first,
                       x.dst.first + x.dst.count, x.src == x.dst ? " in place" : "");
    if (o.op == ReduceOp::Fma) out += fmt::format(" scale {}", x.scale);
    out += '\n';
  }
  return out;
}

}  // namespace sdmacc
