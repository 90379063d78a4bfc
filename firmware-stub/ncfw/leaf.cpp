// SPDX-License-Identifier: MIT
// Leaf primitives: wait, signal, snapshot, doorbell. Entry points: the members of Leaf.
#include "firmware-stub/ncfw/leaf.hpp"

namespace sdmacc::ncfw {
namespace {

constexpr int kSnapshotTries = 4;  // a host that writes all the time is not waited for

}  // namespace

Checked<void> store(Port& port, std::uint64_t address, std::uint32_t value) {
  if (!port.write(address, &value, sizeof value)) return refuse(Code::Access, address, value);
  return {};
}

Checked<void> signal(Port& port, std::uint64_t semaphore, std::uint32_t amount) {
  switch (port.signal(semaphore, amount)) {
    case Port::Signal::Ok:
      return {};
    case Port::Signal::Refused:
      return refuse(Code::Access, semaphore, amount);
    case Port::Signal::Wrap:
      return refuse(Code::SemaphoreWrap, semaphore, amount);
  }
  return {};
}

Checked<std::uint64_t> snapshot(Port& port, std::uint64_t address) {
  std::uint32_t lo = 0, hi = 0, again = 0;
  for (int tries = 0; tries < kSnapshotTries; ++tries) {
    if (!port.read(address + 4, &hi, 4) || !port.read(address, &lo, 4) ||
        !port.read(address + 4, &again, 4))
      return refuse(Code::Access, address, 0);
    if (hi == again) break;
  }
  return std::uint64_t{hi} << 32 | lo;
}

Leaf::Check<void> Leaf::fire(const Broadcast& queue, std::uint32_t m2s, std::uint32_t s2m) {
  Port& port = sequencer_.ram.port();
  if (m2s == 0 && s2m == 0) return check(Checked<void>{});
  if (auto first = store(port, queue.s2m_page + SDMACC_Q_TAIL_INC, s2m); !first)
    return check(std::move(first));
  return check(store(port, queue.m2s_page + SDMACC_Q_TAIL_INC, m2s));
}

bool Leaf::park(const SemaphoreWait& what, std::coroutine_handle<> self) {
  Context& ram = sequencer_.ram;
  if (ram.refused() != 0) {
    fail({Code::Access, 0, kNoUnit, ram.refused(), 0, 0});
    return true;
  }
  if (what.count == 0) {
    fail({Code::ZeroWait, 0, kNoUnit, what.address, 0, 1});
    return true;
  }
  ram.store(field::wait(slot_), {what.address, what.count << what.shift, 0});
  bool refused = false;
  if (ram.port().wait(what, self, &refused)) return false;
  if (refused) fail({Code::Access, 0, kNoUnit, what.address, 0, what.count});
  return true;  // parked: nothing of the coroutine may be touched here
}

void Leaf::fail(Failure failure) {
  failure.entry = sequencer_.ram.load(field::kEntry);
  if (failure.unit == kNoUnit) failure.unit = unit_;
  sequencer_.fail(failure);
}

}  // namespace sdmacc::ncfw
