// SPDX-License-Identifier: MIT
// World and FakePort: semaphores with the strict compare, queues, scheduler. Entry points:
// World::boot(), trigger(), run().
#include "selftests/ncfw/fake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sdmacc::ncfw {

std::string to_string(const Action& action) {
  static constexpr const char* kNames[] = {"store", "signal", "status"};
  return fmt::format("{} {:#x} {}", kNames[static_cast<int>(action.kind)], action.address,
                     action.value);
}

World::World(const sdmacc_generation& arch, std::uint32_t count, const Options& options)
    : arch_(arch), options_(options), random_(options.seed.value_or(0)) {
  for (std::uint32_t i = 0; i < count; ++i) {
    rams_.push_back(std::make_unique<std::byte[]>(SDMACC_RAM_USED));
    topsps.push_back({std::make_unique<FakePort>(*this, i), nullptr, {}, {}, 0});
    topsps[i].firmware = std::make_unique<Firmware>(*topsps[i].port, arch_, i);
  }
}

World::~World() {
  for (auto& topsp : topsps) topsp.firmware.reset();  // while the ports work
}

void World::boot() {
  for (auto& topsp : topsps) topsp.firmware->boot();
}

void World::restart(std::uint32_t topsp) {
  topsps[topsp].firmware.reset();
  topsps[topsp].firmware = std::make_unique<Firmware>(*topsps[topsp].port, arch_, topsp);
  topsps[topsp].firmware->restart();
}

void World::configure(std::uint32_t topsp, std::uint64_t image) {
  const std::uint64_t core = sdmacc_soc_topsp(&arch_, topsp) + SDMACC_TOPSP_CORE;
  registers_[core + arch_.csr_config_lo] = static_cast<std::uint32_t>(image);
  registers_[core + arch_.csr_config_hi] = static_cast<std::uint32_t>(image >> 32);
  topsps[topsp].firmware->forget_image();
}

std::size_t World::run(std::size_t actions) {
  std::size_t done = 0;
  for (; done < actions && !(ready_.empty() && work_.empty()); ++done) {
    std::size_t pick = 0;
    if (options_.seed) {
      pick =
          std::uniform_int_distribution<std::size_t>(0, ready_.size() + work_.size() - 1)(random_);
    }
    if (pick < ready_.size()) {
      const Ready ready = ready_[pick];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(pick));
      ready.handle.resume();
    } else {
      // Steps of one queue take effect in order.
      pick -= ready_.size();
      const std::uint64_t page = work_[pick].page;
      const auto first = std::find_if(work_.begin(), work_.end(),
                                      [&](const Work& work) { return work.page == page; });
      const Work work = *first;
      work_.erase(first);
      perform(work);
    }
  }
  return done;
}

bool World::exists(std::uint64_t semaphore) const {
  for (std::uint32_t i = 0; i < topsps.size(); ++i)
    if (semaphore >= sem(i, 0) && semaphore <= sem(i, SDMACC_SEMAPHORES - 1))
      return !refused.contains(semaphore);
  return false;
}

bool World::take(const SemaphoreWait& wait) {
  auto& value = semaphores_[wait.address].value;
  if (((value >> wait.shift) & wait.mask) <= wait.count - 1)
    return false;  // released when value > target
  value -= wait.count << wait.shift;
  return true;
}

void World::wake(Semaphore& semaphore) {
  while (!semaphore.waiters.empty() && take(semaphore.waiters.front().wait)) {
    const Waiter waiter = semaphore.waiters.front();
    semaphore.waiters.pop_front();
    ready_.push_back({waiter.topsp, waiter.handle, waiter.wait});
  }
}

void World::inc(std::uint64_t semaphore, std::uint32_t amount) {
  semaphores_[semaphore].value += amount;
  wake(semaphores_[semaphore]);
}

std::string World::residue() const {
  std::string text;
  for (const auto& [address, semaphore] : semaphores_)
    if (semaphore.value != 0) text += fmt::format("{:#x}: {}\n", address, semaphore.value);
  return text;
}

std::byte* World::find(std::uint64_t address, std::size_t bytes) {
  if (address >= kMemoryBase && address + bytes <= kMemoryBase + memory.size())
    return memory.data() + (address - kMemoryBase);
  for (std::uint32_t i = 0; i < topsps.size(); ++i) {
    const std::uint64_t base = ram_address(i, 0);
    if (address >= base && address + bytes <= base + SDMACC_RAM_USED)
      return ram_of(i) + (address - base);
  }
  return nullptr;
}

