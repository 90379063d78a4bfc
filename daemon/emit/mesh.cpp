// SPDX-License-Identifier: MIT
// Mesh family: a lane is the same tape of events for every slice. The tape becomes mesh events,
// each slice one CTRL entry that runs it, and each event with descriptors takes one SLOT word a
// slice. Tested by selftests/emit.
#include <algorithm>

#include "daemon/emit/families.hpp"
#include "daemon/emit/packets.hpp"
#include "libuapi/abi/enums.h"

namespace sdmacc::emitter {
namespace {

constexpr std::size_t kDirectTriggers = 3;
constexpr std::uint16_t kMask = 0xffff;

Result<std::uint8_t> event_type(const Step& step) {
  switch (step.prim) {
    case Prim::SyncEvent:
      return std::uint8_t{SDMACC_MESH_EV_SYNC};
    case Prim::GlobalHandshake:
      return std::uint8_t{SDMACC_MESH_EV_GLOBAL_HNDSHK};
    case Prim::LocalHandshake:
      return std::uint8_t{SDMACC_MESH_EV_LOCAL_HNDSHK};
    case Prim::InterGroupBroadcast:
      return std::uint8_t{SDMACC_MESH_EV_INTER_GRP_BRDCST};
    case Prim::IntraGroupBroadcast:
      return std::uint8_t{SDMACC_MESH_EV_INTRA_GRP_BRDCST};
    case Prim::ReduceCopy:
      return std::uint8_t{SDMACC_MESH_EV_REDUCE_COPY};
    case Prim::ReduceWrite:
      return std::uint8_t{SDMACC_MESH_EV_REDUCE_WRITE};
    case Prim::InterGroupBroadcast2:
      return std::uint8_t{SDMACC_MESH_EV_INTER_GRP_BRDCST_2};
    default:
      return fail(Errc::Internal, Stage::Emit, kNoIndex, "{} is no mesh event", name(step.prim));
  }
}

// One rank's tape: what all its slices have in common.
class TapeEmitter {
 public:
  // `factor[s]`: how often one post of signal s counts: once an engine when descriptors make it.
  TapeEmitter(Builder& builder, const Lane& lane, std::vector<std::uint32_t>& factor)
      : b_(builder),
        s_(builder.schedule()),
        lane_(lane),
        factor_(factor),
        groups_(groups_of(lane)) {}

  // First pass: cut the lane into tapes and decide which events have descriptors.
  Status plan() {
    std::size_t events = 0;
    for (std::size_t g = 0; g < groups_.size() && events == 0; ++g)
      if (lane_.steps[groups_[g].first].prim == Prim::SyncEvent) events = g + 1;
    if (events == 0 || groups_.size() % events != 0)
      return fail(Errc::Internal, Stage::Emit, lane_.rank, "rank {}: {} events are not whole tapes",
                  lane_.rank, groups_.size());
    if (events > b_.arch().mesh_events)
      return fail(Errc::NoSpace, Stage::Emit, lane_.rank, "tape of {} events, {} has {}", events,
                  b_.arch().name, b_.arch().mesh_events);
    slices_ = groups_.size() / events;
    if (slices_ > SDMACC_CTRL_ENTRIES)
      return fail(Errc::NoSpace, Stage::Emit, lane_.rank, "{} slices, CTRL has {} entries", slices_,
                  SDMACC_CTRL_ENTRIES);
    events_.resize(events);
    for (std::size_t g = 0; g < groups_.size(); ++g) SDMACC_CHECK(plan_event(g));
    for (Event& event : events_)
      for (const Post& post : event.posts) {
        const std::uint32_t factor = event.has_data ? b_.engines() : 1;
        if (factor_[post.signal] != 0 && factor_[post.signal] != factor)
          return fail(Errc::Internal, Stage::Emit, lane_.rank,
                      "signal {} of rank {} is posted by data and by handshakes",
                      s_.signals[post.signal].name, s_.signals[post.signal].owner);
        factor_[post.signal] = factor;
      }
    return {};
  }

