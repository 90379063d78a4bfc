// SPDX-License-Identifier: MIT
// Ring family: a lane becomes one ring channel of its TOP_SP and one SLOT list. What the firmware's
// handler does by itself (prologue, credit returns, completion of a step) must be what the Schedule
// says, or it is refused. Tested by selftests/emit.
#include <algorithm>

#include "daemon/emit/families.hpp"
#include "daemon/emit/packets.hpp"

namespace sdmacc::emitter {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr std::uint32_t kFreeSteps =
    2;  // the handler's prologue and credit rules (docs/device.md §4)
constexpr std::uint32_t kCredits = 4;

class ChannelEmitter {
 public:
  ChannelEmitter(Builder& builder, const Lane& lane)
      : b_(builder),
        s_(builder.schedule()),
        lane_(lane),
        channel_(b_.ring_channel(lane.rank, lane.channel)) {
    for (std::uint32_t i = 0; i < s_.signals.size(); ++i)
      if (s_.signals[i].owner == lane.rank && s_.signals[i].channel == lane.channel)
        own_[static_cast<std::size_t>(s_.signals[i].role)] = i;
  }

  Status run() {
    if (lane_.channel >= SDMACC_RING_CHANNELS)
      return fail(Errc::NoSpace, Stage::Emit, lane_.channel,
                  "channel {} of rank {}: a TOP_SP has {}", lane_.channel, lane_.rank,
                  SDMACC_RING_CHANNELS);
    channel_.channel_id = static_cast<std::uint8_t>(lane_.channel);
    channel_.spad_slot_idx = static_cast<std::uint8_t>(lane_.channel);
    channel_.kangaring_num_peers = static_cast<std::uint8_t>(s_.secondaries);
    const bool primary = !lane_.steps.empty() && lane_.steps[0].prim == Prim::PostRecv;
    return primary ? run_primary() : run_secondary();
  }

 private:
  Status refuse(std::size_t step, std::string_view what) const {
    return fail(Errc::Internal, Stage::Emit, static_cast<std::uint32_t>(step),
                "rank {} channel {}: {}, which the ring handler does not do", lane_.rank,
                lane_.channel, what);
  }
  std::uint32_t own(SignalRole role) const { return own_[static_cast<std::size_t>(role)]; }
  bool waits(const Step& step, SignalRole role, std::uint32_t count) const {
    return std::find(step.waits.begin(), step.waits.end(), Wait{own(role), count}) !=
           step.waits.end();
  }
  bool posts(const Step& step, std::uint32_t signal, std::uint32_t count) const {
    return std::find(step.posts.begin(), step.posts.end(), Post{signal, count}) != step.posts.end();
  }
  std::uint64_t field(std::size_t offset) const {
    return lane_.channel * sizeof(sdmacc_ring_channel) + offset;
  }
  void semaphore(std::size_t offset, std::uint32_t signal) {
    b_.relocate_semaphore(lane_.rank, field(offset), signal);
  }

  // A secondary says hello to its primary and waits for its word that the unit's data is complete.
  Status run_secondary() {
    if (lane_.steps.size() != 2 || lane_.steps[0].posts.size() != 1 ||
        lane_.steps[1].waits.size() != 1)
      return refuse(0, "a secondary's lane is not post, wait");
    semaphore(offsetof(sdmacc_ring_channel, kring_mine), own(SignalRole::Peer));
    semaphore(offsetof(sdmacc_ring_channel, kring_peers), lane_.steps[0].posts[0].signal);
    return b_.finish_list(lane_.rank, lane_.channel, {});
  }

  Status run_primary() {
    const auto groups = groups_of(lane_);
    SDMACC_CHECK(prologue(lane_.steps[0]));
    PacketWriter packets(b_, lane_.rank, lane_.channel);
    std::vector<std::uint64_t> words;
    for (std::size_t g = 1; g + 1 < groups.size(); ++g) {
      const Step& first = lane_.steps[groups[g].first];
      const Step& last = lane_.steps[groups[g].last - 1];
      SDMACC_CHECK(check_handler_step(g - 1, groups[g].first, first, last));
      bool data = false;
      for (std::size_t i = groups[g].first; i < groups[g].last; ++i) {
        const Step& step = lane_.steps[i];
        packets.data(step, static_cast<std::uint32_t>(i));
        data = data || (step.kind != Kind::Sync && !step.src.empty() && step.src[0].count > 0);
      }
      const bool sends = next_recv(last) != kNone;
      const auto index = static_cast<std::uint32_t>(groups[g].last - 1);
      if (sends) packets.post({next_recv(last), 1}, index, last.slice);
      if (sends || data) packets.post({own(SignalRole::Done), 1}, index, last.slice);
      SDMACC_CHECK(add_word(words, packets.take(), groups[g].first));
    }
    SDMACC_CHECK(epilogue(groups.back().first));
    fill();
    return b_.finish_list(lane_.rank, lane_.channel, words);
  }

  Status prologue(const Step& step) {
    if (step.posts.size() != 2 || !posts(step, own(SignalRole::Recv), kFreeSteps) ||
        step.posts[1].count != kCredits ||
        s_.signals[step.posts[1].signal].role != SignalRole::Credit)
      return refuse(
          0,
          "the prologue does not post its own recv twice and the predecessor's credit four times");
    previous_credit_ = step.posts[1].signal;
    return {};
  }

