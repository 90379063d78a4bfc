// SPDX-License-Identifier: MIT
// The Port over the device's address space, and who may resume what.
#include "firmware-stub/model/topsp.hpp"

#include <cstddef>
#include <cstring>

#include "firmware-stub/model/soc.hpp"

namespace sdmacc::model {
namespace {

constexpr std::uint32_t kTimestampIncrement = 0x400;  // at reset

}  // namespace

TopSp::TopSp(Soc& soc, std::uint32_t number)
    : soc_(soc), number_(number), ram_(SDMACC_TOPSP_RAM_SIZE), view_(soc, spans_) {
  view_.set_context(soc.context(0));
  copy_shared(ram_.data() + SDMACC_RAM_TIMESTAMP_INC, &kTimestampIncrement, 4);
}

// The firmware lets go of its handles through the Port, so it goes first.
TopSp::~TopSp() {
  firmware_.reset();
}

void TopSp::set_context(const Context& context) {
  soc_.scheduler().take(*this);
  view_.set_context(context);
  context_number_.store(context.number(), std::memory_order_release);
  soc_.scheduler().give_back(*this);
}

std::uint32_t TopSp::read_register(std::uint64_t offset) const {
  return registers_.read(offset);
}

Refusal TopSp::write_register(std::uint64_t offset, std::uint32_t value) {
  const sdmacc_generation& arch = soc_.arch();
  if (offset == arch.csr_init || offset == arch.csr_stop) {
    if (value == 1) order(offset == arch.csr_init ? kInit : kStop);
    return {};
  }
  if (offset == arch.csr_host_trigger) {
    if (value != 1) return {};
    EventSemaphores& own = soc_.semaphores(arch.cores + number_);
    if (own.add(SDMACC_SEM_TRIGGER, 1)) return {};
    return {Code::SemaphoreWrap, own.value(SDMACC_SEM_TRIGGER), 1};
  }
  registers_.write(offset, value);
  if (offset == arch.csr_config_hi) order(kForgetImage);
  return {};
}

// What calls the firmware needs the TOP_SP for itself: at once when the host asks, and when a
// worker next comes by when a program on the device wrote the register.
void TopSp::order(std::uint32_t what) {
  Scheduler& scheduler = soc_.scheduler();
  if (scheduler.on_worker()) {
    orders_.fetch_or(what, std::memory_order_acq_rel);
    scheduler.push(*this, End::Front);
    return;
  }
  scheduler.take(*this);
  obey(orders_.exchange(0, std::memory_order_acq_rel));
  obey(what);
  scheduler.give_back(*this);
}

void TopSp::obey(std::uint32_t orders) {
  if (orders & kSuspend && firmware_) firmware_->suspend();
  if (orders & kRestart && firmware_) firmware_->restart();
  if (orders & kStop && firmware_) firmware_->stop();
  if (orders & kForgetImage && firmware_) firmware_->forget_image();
  if (orders & kInit) {
    firmware_.reset();
    firmware_ = std::make_unique<ncfw::Firmware>(*this, soc_.arch(), number_);
    firmware_->boot();
  }
}

void TopSp::suspend() {
  order(kSuspend);
}
void TopSp::restart() {
  order(kRestart);
}

void TopSp::reset() {
  soc_.scheduler().take(*this);
  orders_ = 0;
  firmware_.reset();
  forget_all();
  registers_.clear();
  ram_.clear();
  copy_shared(ram_.data() + SDMACC_RAM_TIMESTAMP_INC, &kTimestampIncrement, 4);
  view_.set_context(soc_.context(0));
  context_number_.store(0, std::memory_order_release);
  soc_.scheduler().give_back(*this);
}

// One handle, until it is parked.
Work::Next TopSp::run() {
  if (const std::uint32_t orders = orders_.exchange(0, std::memory_order_acq_rel)) {
    obey(orders);
  } else if (Handle* handle = take_ready()) {
    const std::coroutine_handle<> coroutine = handle->coroutine;
    handle->used = false;
    free_.push_back(handle);
    coroutine.resume();
  }
  return next_run();
}

// A chain of releases keeps its worker; handles that were only spawned give way to other work.
Work::Next TopSp::next_run() {
  const std::lock_guard lock(mutex_);
  if (!released_.empty()) return Next::Front;
  return spawned_.empty() ? Next::Done : Next::Back;
}

TopSp::Handle* TopSp::take_ready() {
  const std::lock_guard lock(mutex_);
  std::deque<Handle*>& list = released_.empty() ? spawned_ : released_;
  if (list.empty()) return nullptr;
  Handle* handle = list.front();
  list.pop_front();
  return handle;
}

void TopSp::make_ready(Handle& handle, std::deque<Handle*>& list) {
  const bool released = &list == &released_;
  {
    const std::lock_guard lock(mutex_);
    if (released) {
      list.push_front(&handle);
    } else {
      list.push_back(&handle);
    }
  }
  soc_.scheduler().push(*this, released ? End::Front : End::Back);
}

TopSp::Handle& TopSp::new_handle(std::coroutine_handle<> coroutine) {
  if (free_.empty()) free_.push_back(&handles_.emplace_back());
  Handle& handle = *free_.back();
  free_.pop_back();
  handle.owner = this;
  handle.coroutine = coroutine;
  handle.block = nullptr;
  handle.used = true;
  return handle;
}

bool TopSp::read(std::uint64_t address, void* to, std::size_t bytes) {
  view_.refresh();
  Reach reach;
  if (view_.reach(address >> 20 & 7, address, bytes, kRead, &reach) != Code::None) return false;
  if (reach.memory) {
    copy_shared(to, reach.memory, bytes);
    return true;
  }
  std::uint32_t word = 0;
  if (soc_.load(reach.target, &word)) return false;
  std::memcpy(to, &word, sizeof word);
  return true;
}

bool TopSp::write(std::uint64_t address, const void* from, std::size_t bytes) {
  view_.refresh();
  Reach reach;
  if (view_.reach(address >> 20 & 7, address, bytes, kWrite, &reach) != Code::None) return false;
  if (reach.memory) {
    copy_shared(reach.memory, from, bytes);
    return true;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return !soc_.store(reach.target, word, view_.context());
}

// The block and number of a semaphore that is named by its READ-window address and used through
// another window.
bool TopSp::semaphore(std::uint64_t read_address, std::uint32_t window, Rights need, Target* out) {
  view_.refresh();
  Reach reach;
  const std::uint64_t address = read_address + (window - SDMACC_SEM_READ);
  if (view_.reach(0, address, 4, need, &reach) != Code::None || reach.memory) return false;
  const std::uint64_t id = (reach.target.offset - window) / 4;
  if (reach.target.block != Block::Semaphores || reach.target.offset < window ||
      id >= SDMACC_SEMAPHORES)
    return false;
  *out = reach.target;
  out->offset = id;
  return true;
}

ncfw::Port::Signal TopSp::signal(std::uint64_t read_address, std::uint32_t amount) {
  Target target;
  if (!semaphore(read_address, SDMACC_SEM_INC, kWrite, &target)) return Signal::Refused;
  const bool fits =
      soc_.semaphores(target.index).add(static_cast<std::uint32_t>(target.offset), amount);
  return fits ? Signal::Ok : Signal::Wrap;
}

bool TopSp::wait(const ncfw::SemaphoreWait& wait, std::coroutine_handle<> waiter, bool* refused) {
  Target target;
  *refused = wait.count == 0 || wait.shift >= 32 ||
             !semaphore(wait.address, SDMACC_SEM_READ, kRead, &target) ||
             !semaphore(wait.address, SDMACC_SEM_DEC, kWrite, &target);
  if (*refused) return false;
  Handle& handle = new_handle(waiter);
  handle.count = wait.count;
  handle.shift = wait.shift;
  handle.mask = wait.mask;
  handle.block = &soc_.semaphores(target.index);
  handle.id = static_cast<std::uint32_t>(target.offset);
  if (!handle.block->wait(handle.id, handle)) return false;
  handle.used = false;
  free_.push_back(&handle);
  return true;
}

void TopSp::spawn(std::coroutine_handle<> task) {
  make_ready(new_handle(task), spawned_);
}

void TopSp::forget_all() {
  // Parked ones first: after that nothing becomes ready. A wait that was released and not resumed
  // never happened, so what it took goes back.
  std::vector<Handle*> released;
  for (Handle& handle : handles_) {
    if (!handle.used) continue;
    if (handle.block && !handle.block->forget(handle.id, handle)) released.push_back(&handle);
    handle.used = false;
    free_.push_back(&handle);
  }
  {
    const std::lock_guard lock(mutex_);
    released_.clear();
    spawned_.clear();
  }
  for (Handle* handle : released) handle->block->add(handle->id, handle->count << handle->shift);
}

void TopSp::report_status(std::uint32_t entries) {
  soc_.post(CcStatus{number_, entries});
}

void TopSp::report_failure(const ncfw::Failure& failure) {
  ErrorRecord e;
  e.source = Source::TopSp;
  e.code = from_firmware(failure.code);
  e.context = context();
  e.block = number_;
  e.index = failure.entry;
  e.unit = failure.unit;
  e.address = failure.address;
  e.value = failure.value;
  e.target = failure.target;
  soc_.post(e);
}

}  // namespace sdmacc::model
