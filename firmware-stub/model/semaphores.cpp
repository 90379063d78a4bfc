// SPDX-License-Identifier: MIT
// No parked wait is ever satisfied by the counter as it stands: each change wakes those that it
// satisfies, oldest first, before the lock is left.
#include "firmware-stub/model/semaphores.hpp"

#include <limits>

#include "libuapi/support/result.hpp"

namespace sdmacc::model {
namespace {

constexpr std::uint32_t kWindowBytes = SDMACC_SEM_SET - SDMACC_SEM_READ;
constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool EventSemaphores::consume(std::uint32_t& counter, const Waiter& waiter) {
  const std::uint32_t seen = counter >> waiter.shift & waiter.mask;
  if (!(seen > waiter.count - 1)) return false;
  counter -= waiter.count << waiter.shift;
  return true;
}

void EventSemaphores::wake(std::uint32_t id) {
  Waiter* released = nullptr;
  // Again after a release: what it consumed may have uncovered a field that an older wait looks at.
  for (bool again = parked_[id] != nullptr; again;) {
    again = false;
    for (Waiter** link = &parked_[id]; Waiter* w = *link;) {
      if (!consume(counters_[id], *w)) {
        link = &w->next_;
        continue;
      }
      *link = w->next_;
      w->next_ = released;
      w->parked_ = false;
      released = w;
      again = true;
    }
  }
  // The first to be released is called last: each goes to the front of a list.
  while (Waiter* w = released) {
    released = w->next_;
    w->next_ = nullptr;
    w->release();
  }
}

EventSemaphores::Result EventSemaphores::read(std::uint32_t offset, std::uint32_t* value) const {
  const std::lock_guard lock(mutex_);
  const std::uint32_t id = offset % kWindowBytes / 4;
  *value = 0;
  if (offset < SDMACC_EVENTS * 4) {
    *value = events_[offset / 4];
  } else if (offset < SDMACC_SEM_READ || offset >= SDMACC_EVTSEM_SIZE) {
    return Result::NoRegister;
  } else if (offset < SDMACC_SEM_SET) {
    *value = counters_[id];
  }  // the other windows are write-only and read as zero
  return Result::Ok;
}

EventSemaphores::Result EventSemaphores::write(std::uint32_t offset, std::uint32_t value,
                                               std::uint32_t* counter) {
  const std::uint32_t id = offset % kWindowBytes / 4;
  bool fits = true;
  switch (offset / kWindowBytes * kWindowBytes) {
    case SDMACC_EVT_WINDOW: {
      const std::lock_guard lock(mutex_);
      events_[id] = (value & 1) != 0;
      break;
    }
    case SDMACC_SEM_READ:
      break;  // read-only, ignored
    case SDMACC_SEM_SET:
      set(id, value);
      break;
    case SDMACC_SEM_INC:
      fits = add(id, value);
      break;
    case SDMACC_SEM_DEC:
      fits = subtract(id, value);
      break;
    default:
      return Result::NoRegister;
  }
  if (fits) return Result::Ok;
  *counter = this->value(id);
  return Result::Wraps;
}

std::uint32_t EventSemaphores::value(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  return counters_[id];
}

void EventSemaphores::set(std::uint32_t id, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  counters_[id] = value;
  wake(id);
}

bool EventSemaphores::add(std::uint32_t id, std::uint32_t amount) {
  const std::lock_guard lock(mutex_);
  if (amount > kMax - counters_[id]) return false;
  counters_[id] += amount;
  wake(id);
  return true;
}

bool EventSemaphores::subtract(std::uint32_t id, std::uint32_t amount) {
  const std::lock_guard lock(mutex_);
  if (amount > counters_[id]) return false;
  counters_[id] -= amount;
  wake(id);  // a field of the counter may have grown
  return true;
}

bool EventSemaphores::wait(std::uint32_t id, Waiter& waiter) {
  SDMACC_ASSERT(waiter.count > 0 && waiter.shift < 32 && !waiter.parked_);
  const std::lock_guard lock(mutex_);
  if (consume(counters_[id], waiter)) {
    wake(id);
    return true;
  }
  Waiter** link = &parked_[id];
  while (*link) link = &(*link)->next_;
  *link = &waiter;
  waiter.next_ = nullptr;
  waiter.parked_ = true;
  return false;
}

bool EventSemaphores::forget(std::uint32_t id, Waiter& waiter) {
  const std::lock_guard lock(mutex_);
  if (!waiter.parked_) return false;
  for (Waiter** link = &parked_[id]; *link; link = &(*link)->next_) {
    if (*link != &waiter) continue;
    *link = waiter.next_;
    waiter.next_ = nullptr;
    waiter.parked_ = false;
    return true;
  }
  return false;
}

std::uint32_t EventSemaphores::waiting(std::uint32_t id) const {
  const std::lock_guard lock(mutex_);
  std::uint32_t n = 0;
  for (const Waiter* w = parked_[id]; w; w = w->next_) ++n;
  return n;
}

void EventSemaphores::clear() {
  const std::lock_guard lock(mutex_);
  counters_ = {};
  events_ = {};
}

}  // namespace sdmacc::model
