// SPDX-License-Identifier: MIT
// Ring handler (RING, KANGARING, SINGLE_CYCLE_RING): one coroutine a channel of the entry, all at
// once. Entry: ring_entry().
//
// A channel's coroutine has no position of its own: run_state in its ring_ctx row names what it
// waits for, and each case below is one wait, what its release does, and the next state. Started
// from any row it goes on from there.
#include <algorithm>
#include <bit>

#include "firmware-stub/ncfw/leaf.hpp"
#include "firmware-stub/ncfw/slot.hpp"

namespace sdmacc::ncfw {
namespace {

constexpr std::uint32_t kLag = 2;      // step k takes the arrival of step k − 2
constexpr std::uint32_t kCredits = 4;  // half slots of a channel's buffer
using Role = Channel::Role;

// The ring_ctx row, its SLOT list, and the moves between them.
class Row {
 public:
  Row(Context& ram, const Channel& channel)
      : ram_(ram),
        channel_(channel),
        ctx_(ram.load(field::ring_ctx(channel.index))),
        list_(ram, channel.list, cursor_of(ctx_, channel.list)) {}

  sdmacc_ring_ctx* operator->() { return &ctx_; }
  List& list() { return list_; }

  void save() {
    const List::Cursor& at = list_.cursor();
    ctx_.window[0] = static_cast<std::uint8_t>(at.window);
    ctx_.window[1] = static_cast<std::uint8_t>(at.window >> 8);
    ctx_.slot_idx = static_cast<std::uint8_t>(at.index);
    ctx_.repeat_cnt = static_cast<std::uint16_t>(at.repeat);
    ram_.store(field::ring_ctx(channel_.index), ctx_);
  }
  void go(sdmacc_ring_state state) { ctx_.run_state = static_cast<std::uint8_t>(state); }

  // The next item becomes the step in work; END comes only after as many steps as a ring's credits
  // need.
  Checked<void> take() {
    const auto end = list_.at_end();
    if (!end) return tl::unexpected<Failure>(end.error());
    if (*end) {
      if (ctx_.step < kLag) return refuse(Code::BadSlot, word_address(), ctx_.step, kLag);
      go(SDMACC_RING_WAIT_RESET);
      return {};
    }
    const auto step = list_.next();
    if (!step) return tl::unexpected<Failure>(step.error());
    ctx_.m2s_val = static_cast<std::uint16_t>(step->m2s);
    ctx_.s2m_val = static_cast<std::uint16_t>(step->s2m);
    go(SDMACC_RING_WAIT_CREDIT);
    return {};
  }

  Checked<void> unknown_state() const {
    return refuse(
        Code::BadConfig,
        ram_.address(field::ring_ctx(channel_.index)) + offsetof(sdmacc_ring_ctx, run_state),
        ctx_.run_state, SDMACC_RING_DONE);
  }

  // The END words of the list, and its first window back in RAM.
  Checked<List::Ends> end() {
    const auto some = list_.at_end();
    if (!some) return tl::unexpected<Failure>(some.error());
    if (!*some)
      return refuse(Code::BadSlot, word_address(),
                    ram_.load(field::slot_word(channel_.list, list_.cursor().index)));
    auto ends = list_.ends();
    if (!ends) return ends;
    SDMACC_NCFW_CHECK(list_.rewind());
    return ends;
  }

 private:
  std::uint64_t word_address() const {
    return ram_.address(field::slot_word(channel_.list, list_.cursor().index));
  }
  static List::Cursor cursor_of(const sdmacc_ring_ctx& ctx, std::uint32_t list) {
    if (ctx.run_state == SDMACC_RING_IDLE) return List::start(list);
    return {static_cast<std::uint32_t>(ctx.window[1] << 8 | ctx.window[0]), ctx.slot_idx,
            ctx.repeat_cnt};
  }

  Context& ram_;
  const Channel& channel_;
  sdmacc_ring_ctx ctx_;
  List list_;
};

// Suspends the entry until its last channel has ended.
class Join {
 public:
  explicit Join(Sequencer& sequencer) : sequencer_(sequencer) {}
  bool await_ready() const { return sequencer_.running == 0; }
  void await_suspend(std::coroutine_handle<> self) { sequencer_.joiner = self; }
  void await_resume() const {}

