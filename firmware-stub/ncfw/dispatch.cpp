// SPDX-License-Identifier: MIT
// The main coroutine of a TOP_SP: trigger, entries, local completions, chain, status. Entry:
// dispatcher().
//
// As with a ring channel, its position is the state in the progress block: each case is one wait
// and what its release does.
#include <bit>

#include "firmware-stub/ncfw/leaf.hpp"
#include "firmware-stub/ncfw/slot.hpp"

namespace sdmacc::ncfw {
namespace {

void go(Context& ram, sdmacc_ncfw_state state) {
  ram.store(field::kState, state);
}

Checked<Ctrl> ctrl_at(const Context& ram, std::uint32_t entry) {
  const auto op_num = read_op_num(ram);
  if (!op_num) return tl::unexpected<Failure>(op_num.error());
  return read_ctrl(ram, entry, *op_num);
}

Handler handler(const Context& ram, std::uint32_t algo_type) {
  switch (handler_id(ram, algo_type)) {
    case SDMACC_HANDLER_RING:
      return ring_entry;
    case SDMACC_HANDLER_MESH:
      return mesh_entry;
    default:  // HIER has no handler in this image
      return error_entry;
  }
}

// The entry in work has ended: the next one, or the local completions after the last.
Checked<void> next_entry(Sequencer& s) {
  const std::uint32_t next = s.ram.load(field::kEntry) + 1;
  if (next < s.ram.load(field::kOpNum)) return begin_entry(s, next);
  go(s.ram, SDMACC_NCFW_LOCAL_DONE);
  return {};
}

// The last act of a run, by the flags of its last entry. Idle before it: whoever learns of it may
// trigger the next run.
Checked<void> finish(Context& ram, const Ctrl& last) {
  const bool send = last.flags & SDMACC_CTRL_RING_SEND_COMPLETE;
  const auto complete = send ? read_semaphore(ram, field::kComplete) : Checked<std::uint64_t>(0);
  if (!complete) return tl::unexpected<Failure>(complete.error());
  ram.store(field::kRuns, ram.load(field::kRuns) + 1);
  go(ram, SDMACC_NCFW_IDLE);
  if (send) SDMACC_NCFW_CHECK(signal(ram.port(), *complete, 1));
  if (last.flags & SDMACC_CTRL_REPORTER) ram.port().report_status(last.entry + 1);
  return {};
}

}  // namespace

void Sequencer::fail(Failure failure) {
  go(ram, SDMACC_NCFW_ERROR);
  ram.port().forget_all();
  ram.port().report_failure(failure);
}

std::uint32_t handler_id(const Context& ram, std::uint32_t algo_type) {
  if (algo_type >= SDMACC_DISPATCH_WORDS) return SDMACC_HANDLER_ERROR;
  const std::uint32_t id = ram.arch().has_dispatch_table ? ram.load(field::dispatch(algo_type))
                                                         : ram.arch().dispatch[algo_type];
  return id <= SDMACC_HANDLER_MESH ? id : std::uint32_t{SDMACC_HANDLER_ERROR};
}

Checked<void> begin_entry(Sequencer& s, std::uint32_t entry) {
  Context& ram = s.ram;
  ram.store(field::kEntry, entry);
  const auto ctrl = ctrl_at(ram, entry);
  if (!ctrl) return tl::unexpected<Failure>(ctrl.error());
  ram.store(field::kEventIndex, 0);
  std::uint32_t channels = 0;
  if (ctrl->cc_op && handler_id(ram, ctrl->algo_type) == SDMACC_HANDLER_RING)
    channels = ctrl->channel_list;
  for (std::uint32_t rest = channels; rest != 0; rest &= rest - 1)
    ram.store(field::ring_ctx(static_cast<std::uint32_t>(std::countr_zero(rest))), {});
  ram.store(field::kChannelsDone, 0);
  ram.store(field::kChannelsLeft, static_cast<std::uint32_t>(std::popcount(channels)));
  go(ram, SDMACC_NCFW_ENTRY);
  return {};
}

Task error_entry(Sequencer& s, Ctrl ctrl) {
  Leaf leaf(s, kDispatcherWait, kNoUnit);
  const bool in_table = s.ram.arch().has_dispatch_table && ctrl.algo_type < SDMACC_DISPATCH_WORDS;
  const std::uint64_t at = in_table ? s.ram.address(field::dispatch(ctrl.algo_type))
                                    : s.ram.address(field::ctrl(ctrl.entry)) + 1;
  co_await leaf.check(
      Checked<void>(refuse(Code::BadDispatch, at, ctrl.algo_type, SDMACC_DISPATCH_WORDS - 1)));
}

Task dispatcher(Sequencer& s) {
  Context& ram = s.ram;
  Leaf leaf(s, kDispatcherWait, kNoUnit);
  for (;;) {
    switch (ram.load(field::kState)) {
      case SDMACC_NCFW_IDLE:
        co_await leaf.breathe();
        co_await leaf.wait(ram.semaphore(SDMACC_SEM_TRIGGER), 1);
        co_await leaf.check(prepare(s));
        if (ram.load(field::kTriggerNext) != 0) {
          const std::uint64_t next = co_await leaf.check(read_semaphore(ram, field::kTriggerNext));
          co_await leaf.signal(next, 1);
        }
        co_await leaf.check(begin_entry(s, 0));
        break;
      case SDMACC_NCFW_ENTRY: {
        const Ctrl ctrl = co_await leaf.check(ctrl_at(ram, ram.load(field::kEntry)));
        if (ctrl.cc_op) co_await handler(ram, ctrl.algo_type)(s, ctrl);
        co_await leaf.check(next_entry(s));
        break;
      }
      case SDMACC_NCFW_LOCAL_DONE:
        for (std::uint32_t i = 0; i < SDMACC_COMPLETION_ADDRESSES; ++i) {
          const std::uint64_t inc = ram.load(field::completion(i));
          if (inc != 0)
            co_await leaf.wait(inc - SDMACC_SEM_READ_TO_INC, ram.load(field::completions(i)));
          ram.store(field::completion(i), 0);
        }
        go(ram, SDMACC_NCFW_CHAIN);
        break;
      case SDMACC_NCFW_CHAIN: {
        const Ctrl last = co_await leaf.check(ctrl_at(ram, ram.load(field::kEntry)));
        if (last.flags & SDMACC_CTRL_RING_WAIT_COMPLETE) {
          const std::uint64_t previous =
              co_await leaf.check(read_semaphore(ram, field::kCompletePrev));
          co_await leaf.wait(previous, 1);
        }
        co_await leaf.check(finish(ram, last));
        break;
      }
      case SDMACC_NCFW_ERROR:
        co_return;
      default:
        co_await leaf.check(Checked<void>(refuse(Code::BadConfig, ram.address(field::kState),
                                                 ram.load(field::kState), SDMACC_NCFW_ERROR)));
    }
  }
}

Checked<void> complete_locally(Context& ram, const List::Ends& ends) {
  for (std::uint32_t e = 0; e < ends.count; ++e) {
    const std::uint64_t inc = ends.semaphore[e] + SDMACC_SEM_READ_TO_INC;
    std::uint32_t i = 0;
    while (i < SDMACC_COMPLETION_ADDRESSES && ram.load(field::completion(i)) != 0 &&
           ram.load(field::completion(i)) != inc)
      ++i;
    if (i == SDMACC_COMPLETION_ADDRESSES)
      return refuse(Code::BadSlot, ram.address(field::completion(0)), inc, i);
    ram.store(field::completion(i), inc);
    ram.store(field::completions(i), ram.load(field::completions(i)) + 1);
    ram.store(field::kLocalExpected, ram.load(field::kLocalExpected) + 1);
    SDMACC_NCFW_CHECK(signal(ram.port(), ends.semaphore[e], 1));
  }
  return {};
}

}  // namespace sdmacc::ncfw
