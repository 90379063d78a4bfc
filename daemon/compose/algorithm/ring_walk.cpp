// SPDX-License-Identifier: MIT
// Writes the lanes of one all-reduce over rings of units: reduce-scatter, then all-gather, in half
// chunks. A sender spends one credit a step and finds its next's four half slots free; a step takes
// the arrival of two steps before.
#include "daemon/compose/algorithm/ring_walk.hpp"

#include "daemon/compose/pattern/ring_order.hpp"

namespace sdmacc::algorithm {
namespace {

using pattern::RingOrder;

constexpr std::uint32_t kHalves = 2;
constexpr std::uint32_t kSlots =
    4;  // half slots of TMP in one channel, and so the credits at the start
constexpr std::uint32_t kFreeSteps =
    2;                             // first steps that take no arrival, last ones that send nothing
constexpr std::uint32_t kLag = 2;  // step k takes arrival k − 2

class Walk {
 public:
  explicit Walk(Schedule& schedule) : s_(schedule), peers_(schedule.secondaries > 0) {}

  void run() {
    for (Rank r = 0; r < s_.ranks; ++r)
      for (std::uint32_t c = 0; c < s_.channels; ++c) add_signals(r, c);
    s_.tmp_elements.assign(s_.channels * kSlots, 0);
    for (Rank r = 0; r < s_.ranks; ++r)
      for (std::uint32_t c = 0; c < s_.channels; ++c) {
        order_ = {s_.ranks, s_.secondaries, c};
        const std::uint32_t unit = r / order_.unit_size();
        s_.lanes.push_back({r, c, {}});
        if (r == order_.primary(unit))
          primary_lane(order_.place_of(unit));
        else
          secondary_lane(order_.primary(unit));
      }
  }

 private:
  void add_signals(Rank rank, std::uint32_t channel) {
    s_.signals.push_back({rank, SignalRole::Recv, channel, "recv"});
    s_.signals.push_back({rank, SignalRole::Credit, channel, "credit"});
    s_.signals.push_back({rank, SignalRole::Done, channel, "done"});
    if (peers_) s_.signals.push_back({rank, SignalRole::Peer, channel, "peer"});
  }
  std::uint32_t signal(Rank rank, SignalRole role) const {
    const std::uint32_t each = peers_ ? 4 : 3;
    return (rank * s_.channels + order_.channel) * each + static_cast<std::uint32_t>(role);
  }
  std::vector<Step>& steps() { return s_.lanes.back().steps; }

  void secondary_lane(Rank primary) {
    Step hello = sync(Prim::PostSend), end = sync(Prim::MarkComplete);
    hello.posts = {{signal(primary, SignalRole::Peer), 1}};
    end.waits = {{signal(s_.lanes.back().rank, SignalRole::Peer), 1}};
    steps() = {hello, end};
  }

  void primary_lane(std::uint32_t place) {
    place_ = place;
    rank_ = s_.lanes.back().rank;
    unit_ = order_.unit_at(place);
    next_ = order_.next(place);
    previous_ = order_.previous(place);
    number_ = 0;
    Step prologue = sync(Prim::PostRecv);
    prologue.posts = {{signal(rank_, SignalRole::Recv), kFreeSteps},
                      {signal(previous_, SignalRole::Credit), kSlots}};
    steps().push_back(prologue);
    if (order_.units() == 1)
      lone_unit();
    else
      round_trips();
    Step end = sync(Prim::ResetSendCredit);
    end.waits = {{signal(rank_, SignalRole::Done), 1},
                 {signal(rank_, SignalRole::Credit), kSlots - kFreeSteps}};
    for_secondaries([&](Rank m) { end.posts.push_back({signal(m, SignalRole::Peer), 1}); });
    steps().push_back(end);
  }

  // Nobody to send to: each half is one step that combines the unit's own ranks, and still keeps
  // the credits moving.
  void lone_unit() {
    for (std::uint32_t slice = 0; slice < s_.slices; ++slice)
      for (std::uint32_t half = 0; half < kHalves; ++half)
        handler_step(half, slice + 1 < s_.slices, {reduce(slice, half, 0)});
  }

  // A slice's last arrival rides on the next slice's first send; only the last slice's has steps of
  // its own.
  void round_trips() {
    const std::uint32_t sends = 2 * (order_.units() - 1);
    for (std::uint32_t slice = 0; slice < s_.slices; ++slice)
      for (std::uint32_t t = 0; t < sends; ++t)
        for (std::uint32_t half = 0; half < kHalves; ++half) {
          std::vector<Step> data;
          if (t == 0 && slice > 0 && peers_) data.push_back(last_arrival(slice - 1, half));
          data.push_back(t < order_.units() ? reduce(slice, half, t)
                                            : gather(slice, half, t - order_.units() + 1));
          handler_step(half, true, std::move(data));
        }
    for (std::uint32_t half = 0; half < kHalves; ++half)
      handler_step(half, false, {last_arrival(s_.slices - 1, half)});
  }