 private:
  Sequencer& sequencer_;
};

void mark_done(Sequencer& s, std::uint32_t channel) {
  Context& ram = s.ram;
  ram.store(field::kChannelsDone, ram.load(field::kChannelsDone) | 1u << channel);
  ram.store(field::kChannelsLeft, ram.load(field::kChannelsLeft) - 1);
  if (--s.running == 0) ram.port().spawn(s.joiner);
}

// Two channels of an entry cannot share a window.
Checked<void> claim_list(const Context& ram, const Channel& channel, std::uint32_t& claimed) {
  const std::uint32_t bit = 1u << channel.list;
  if (claimed & bit)
    return refuse(Code::BadConfig,
                  ram.address(field::ring_channel(channel.index)) +
                      offsetof(sdmacc_ring_channel, spad_slot_idx),
                  channel.list, claimed, channel.index);
  claimed |= bit;
  return {};
}

Task ring_channel(Sequencer& s, Channel channel) {
  enum class Then { Wait, Complete, Take, End };

  Leaf leaf(s, channel.index, channel.index);
  Row row(s.ram, channel);
  for (Then then = Then::Wait; then != Then::End;) {
    row.save();
    switch (row->run_state) {
      case SDMACC_RING_IDLE:
        if (channel.role == Role::Secondary) {
          co_await leaf.signal(channel.peer[0], 1);
        } else {
          co_await leaf.signal(channel.recv, kLag * channel.engines);
          co_await leaf.signal(channel.post, kCredits);
          row->send_credit = kCredits;
        }
        row.go(SDMACC_RING_WAIT_PEERS);
        then = channel.role == Role::Ring ? Then::Take : Then::Wait;
        break;
      case SDMACC_RING_WAIT_PEERS:
        co_await leaf.wait(channel.mine, channel.role == Role::Primary ? channel.peers : 1);
        then = channel.role == Role::Primary ? Then::Take : Then::End;
        break;
      case SDMACC_RING_WAIT_CREDIT:
        co_await leaf.breathe();
        co_await leaf.wait(channel.send, 1);
        row.go(SDMACC_RING_WAIT_RECV);
        then = Then::Wait;
        break;
      case SDMACC_RING_WAIT_RECV:
        co_await leaf.wait(channel.recv, channel.engines);
        ++row->recv_cnt;
        co_await leaf.fire(channel.queue, row->m2s_val, row->s2m_val);
        row->step = std::min<std::uint16_t>(row->step + 1, kLag + 1);
        if (row->m2s_val != 0) {
          const bool last = co_await leaf.check(row.list().at_end());
          row.go(last ? SDMACC_RING_WAIT_LAST : SDMACC_RING_WAIT_DONE);
          then = Then::Wait;
        } else {
          then = Then::Complete;
        }
        break;
      case SDMACC_RING_WAIT_DONE:
      case SDMACC_RING_WAIT_LAST:
        co_await leaf.wait(channel.done, channel.engines);
        then = Then::Complete;
        break;
      case SDMACC_RING_WAIT_RESET:
        co_await leaf.wait(channel.send, kCredits - kLag);
        then = Then::End;
        break;
      default:
        co_await leaf.check(row.unknown_state());
    }
    if (then == Then::Complete) {
      if (row->step > kLag) {
        co_await leaf.signal(channel.post, 1);
        ++row->send_credit;
      }
      then = Then::Take;
    }
    if (then == Then::Take) co_await leaf.check(row.take());
  }

  const List::Ends ends = co_await leaf.check(row.end());
  co_await leaf.check(complete_locally(s.ram, ends));
  if (channel.role == Role::Primary)
    for (std::uint32_t i = 0; i < channel.peers; ++i) co_await leaf.signal(channel.peer[i], 1);
  row.go(SDMACC_RING_DONE);
  row.save();
  mark_done(s, channel.index);
}

}  // namespace

Task ring_entry(Sequencer& s, Ctrl ctrl) {
  Leaf leaf(s, kDispatcherWait, kNoUnit);
  co_await leaf.check(check_ring_ctrl(s.ram, ctrl));
  const std::uint32_t left = ctrl.channel_list & ~s.ram.load(field::kChannelsDone);
  std::uint32_t lists = 0;
  for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(rest));
    const Channel channel = co_await leaf.check(read_channel(s.ram, index, ctrl.algo_type));
    co_await leaf.check(claim_list(s.ram, channel, lists));
    s.channels.push_back(ring_channel(s, channel));
  }
  s.running = static_cast<std::uint32_t>(s.channels.size());
  for (const Task& channel : s.channels) s.ram.port().spawn(channel.handle());
  co_await Join(s);
  s.channels.clear();
  s.joiner = nullptr;
}

}  // namespace sdmacc::ncfw
