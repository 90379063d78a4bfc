// SPDX-License-Identifier: MIT
// Mesh handler: walks the tape of events in algo_configs up to SYNC. Entry: mesh_entry().
//
// The only thing it waits for is an event's semaphore; event_index and the list's cursor, both in
// memory, say which and what follows.
#include "firmware-stub/ncfw/mesh.hpp"
#include "firmware-stub/ncfw/leaf.hpp"
#include "libuapi/abi/enums.h"

namespace sdmacc::ncfw {
namespace {

enum Step : std::uint16_t { kWait = 0, kFire = 1, kSignal = 2 };  // progress.mesh_step

Checked<Event> read_checked(const Context& ram, const Ctrl& ctrl, std::uint32_t index) {
  auto event = read_event(ram, index);
  if (event) SDMACC_NCFW_CHECK(check_mesh_wait(ram, ctrl, *event));
  return event;
}

}  // namespace

List mesh_list(Context& ram) {
  return List(
      ram, kMeshList,
      {ram.load(field::kMeshWindow), ram.load(field::kMeshIndex), ram.load(field::kMeshRepeat)});
}

void save_mesh_list(Context& ram, const List& list) {
  ram.store(field::kMeshWindow, list.cursor().window);
  ram.store(field::kMeshIndex, static_cast<std::uint16_t>(list.cursor().index));
  ram.store(field::kMeshRepeat, list.cursor().repeat);
}

Task mesh_entry(Sequencer& s, Ctrl ctrl) {
  Context& ram = s.ram;
  Leaf leaf(s, kDispatcherWait, kNoUnit);
  co_await leaf.check(check_mesh_ctrl(ram, ctrl));
  List list = mesh_list(ram);
  for (bool synced = false; !synced;) {
    const std::uint32_t index = ram.load(field::kEventIndex);
    leaf.set_unit(index);
    const Event event = co_await leaf.check(read_checked(ram, ctrl, index));
    ram.store(field::kMeshStep, kWait);
    co_await leaf.breathe();
    if (event.waits) co_await leaf.wait({event.wait, event.wait_val, ctrl.shift, ctrl.mask});

    ram.store(field::kMeshStep, kFire);
    for (std::uint32_t i = 0; i < event.broadcasts; ++i) {
      const List::Step step = co_await leaf.check(list.next());
      co_await leaf.fire(event.broadcast[i], step.m2s, step.s2m);
    }
    ram.store(field::kMeshStep, kSignal);
    for (std::uint32_t i = 0; i < event.signals; ++i)
      co_await leaf.signal(event.signal[i], 1u << ctrl.shift);
    synced = event.sync;
    if (synced && co_await leaf.check(list.at_end())) {
      const List::Ends ends = co_await leaf.check(list.ends());
      co_await leaf.check(complete_locally(ram, ends));
    }
    save_mesh_list(ram, list);
    ram.store(field::kEventIndex, static_cast<std::uint16_t>(event.index + 1));
  }
}

}  // namespace sdmacc::ncfw
