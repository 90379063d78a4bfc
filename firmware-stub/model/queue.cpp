// SPDX-License-Identifier: MIT
// The registers of a queue pair, and the loop that executes its packets.
//
// A worker takes over the registers under the lock, then runs without it; edits_ tells it that they
// have changed. The tail only grows meanwhile, and the head is the worker's. A reset of a running
// queue sets the tail at once and leaves the head to the worker, which finishes its packet first.
#include "firmware-stub/model/queue.hpp"

#include "firmware-stub/model/execute.hpp"
#include "firmware-stub/model/soc.hpp"

namespace sdmacc::model {
namespace {

constexpr unsigned kPacketsPerRun = 128;
constexpr std::uint32_t kEnable = SDMACC_Q_CFG_PREFETCH | SDMACC_Q_CFG_SCHEDULE;
constexpr std::uint32_t kBaseLowMask = ~0x3fu;

std::uint32_t position_register(std::uint64_t count, std::uint32_t length) {
  const Cursor c = Cursor::at(0, length, count);
  return c.index | c.ring_id << SDMACC_Q_RING_ID_SHIFT;
}

std::uint32_t swctrl_register(Side side) {
  return side == Side::M2s ? SDMACC_Q_M2S_SWCTRL : SDMACC_Q_S2M_SWCTRL;
}

}  // namespace

struct Queue::Running {
  explicit Running(Soc& soc) : view(soc, spans) {}

  std::array<Span, kQueuePositions> spans;
  View view;
  std::array<Cursor, 2> cursors;
  std::uint32_t edits = 0;
};

Queue::Queue(Soc& soc, std::uint32_t engine, std::uint32_t number)
    : soc_(soc), engine_(engine), number_(number), context_(&soc.context(0)) {}

Queue::~Queue() = default;

bool Queue::Ring::enabled() const {
  return (config & kEnable) == kEnable;
}

bool Queue::runnable() const {
  for (const Ring& r : rings_)
    if (!r.enabled() || r.stopped || r.armed() == 0) return false;
  return true;
}

void Queue::set_context(const Context& context) {
  const std::lock_guard lock(mutex_);
  context_ = &context;
  context_number_.store(context.number(), std::memory_order_release);
  edited();
}

bool Queue::read(Side side, std::uint32_t reg, std::uint32_t* value) const {
  const std::lock_guard lock(mutex_);
  const Ring& r = rings_[static_cast<std::size_t>(side)];
  switch (reg) {
    case SDMACC_Q_CFG:
      *value = r.config;
      return true;
    case SDMACC_Q_STATUS:
      *value = 0;
      return true;
    case SDMACC_Q_BASE_LO:
      *value = static_cast<std::uint32_t>(r.base);
      return true;
    case SDMACC_Q_BASE_HI:
      *value = static_cast<std::uint32_t>(r.base >> 32);
      return true;
    case SDMACC_Q_LENGTH:
      *value = r.length;
      return true;
    case SDMACC_Q_HEAD:
      *value = position_register(r.done(), r.length);
      return true;
    case SDMACC_Q_TAIL_INC:
      *value = 0;
      return true;
    case SDMACC_Q_TAIL:
      *value = position_register(r.tail.load(std::memory_order_relaxed), r.length);
      return true;
    case SDMACC_Q_CURRENT:
      *value = static_cast<std::uint32_t>(r.base) +
               Cursor::at(0, r.length, r.done()).index * sizeof(sdmacc_desc);
      return true;
    default:
      if (reg != swctrl_register(side)) return false;
      *value = 0;
      return true;
  }
}

bool Queue::write(Side side, std::uint32_t reg, std::uint32_t value) {
  ErrorRecord error;
  bool ready = false;
  {
    const std::lock_guard lock(mutex_);
    Ring& r = rings_[static_cast<std::size_t>(side)];
    switch (reg) {
      case SDMACC_Q_CFG:
        r.config = value;
        break;
      case SDMACC_Q_BASE_LO:
        r.base = (r.base & ~0xffffffffull) | (value & kBaseLowMask);
        break;
      case SDMACC_Q_BASE_HI:
        r.base = (r.base & 0xffffffffull) | std::uint64_t{value} << 32;
        break;
      case SDMACC_Q_LENGTH:
        r.length = value & SDMACC_Q_INDEX_MASK;
        break;
      case SDMACC_Q_TAIL_INC:
        if (const Refusal refusal = doorbell(r, value & SDMACC_Q_INDEX_MASK)) {
          error = error_ = record(Fault{refusal, side});
          for (Ring& ring : rings_) ring.stopped = true;
          edited();
        }
        break;
      case SDMACC_Q_STATUS:
      case SDMACC_Q_HEAD:
      case SDMACC_Q_TAIL:
      case SDMACC_Q_CURRENT:
        return true;  // read-only
      default:
        if (reg != swctrl_register(side)) return false;
        if (value & SDMACC_SWCTRL_RESET_QUEUE) reset_ring(r);
        break;
    }
    if (reg != SDMACC_Q_TAIL_INC) edited();
    ready = runnable();
  }
  if (error.code != Code::None) soc_.post(error);
  if (ready) soc_.scheduler().push(*this, End::Back);
  return true;
}

Refusal Queue::doorbell(Ring& r, std::uint32_t count) {
  counters_.doorbells.add(1);
  if (count == 0 || r.stopped) return {};
  if (r.length == 0) return {Code::RingLength, count, 0};
  if (r.armed() + count > r.length) return {Code::RingOverrun, r.armed() + count, r.length};
  r.tail.fetch_add(count, std::memory_order_release);
  return {};
}

void Queue::reset_ring(Ring& r) {
  r.resetting = true;
  r.stopped = false;
  edited();  // before the tail moves back, so that the worker never takes a tail of after for one
             // of before
  r.tail.store(0, std::memory_order_release);
  error_ = {};
}

QueueState Queue::state() const {
  const std::lock_guard lock(mutex_);
  QueueState s;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const Ring& r = rings_[i];
    const std::uint64_t tail = r.tail.load(std::memory_order_relaxed);
    const Cursor head_at = Cursor::at(r.base, r.length, r.done());
    const Cursor tail_at = Cursor::at(r.base, r.length, tail);
    s.ring[i] = {r.base,          r.length,      r.enabled(),     head_at.index,
                 head_at.ring_id, tail_at.index, tail_at.ring_id, tail - head_at.count};
    s.stopped |= r.stopped;
  }
  s.context = context_->number();
  s.error = error_;
  return s;
}

