// SPDX-License-Identifier: MIT
// select: verdicts on every candidate, then the first by precedence. Entry: select(). Tested by
// selftests/select.
#include "daemon/select/select.hpp"

#include <algorithm>

#include "daemon/compose/compose.hpp"

namespace sdmacc {
namespace {

constexpr std::uint64_t kSliceGrain =
    64;  // elements: slices start where vectors and cache lines of every dtype do

std::string id_of(const AlgorithmInfo& info, std::uint32_t secondaries) {
  return secondaries > 0 ? fmt::format("{}-{}", info.id, secondaries) : std::string(info.id);
}

struct Entry {
  const AlgorithmInfo* info;
  std::string id;
  Candidate candidate;
};

std::vector<Entry> all_candidates(const Rules& rules) {
  std::vector<Entry> entries;
  auto add = [&](const AlgorithmInfo& info, std::uint32_t secondaries) {
    Candidate c;
    c.alg = info.alg;
    c.mesh = info.mesh;
    c.sub_type = info.sub_type;
    c.secondaries = secondaries;
    entries.push_back({&info, id_of(info, secondaries), std::move(c)});
  };
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.alg == Alg::Kangaring) {
      add(info, 1);
      add(info, 3);
    } else {
      add(info, 0);
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return rules.place(a.id) < rules.place(b.id);
  });
  return entries;
}

bool fits(const Rule& rule, const Entry& entry, const Operation& o, std::uint64_t bytes,
          std::uint32_t ranks) {
  return rule.collective == o.collective && rule.algorithm == entry.id &&
         rule.ranks.contains(ranks) && rule.bytes.contains(bytes);
}

void judge_requirements(Entry& e, const Operation& o, const World& w) {
  Choice probe;
  probe.channels = 1;
  probe.secondaries = e.candidate.secondaries;
  probe.sub_type = e.candidate.sub_type;
  probe.slice_elements = std::max<std::uint64_t>(1, o.count);
  const Shape shape = shape_of(o, probe, w, o.count);
  if (const auto refusal = e.info->refuses(shape))
    e.candidate.verdicts.push_back({refusal->rule, true, false, refusal->reason, ""});
  if (w.policy.order_rank && !e.info->order_rank(shape))
    e.candidate.verdicts.push_back(
        {"order.rank", true, false,
         "order=rank is set and an element is not one Reduce in ascending rank", ""});
  e.candidate.possible = e.candidate.verdicts.empty();
  if (e.candidate.possible)
    e.candidate.verdicts.push_back(
        {"structure", true, true, fmt::format("takes {} ranks", w.size()), ""});
}

void judge_preferences(Entry& e, const Operation& o, const World& w, const Rules& rules,
                       std::uint64_t bytes) {
  for (const Rule& rule : rules.prefer)
    if (fits(rule, e, o, bytes, w.size())) {
      e.candidate.preferred = true;
      e.candidate.verdicts.push_back(
          {"band", false, true, fmt::format("{} ranks, {} bytes are in its band", w.size(), bytes),
           rules.where(rule)});
      return;
    }
  e.candidate.verdicts.push_back({"band", false, false,
                                  fmt::format("no band has {} ranks, {} bytes", w.size(), bytes),
                                  rules.file});
}

bool is_forced(const Candidate& c, const Policy& policy) {
  return c.alg == *policy.force_alg && (!policy.force_mesh || c.sub_type == *policy.force_mesh);
}

Result<const Entry*> pick(const std::vector<Entry>& entries, const Policy& policy,
                          std::string& why) {
  if (policy.force_alg) {
    const Entry* refused = nullptr;
    for (const Entry& e : entries) {
      if (!is_forced(e.candidate, policy)) continue;
      if (e.candidate.possible) {
        why = fmt::format("{} is forced", e.id);
        return &e;
      }
      if (refused == nullptr) refused = &e;
    }
    if (refused == nullptr)
      return fail(Errc::Unsupported, Stage::Select, kNoIndex,
                  "{} is forced, and nothing here composes it", name(*policy.force_alg));
    const Verdict& v = refused->candidate.verdicts.front();
    return fail(Errc::Unsupported, Stage::Select, kNoIndex,
                "{} is forced but impossible: rule {}: {}", refused->id, v.rule, v.reason);
  }
  for (const Entry& e : entries)
    if (e.candidate.possible && e.candidate.preferred) {
      why =
          fmt::format("{} is the first in order of precedence that is possible and preferred ({})",
                      e.id, e.candidate.verdicts.back().where);
      return &e;
    }
  for (const Entry& e : entries)
    if (e.candidate.possible) {
      why = fmt::format("{} is the first possible; no rule prefers any", e.id);
      return &e;
    }
  std::string reasons;
  for (const Entry& e : entries)
    reasons += fmt::format("; {}: {}: {}", e.id, e.candidate.verdicts.front().rule,
                           e.candidate.verdicts.front().reason);
  return fail(Errc::Unsupported, Stage::Select, kNoIndex, "no algorithm can run this{}", reasons);
}