void World::store(std::uint32_t topsp, std::uint64_t address, std::uint32_t value) {
  topsps[topsp].trace.push_back({Action::Kind::Store, address, value});
  const std::uint64_t page = address & ~std::uint64_t{0xfff};
  const auto complain = [&](const char* what) {
    complaints.push_back(fmt::format("{:#x}: {}", address, what));
  };
  auto found = queues.find(page);
  const bool m2s = found != queues.end();
  if (!m2s) found = queues.find(page - SDMACC_S2M_OFFSET);
  if (found == queues.end()) return complain("no such queue");
  Queue& queue = found->second;
  switch (address & 0xfff) {
    case SDMACC_Q_BCAST_MASK:
      queue.mask = value;
      break;
    case SDMACC_Q_S2M_SWCTRL:
    case SDMACC_Q_M2S_SWCTRL:
      if (m2s != ((address & 0xfff) == SDMACC_Q_M2S_SWCTRL)) complain("re-arm of the wrong side");
      if (value != SDMACC_SWCTRL_RESET_QUEUE) complain("not a re-arm");
      if (queue.mask == 0) complain("re-arm before the mask");
      if (queue.m2s_armed + queue.s2m_armed != 0) complain("re-arm of a busy queue");
      if (queue.position != 0 && queue.position != queue.steps.size())
        complain("re-arm in mid-ring");
      if (m2s) queue.position = 0;
      queue.rearmed |= m2s ? 1u : 2u;
      break;
    case SDMACC_Q_TAIL_INC:
      if (queue.rearmed != 3) complain("doorbell without a re-arm of both sides");
      (m2s ? queue.m2s_armed : queue.s2m_armed) += value;
      if (m2s && queue.s2m_armed == 0) complain("M2S before S2M");
      if (m2s) ring_doorbell(found->first, queue);
      break;
    default:
      complain("no such register");
  }
}

void World::ring_doorbell(std::uint64_t page, Queue& queue) {
  if (queue.position == queue.steps.size()) {
    complaints.push_back(fmt::format("{:#x}: more doorbells than steps", page));
    return;
  }
  const Queue::Step& step = queue.steps[queue.position];
  if (queue.m2s_armed != step.m2s || queue.s2m_armed != step.s2m)
    complaints.push_back(fmt::format("{:#x}: step {} armed {}, {}", page, queue.position,
                                     queue.m2s_armed, queue.s2m_armed));
  queue.m2s_armed = queue.s2m_armed = 0;
  const Work work{page, queue.position++};
  if (queue.position == queue.steps.size()) queue.rearmed = 0;
  if (options_.deferred)
    work_.push_back(work);
  else
    perform(work);
}

void World::perform(const Work& work) {
  for (const auto& [semaphore, amount] : queues[work.page].steps[work.step].signals)
    inc(semaphore, amount);
}

bool FakePort::read(std::uint64_t address, void* to, std::size_t bytes) {
  if (world_.refused.contains(address)) return false;
  if (const std::byte* from = world_.find(address, bytes)) {
    std::memcpy(to, from, bytes);
    return true;
  }
  const auto found = world_.registers_.find(address);
  if (found == world_.registers_.end() || bytes != 4) return false;
  std::memcpy(to, &found->second, 4);
  return true;
}

bool FakePort::write(std::uint64_t address, const void* from, std::size_t bytes) {
  if (world_.refused.contains(address)) return false;
  if (std::byte* to = world_.find(address, bytes)) {
    std::memcpy(to, from, bytes);
    return true;
  }
  if (bytes != 4) return false;
  std::uint32_t value;
  std::memcpy(&value, from, 4);
  world_.store(topsp_, address, value);
  return true;
}

std::span<std::byte> FakePort::local_ram() {
  if (!world_.options_.own_span) return {};
  return {world_.ram_of(topsp_), SDMACC_RAM_USED};
}

Port::Signal FakePort::signal(std::uint64_t read_address, std::uint32_t amount) {
  if (!world_.exists(read_address)) return Signal::Refused;
  if (world_.value(read_address) > 0xffffffffu - amount) return Signal::Wrap;
  world_.topsps[topsp_].trace.push_back({Action::Kind::Signal, read_address, amount});
  world_.inc(read_address, amount);
  return Signal::Ok;
}

bool FakePort::wait(const SemaphoreWait& wait, std::coroutine_handle<> waiter, bool* refused) {
  if (!world_.exists(wait.address)) {
    *refused = true;
    return false;
  }
  if (world_.take(wait)) {
    if (!world_.options_.always_park) return true;
    world_.ready_.push_back({topsp_, waiter, wait});
  } else {
    world_.semaphores_[wait.address].waiters.push_back({topsp_, wait, waiter});
  }
  return false;
}

void FakePort::spawn(std::coroutine_handle<> task) {
  world_.ready_.push_back({topsp_, task, std::nullopt});
}

void FakePort::forget_all() {
  for (auto& [address, semaphore] : world_.semaphores_)
    std::erase_if(semaphore.waiters,
                  [&](const World::Waiter& waiter) { return waiter.topsp == topsp_; });
  for (const World::Ready& ready : world_.ready_)
    if (ready.topsp == topsp_ && ready.released && world_.options_.give_back)
      world_.semaphores_[ready.released->address].value += ready.released->count
                                                           << ready.released->shift;
  std::erase_if(world_.ready_, [&](const World::Ready& ready) { return ready.topsp == topsp_; });
}

void FakePort::report_status(std::uint32_t entries) {
  world_.topsps[topsp_].trace.push_back({Action::Kind::Status, 0, entries});
  ++world_.topsps[topsp_].statuses;
  if (world_.on_status) world_.on_status();
}

void FakePort::report_failure(const Failure& failure) {
  world_.topsps[topsp_].failures.push_back(failure);
}

}  // namespace sdmacc::ncfw