  Status run() {
    for (std::size_t e = 0; e < events_.size(); ++e)
      SDMACC_CHECK(write_event(static_cast<std::uint32_t>(e)));
    PacketWriter packets(b_, lane_.rank, lane_.channel);
    std::vector<std::uint64_t> words;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Event& event = events_[g % events_.size()];
      if (!event.dma) continue;
      for (std::size_t i = groups_[g].first; i < groups_[g].last; ++i)
        packets.data(lane_.steps[i], static_cast<std::uint32_t>(i));
      for (const Post& post : event.posts)
        packets.post(post, static_cast<std::uint32_t>(groups_[g].last - 1),
                     lane_.steps[groups_[g].first].slice, !event.has_data);
      const Counts counts = packets.take();
      if (counts.m2s > SDMACC_SLOT_MAX_COUNT || counts.s2m > SDMACC_SLOT_MAX_COUNT)
        return fail(Errc::NoSpace, Stage::Emit, static_cast<std::uint32_t>(groups_[g].first),
                    "one event of rank {} has {} descriptors, at most {} fit a SLOT word: use "
                    "smaller slices",
                    lane_.rank, std::max(counts.m2s, counts.s2m), SDMACC_SLOT_MAX_COUNT);
      words.push_back(sdmacc_slot_word(counts.m2s, counts.s2m, 1));
    }
    for (std::size_t i = 0; i < slices_; ++i) {
      sdmacc_ctrl_entry entry{};
      entry.header = SDMACC_CTRL_CC_OP;
      entry.algo = sdmacc_ctrl_algo(static_cast<std::uint32_t>(s_.alg),
                                    static_cast<std::uint32_t>(s_.mesh), 0);
      entry.u.mesh.sema_shift_offset = 0;
      entry.u.mesh.sema_mask = kMask;
      b_.sp(lane_.rank).ctrl.push_back(entry);
    }
    return b_.finish_list(lane_.rank, 0, words);
  }

 private:
  struct Event {
    bool has_data = false;  // in any slice
    bool dma = false;       // has descriptors
    std::vector<Wait> waits;
    std::vector<Post> posts;
  };

  Status plan_event(std::size_t g) {
    Event& event = events_[g % events_.size()];
    const Step& first = lane_.steps[groups_[g].first];
    const Step& last = lane_.steps[groups_[g].last - 1];
    if (g < events_.size()) {
      event.waits = first.waits;
      event.posts = last.posts;
      if (first.waits.size() > 1)
        return fail(Errc::Internal, Stage::Emit, lane_.rank,
                    "event {} waits for {} signals, a mesh event waits for one", g,
                    first.waits.size());
    } else if (event.waits != first.waits || event.posts != last.posts ||
               first.prim != lane_.steps[groups_[g % events_.size()].first].prim) {
      return fail(Errc::Internal, Stage::Emit, lane_.rank,
                  "event {} of slice {} differs from the first slice's", g % events_.size(),
                  g / events_.size());
    }
    for (std::size_t i = groups_[g].first; i < groups_[g].last; ++i)
      event.has_data = event.has_data || lane_.steps[i].kind != Kind::Sync;
    const bool single = std::all_of(event.posts.begin(), event.posts.end(),
                                    [](const Post& p) { return p.count == 1; });
    event.dma = event.has_data || event.posts.size() > kDirectTriggers || !single;
    return {};
  }

  Status write_event(std::uint32_t e) {
    const Event& event = events_[e];
    sdmacc_mesh_event& config = b_.mesh_event(lane_.rank, e);
    const std::uint64_t base = SDMACC_ALGO_MESH_OFFSET + e * sizeof(sdmacc_mesh_event);
    SDMACC_TRY(config.event_type, event_type(lane_.steps[groups_[e].first]));
    if (!event.waits.empty()) {
      const Wait& wait = event.waits[0];
      config.wait_event = 1;
      config.wait_val = wait.count * std::max(1u, factor_[wait.signal]);
      if (config.wait_val > kMask)
        return fail(Errc::NoSpace, Stage::Emit, lane_.rank,
                    "event {} waits for {}, the mask holds {}", e, config.wait_val, kMask);
      b_.relocate_semaphore(lane_.rank, base + offsetof(sdmacc_mesh_event, event_wait_sema),
                            wait.signal);
    }
    if (event.dma) {
      config.dma_trigger = 1;
      b_.relocate_bcast(lane_.rank, base, lane_.channel);
      return {};
    }
    config.direct_trigger = static_cast<std::uint8_t>(event.posts.size());
    for (std::size_t i = 0; i < event.posts.size(); ++i)
      b_.relocate_semaphore(
          lane_.rank,
          base + offsetof(sdmacc_mesh_event, direct_trigger_sema) + i * sizeof(sdmacc_u64),
          event.posts[i].signal);
    return {};
  }

  Builder& b_;
  const Schedule& s_;
  const Lane& lane_;
  std::vector<std::uint32_t>& factor_;
  std::vector<StepGroup> groups_;
  std::vector<Event> events_;
  std::size_t slices_ = 0;
};

}  // namespace

Status emit_mesh(Builder& builder) {
  const Schedule& schedule = builder.schedule();
  std::vector<std::uint32_t> factor(schedule.signals.size(), 0);
  std::vector<TapeEmitter> tapes;
  for (const Lane& lane : schedule.lanes) tapes.emplace_back(builder, lane, factor);
  for (TapeEmitter& tape : tapes) SDMACC_CHECK(tape.plan());
  for (TapeEmitter& tape : tapes) SDMACC_CHECK(tape.run());
  return {};
}

}  // namespace sdmacc::emitter