// Channels, slice and window: the policy's, then the last rule that fits. Small operations are not
// cut more than they have slices.
void tune(Choice& choice, const Entry& e, const Operation& o, const World& w, const Rules& rules,
          std::uint64_t bytes) {
  std::uint64_t slice = w.policy.slice_bytes, window = w.policy.window_bytes;
  std::uint32_t channels = 1;
  for (const Rule& rule : rules.tune) {
    if (!fits(rule, e, o, bytes, w.size())) continue;
    slice = rule.slice.value_or(slice);
    window = rule.window.value_or(window);
    channels = rule.channels.value_or(channels);
  }
  const std::uint64_t element = element_bytes(o.dtype);
  const std::uint64_t grains = std::max<std::uint64_t>(1, slice / element / kSliceGrain);
  choice.slice_elements = std::min(grains * kSliceGrain, std::max<std::uint64_t>(1, o.count));
  choice.window_elements =
      std::max(window / element / kSliceGrain * kSliceGrain, choice.slice_elements);
  const std::uint64_t slices =
      (std::min(o.count, choice.window_elements) + choice.slice_elements - 1) /
      choice.slice_elements;
  choice.channels = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(slices, 1, std::min(channels, w.policy.max_channels)));
}

}  // namespace

Result<Choice> select(const Operation& o, const World& w, const Rules& rules) {
  if (o.collective != Collective::AllReduce)
    return fail(Errc::Unsupported, Stage::Select, kNoIndex,
                "no algorithm for {} yet; ALL_REDUCE runs", name(o.collective));
  const std::uint64_t bytes = o.count * element_bytes(o.dtype);
  auto entries = all_candidates(rules);
  for (Entry& e : entries) {
    judge_requirements(e, o, w);
    judge_preferences(e, o, w, rules, bytes);
  }
  Choice choice;
  SDMACC_TRY(const Entry* best, pick(entries, w.policy, choice.why));
  choice.alg = best->candidate.alg;
  choice.mesh = best->candidate.mesh;
  choice.sub_type = best->candidate.sub_type;
  choice.secondaries = best->candidate.secondaries;
  choice.forced = w.policy.force_alg.has_value();
  tune(choice, *best, o, w, rules, bytes);
  for (Entry& e : entries) choice.candidates.push_back(std::move(e.candidate));
  return choice;
}

std::string algorithm_id(const Candidate& c) {
  const AlgorithmInfo* info = find_algorithm(c.alg, c.mesh, c.sub_type);
  return info != nullptr ? id_of(*info, c.secondaries) : std::string(name(c.alg));
}

std::string to_string(const Choice& c) {
  const Candidate chosen{c.alg, c.mesh, c.sub_type, c.secondaries, true, true, {}};
  std::string out = fmt::format(
      "choice {}: {} channels, {} elements a slice, {} a window{}\nwhy: {}\n", algorithm_id(chosen),
      c.channels, c.slice_elements, c.window_elements, c.forced ? ", forced" : "", c.why);
  out += fmt::format(
      "legs: alg_intra_allg {} alg_intra_redsct {} alg_inter_allr {} alg_inter_allg {} "
      "alg_inter_redsct {}\n",
      static_cast<int>(c.legs.intra_allg), static_cast<int>(c.legs.intra_redsct),
      static_cast<int>(c.legs.inter_allr), static_cast<int>(c.legs.inter_allg),
      static_cast<int>(c.legs.inter_redsct));
  for (const Candidate& k : c.candidates) {
    out += fmt::format("  {:18} {}\n", algorithm_id(k),
                       !k.possible   ? "impossible"
                       : k.preferred ? "preferred"
                                     : "possible");
    for (const Verdict& v : k.verdicts)
      out += fmt::format("    {} {} {}: {}{}\n", v.passed ? "+" : "-",
                         v.required ? "requires" : "prefers", v.rule, v.reason,
                         v.where.empty() ? "" : fmt::format(" ({})", v.where));
  }
  return out;
}

}  // namespace sdmacc