  std::uint32_t next_recv(const Step& last) const {
    for (const Post& p : last.posts)
      if (s_.signals[p.signal].role == SignalRole::Recv) return p.signal;
    return kNone;
  }

  Status check_handler_step(std::size_t k, std::size_t at, const Step& first, const Step& last) {
    std::size_t wait_count = 2, post_count = 1;
    if (!waits(first, SignalRole::Credit, 1) || !waits(first, SignalRole::Recv, 1))
      return refuse(at, "a step that does not wait for one credit and one arrival");
    if (k > 0) {
      ++wait_count;
      if (!waits(first, SignalRole::Done, 1))
        return refuse(at, "a step that does not wait for the one before");
    } else if (s_.secondaries > 0) {
      ++wait_count;
      if (!waits(first, SignalRole::Peer, s_.secondaries))
        return refuse(at, "a first step that does not wait for the secondaries");
    }
    if (!posts(last, own(SignalRole::Done), 1))
      return refuse(at, "a step whose completion is not posted");
    if (k >= kFreeSteps) {
      ++post_count;
      if (!posts(last, previous_credit_, 1)) return refuse(at, "a step that keeps its credit");
    }
    if (next_recv(last) != kNone) {
      ++post_count;
      if (next_ != kNone && next_ != next_recv(last)) return refuse(at, "a second successor");
      next_ = next_recv(last);
    }
    if (first.waits.size() != wait_count || last.posts.size() != post_count)
      return refuse(at, "other waits or posts than credit, recv, done");
    return {};
  }

  Status add_word(std::vector<std::uint64_t>& words, Counts counts, std::size_t at) {
    if (counts.m2s > SDMACC_SLOT_MAX_COUNT || counts.s2m > SDMACC_SLOT_MAX_COUNT)
      return fail(
          Errc::NoSpace, Stage::Emit, static_cast<std::uint32_t>(at),
          "one step of rank {} has {} descriptors, at most {} fit a SLOT word: use smaller slices",
          lane_.rank, std::max(counts.m2s, counts.s2m), SDMACC_SLOT_MAX_COUNT);
    const std::uint64_t word = sdmacc_slot_word(counts.m2s, counts.s2m, 1);
    if (!words.empty() && words.back() >> 32 == word >> 32 &&
        sdmacc_slot_times(words.back()) < SDMACC_SLOT_MAX_TIMES)
      ++words.back();
    else
      words.push_back(word);
    return {};
  }

  Status epilogue(std::size_t at) {
    const Step& step = lane_.steps[at];
    if (step.prim != Prim::ResetSendCredit || !waits(step, SignalRole::Done, 1) ||
        !waits(step, SignalRole::Credit, kCredits - kFreeSteps) ||
        step.posts.size() != s_.secondaries)
      return refuse(at, "an end that does not take the last completion and two credits");
    for (std::size_t i = 0; i < step.posts.size(); ++i) {
      if (s_.signals[step.posts[i].signal].role != SignalRole::Peer)
        return refuse(at, "an end that posts more than its peers");
      semaphore(offsetof(sdmacc_ring_channel, kring_peers) + i * sizeof(sdmacc_u64),
                step.posts[i].signal);
    }
    return {};
  }

  void fill() {
    semaphore(offsetof(sdmacc_ring_channel, recv_sema), own(SignalRole::Recv));
    semaphore(offsetof(sdmacc_ring_channel, send_sema), own(SignalRole::Credit));
    semaphore(offsetof(sdmacc_ring_channel, post_sema), previous_credit_);
    semaphore(offsetof(sdmacc_ring_channel, dma_compl), own(SignalRole::Done));
    if (s_.secondaries > 0) {
      channel_.kangaring_is_primary = 1;
      semaphore(offsetof(sdmacc_ring_channel, kring_mine), own(SignalRole::Peer));
    }
    b_.relocate_bcast(lane_.rank, field(offsetof(sdmacc_ring_channel, apb)), lane_.channel);
  }

  Builder& b_;
  const Schedule& s_;
  const Lane& lane_;
  sdmacc_ring_channel& channel_;
  std::uint32_t own_[5] = {kNone, kNone, kNone, kNone, kNone};  // by SignalRole
  std::uint32_t previous_credit_ = kNone, next_ = kNone;
};

}  // namespace

Status emit_ring(Builder& builder) {
  std::vector<std::uint32_t> channels(builder.schedule().ranks, 0);
  for (const Lane& lane : builder.schedule().lanes) {
    SDMACC_CHECK(ChannelEmitter(builder, lane).run());
    channels[lane.rank] |= 1u << lane.channel;
  }
  for (Rank r = 0; r < builder.schedule().ranks; ++r) {
    sdmacc_ctrl_entry entry{};
    entry.header = SDMACC_CTRL_CC_OP;
    entry.algo = sdmacc_ctrl_algo(static_cast<std::uint32_t>(builder.schedule().alg), 0, 0);
    entry.u.channel_list = channels[r];
    builder.sp(r).ctrl.push_back(entry);
  }
  return {};
}

}  // namespace sdmacc::emitter