void Queue::reset() {
  const std::lock_guard lock(mutex_);
  for (Ring& r : rings_) {
    r.base = 0;
    r.length = 0;
    r.config = SDMACC_Q_CFG_RESET;
    reset_ring(r);
  }
  context_ = &soc_.context(0);
  context_number_.store(0, std::memory_order_release);
  counters_.clear();
}

ErrorRecord Queue::record(const Fault& fault) const {
  ErrorRecord e;
  e.source = Source::Queue;
  e.side = fault.side;
  e.code = fault.code;
  e.context = context();
  e.block = engine_;
  e.queue = number_;
  e.index = fault.index;
  e.address = fault.address;
  e.value = fault.value;
  e.target = fault.target;
  return e;
}

// A packet failed: nothing more until both rings are reset. A ring that was reset meanwhile stays
// usable.
void Queue::stop(const Fault& fault) {
  const ErrorRecord e = record(fault);
  {
    const std::lock_guard lock(mutex_);
    for (Ring& r : rings_) r.stopped = !r.resetting;
    error_ = e;
    edited();
  }
  soc_.post(e);
}

// Takes over the registers; false when there is nothing to execute.
bool Queue::begin() {
  if (!running_) running_ = std::make_unique<Running>(soc_);
  const std::lock_guard lock(mutex_);
  const std::uint32_t edits = edits_.load(std::memory_order_relaxed);
  if (running_->edits != edits) {
    running_->edits = edits;
    if (!running_->view.has_context(*context_)) running_->view.set_context(*context_);
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      Ring& r = rings_[i];
      if (r.resetting) r.head.store(0, std::memory_order_relaxed);
      r.resetting = false;
      running_->cursors[i] = Cursor::at(r.base, r.length, r.head.load(std::memory_order_relaxed));
    }
  }
  return runnable();
}

Work::Next Queue::run() {
  unsigned left = kPacketsPerRun;
  while (begin()) {
    Outcome outcome = Outcome::Done;
    while (outcome == Outcome::Done && edits_.load(std::memory_order_acquire) == running_->edits) {
      if (left-- == 0) return Next::Back;
      outcome = step();
    }
    // Blocked: the doorbell that completes the packet makes the queue runnable again.
    if (outcome == Outcome::Blocked && edits_.load(std::memory_order_acquire) == running_->edits)
      break;
  }
  return Next::Done;
}

// One packet.
Outcome Queue::step() {
  std::array<Cursor, 2>& cursors = running_->cursors;
  std::array<std::uint64_t, 2> armed;
  for (std::size_t i = 0; i < armed.size(); ++i)
    armed[i] = rings_[i].tail.load(std::memory_order_acquire) - cursors[i].count;
  if (edits_.load(std::memory_order_acquire) != running_->edits) return Outcome::Done;

  View& view = running_->view;
  view.refresh();
  Packet packet;
  PacketReader reader(view, soc_.arch(), cursors, armed);
  const Outcome outcome = reader.read(&packet);
  if (outcome == Outcome::Failed) stop(reader.fault());
  if (outcome != Outcome::Done) return outcome;

  // The head moves and the packet is counted before its effects show, so that whoever it wakes sees
  // both.
  const std::array<Cursor, 2> before = cursors;
  cursors = reader.cursors();
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    counters_.descriptors.add(cursors[i].count - before[i].count);
    rings_[i].head.store(cursors[i].count, std::memory_order_relaxed);
  }
  counters_.packets.add(1);
  Executor executor(soc_, view, counters_);
  if (executor.run(packet)) return Outcome::Done;
  cursors = before;
  for (std::size_t i = 0; i < cursors.size(); ++i)
    rings_[i].head.store(before[i].count, std::memory_order_relaxed);
  stop(executor.fault());
  return Outcome::Failed;
}

}  // namespace sdmacc::model