  // Reduce-scatter step t: what arrived, then the unit's ranks ascending; to the next's TMP, at the
  // last step to every OUT within reach.
  Step reduce(std::uint32_t slice, std::uint32_t half, std::uint32_t t) {
    const bool last = t + 1 == order_.units();
    const Piece p = chunk(slice, half, order_.reduce_block(place_, t));
    std::vector<Range> src, dst;
    if (t > 0) src.push_back(slot(rank_, number_ - kLag, p.count));
    for (std::uint32_t i = 0; i < order_.unit_size(); ++i)
      src.push_back(in(order_.member(unit_, i), p));
    if (last) {
      dst.push_back(out(rank_, p));
      for_secondaries([&](Rank m) { dst.push_back(out(m, p)); });
      if (next_ != rank_) dst.push_back(out(next_, p));
    } else {
      dst.push_back(slot(next_, number_, p.count));
    }
    const Prim prim = last     ? (t == 0 ? Prim::RecvReduceCopy : Prim::RecvReduceCopySend)
                      : t > 0  ? Prim::RecvReduceSend
                      : peers_ ? Prim::DirectReduceSendKangaring
                               : Prim::Send;
    return of_slice(slice, combine(s_, prim, std::move(src), std::move(dst)));
  }

  // All-gather step t: the previous wrote the block into this rank's OUT; pass it to the
  // secondaries and the next.
  Step gather(std::uint32_t slice, std::uint32_t half, std::uint32_t t) {
    const Piece p = chunk(slice, half, order_.gather_block(place_, t));
    std::vector<Range> dst;
    for_secondaries([&](Rank m) { dst.push_back(out(m, p)); });
    dst.push_back(out(next_, p));
    return of_slice(slice, copy(Prim::DirectRecvSend, out(rank_, p), std::move(dst)));
  }

  // The last block is in place already; only secondaries need it.
  Step last_arrival(std::uint32_t slice, std::uint32_t half) {
    if (!peers_) return of_slice(slice, sync(Prim::DirectRecv));
    const Piece p = chunk(slice, half, order_.gather_block(place_, order_.units() - 1));
    std::vector<Range> dst;
    for_secondaries([&](Rank m) { dst.push_back(out(m, p)); });
    return of_slice(slice, copy(Prim::DirectRecv, out(rank_, p), std::move(dst)));
  }
  static Step of_slice(std::uint32_t slice, Step step) {
    step.slice = slice;
    return step;
  }

  // The steps of `data` as one group: waits on the first, posts on the last.
  void handler_step(std::uint32_t half, bool sends, std::vector<Step> data) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i].half = static_cast<std::uint8_t>(half);
      data[i].joined = i > 0;
    }
    Step& first = data.front();
    first.waits = {{signal(rank_, SignalRole::Credit), 1}, {signal(rank_, SignalRole::Recv), 1}};
    if (number_ > 0) first.waits.push_back({signal(rank_, SignalRole::Done), 1});
    if (number_ == 0 && peers_)
      first.waits.push_back({signal(rank_, SignalRole::Peer), s_.secondaries});
    Step& last = data.back();
    if (sends) last.posts.push_back({signal(next_, SignalRole::Recv), 1});
    last.posts.push_back({signal(rank_, SignalRole::Done), 1});
    if (number_ >= kFreeSteps) last.posts.push_back({signal(previous_, SignalRole::Credit), 1});
    for (Step& step : data) steps().push_back(std::move(step));
    ++number_;
  }

  Piece chunk(std::uint32_t slice, std::uint32_t half, std::uint32_t block) const {
    const Piece whole = slice_piece(s_, slice, order_.channel);
    return pattern::piece(pattern::piece(whole, order_.units(), block), kHalves, half);
  }
  // The half slot of send `number` in `rank`'s TMP; grows the TMP to what is put there.
  Range slot(Rank rank, std::uint64_t number, std::uint64_t count) {
    const std::uint32_t base = order_.channel * kSlots;
    for (std::uint32_t i = 0; i < kSlots; ++i)
      s_.tmp_elements[base + i] = std::max(s_.tmp_elements[base + i], count);
    return tmp(rank, base + static_cast<std::uint32_t>(number % kSlots), count);
  }
  template <typename F>
  void for_secondaries(F f) const {
    for (std::uint32_t i = 0; i < order_.unit_size(); ++i)
      if (const Rank m = order_.member(unit_, i); m != rank_) f(m);
  }

  Schedule& s_;
  const bool peers_;
  RingOrder order_;
  std::uint32_t place_ = 0, unit_ = 0;
  Rank rank_ = 0, next_ = 0, previous_ = 0;
  std::uint64_t number_ = 0;  // handler steps so far, which is also the number of the send
};

}  // namespace

void walk_rings(Schedule& schedule) {
  Walk(schedule).run();
}

}  // namespace sdmacc::algorithm
