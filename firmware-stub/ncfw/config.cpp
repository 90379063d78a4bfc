// SPDX-License-Identifier: MIT
// Reads and checks CTRL entries, ring channels and mesh events. Entry points: read_ctrl,
// read_channel, read_event.
#include "firmware-stub/ncfw/config.hpp"

#include <bit>

#include "libuapi/abi/enums.h"

namespace sdmacc::ncfw {
namespace {

// The 1 KiB windows of an EVT_SEM block; blocks are 8 KiB aligned.
constexpr std::uint64_t kWindowMask = 0x1c03;
constexpr std::uint64_t kPageMask = 0xfff;
constexpr std::uint32_t kFlags =
    SDMACC_CTRL_REPORTER | SDMACC_CTRL_RING_WAIT_COMPLETE | SDMACC_CTRL_RING_SEND_COMPLETE;

bool is_read_window(std::uint64_t address) {
  return (address & kWindowMask) == SDMACC_SEM_READ;
}

// Checks fields of one struct in RAM; remembers the first that is wrong.
class Checker {
 public:
  Checker(Code code, std::uint64_t at, std::uint32_t unit) : code_(code), at_(at), unit_(unit) {}

  void require(bool good, std::size_t offset, std::uint64_t value, std::uint64_t target) {
    if (!good && failure_.code == Code::None)
      failure_ = Failure{code_, 0, unit_, at_ + offset, value, target};
  }
  void at_most(std::size_t offset, std::uint64_t value, std::uint64_t bound) {
    require(value <= bound, offset, value, bound);
  }
  void equal(std::size_t offset, std::uint64_t value, std::uint64_t wanted) {
    require(value == wanted, offset, value, wanted);
  }
  std::uint64_t semaphore(std::size_t offset, sdmacc_u64 field) {
    const std::uint64_t address = sdmacc_u64_get(field);
    require(is_read_window(address), offset, address, SDMACC_SEM_READ);
    return address;
  }
  Broadcast broadcast(std::size_t offset, const sdmacc_apb_bcast& field) {
    const std::uint64_t m2s = sdmacc_u64_get(field.m2s_tail), s2m = sdmacc_u64_get(field.s2m_tail);
    require((m2s & kPageMask) == SDMACC_Q_TAIL_INC, offset + offsetof(sdmacc_apb_bcast, m2s_tail),
            m2s, SDMACC_Q_TAIL_INC);
    equal(offset + offsetof(sdmacc_apb_bcast, s2m_tail), s2m, m2s + SDMACC_S2M_OFFSET);
    require((field.mask & 0xffffu) == SDMACC_BCAST_ENABLE && sdmacc_bcast_engines(field.mask) != 0,
            offset + offsetof(sdmacc_apb_bcast, mask), field.mask, SDMACC_BCAST_ENABLE);
    return {m2s & ~kPageMask, s2m & ~kPageMask, field.mask};
  }

  template <typename T>
  Checked<T> result(const T& value) const {
    if (failure_.code != Code::None) return tl::unexpected<Failure>(failure_);
    return value;
  }

 private:
  Code code_;
  std::uint64_t at_;
  std::uint32_t unit_;
  Failure failure_{};
};

}  // namespace

Checked<std::uint32_t> read_op_num(const Context& ram) {
  const std::uint32_t op_num = ram.load(field::kOpNum);
  if (op_num == 0 || op_num > SDMACC_CTRL_ENTRIES)
    return refuse(Code::BadCtrl, ram.address(field::kOpNum), op_num, SDMACC_CTRL_ENTRIES);
  return op_num;
}

Checked<Ctrl> read_ctrl(const Context& ram, std::uint32_t entry, std::uint32_t op_num) {
  if (entry >= op_num) return refuse(Code::BadCtrl, ram.address(field::kEntry), entry, op_num);
  const sdmacc_ctrl_entry raw = ram.load(field::ctrl(entry));
  Checker check(Code::BadCtrl, ram.address(field::ctrl(entry)), kNoUnit);
  check.at_most(offsetof(sdmacc_ctrl_entry, header), raw.header, SDMACC_CTRL_CC_OP);
  check.require((raw.flags & ~kFlags) == 0, offsetof(sdmacc_ctrl_entry, flags), raw.flags, kFlags);
  check.equal(offsetof(sdmacc_ctrl_entry, reserved), raw.reserved, 0);
  Ctrl ctrl;
  ctrl.entry = entry;
  ctrl.cc_op = raw.header & SDMACC_CTRL_CC_OP;
  ctrl.algo_type = raw.algo & SDMACC_CTRL_ALGO_MASK;
  ctrl.flags = raw.flags;
  ctrl.channel_list = raw.u.channel_list;
  ctrl.shift = raw.u.mesh.sema_shift_offset;
  ctrl.mask = raw.u.mesh.sema_mask;
  if (ctrl.cc_op) {
    const bool goes_on = raw.algo & SDMACC_CTRL_TRIGGER_NEXT;
    check.require(goes_on == (entry + 1 < op_num), offsetof(sdmacc_ctrl_entry, algo), raw.algo,
                  entry + 1 < op_num ? SDMACC_CTRL_TRIGGER_NEXT : 0);
  }
  return check.result(ctrl);
}

Checked<Channel> read_channel(const Context& ram, std::uint32_t index, std::uint32_t algo_type) {
  using Raw = sdmacc_ring_channel;
  const Raw raw = ram.load(field::ring_channel(index));
  Checker check(Code::BadConfig, ram.address(field::ring_channel(index)), index);
  Channel channel;
  channel.index = index;
  check.equal(offsetof(Raw, channel_id), raw.channel_id, index);
  check.at_most(offsetof(Raw, spad_slot_idx), raw.spad_slot_idx, SDMACC_SLOT_LISTS - 1);
  channel.list = raw.spad_slot_idx;

  channel.peers = raw.kangaring_num_peers;
  const bool kangaring = algo_type == SDMACC_ALG_KANGARING;
  check.require(kangaring ? channel.peers == 1 || channel.peers == 3 : channel.peers == 0,
                offsetof(Raw, kangaring_num_peers), channel.peers, kangaring ? 1 : 0);
  check.at_most(offsetof(Raw, kangaring_is_primary), raw.kangaring_is_primary, kangaring ? 1 : 0);
  if (kangaring) {
    channel.role = raw.kangaring_is_primary ? Channel::Role::Primary : Channel::Role::Secondary;
    channel.mine = check.semaphore(offsetof(Raw, kring_mine), raw.kring_mine);
    const std::uint32_t used = raw.kangaring_is_primary ? channel.peers : 1;
    for (std::uint32_t i = 0; i < used && i < SDMACC_KRING_PEERS; ++i)
      channel.peer[i] = check.semaphore(offsetof(Raw, kring_peers) + 8 * i, raw.kring_peers[i]);
  }
  if (channel.role != Channel::Role::Secondary) {
    channel.recv = check.semaphore(offsetof(Raw, recv_sema), raw.recv_sema);
    channel.send = check.semaphore(offsetof(Raw, send_sema), raw.send_sema);
    channel.post = check.semaphore(offsetof(Raw, post_sema), raw.post_sema);
    channel.done = check.semaphore(offsetof(Raw, dma_compl), raw.dma_compl);
    channel.queue = check.broadcast(offsetof(Raw, apb), raw.apb);
    channel.engines = static_cast<std::uint32_t>(std::popcount(sdmacc_bcast_engines(raw.apb.mask)));
  }
  return check.result(channel);
}

Checked<Event> read_event(const Context& ram, std::uint32_t index) {
  using Raw = sdmacc_mesh_event;
  if (index >= ram.arch().mesh_events)
    return refuse(Code::BadConfig, ram.address(field::kEventIndex), index, ram.arch().mesh_events,
                  index);
  const Raw raw = ram.load(field::mesh_event(index));
  Checker check(Code::BadConfig, ram.address(field::mesh_event(index)), index);
  Event event;
  event.index = index;
  event.sync = raw.event_type == SDMACC_MESH_EV_SYNC;
  check.require(sdmacc_name_mesh_event(raw.event_type) != nullptr, offsetof(Raw, event_type),
                raw.event_type, SDMACC_MESH_EV_N - 1);
  check.at_most(offsetof(Raw, dma_trigger), raw.dma_trigger, event.sync ? 0 : 2);
  check.at_most(offsetof(Raw, direct_trigger), raw.direct_trigger, event.sync ? 0 : 3);
  check.at_most(offsetof(Raw, wait_event), raw.wait_event, 1);
  event.broadcasts = raw.dma_trigger;
  event.signals = raw.direct_trigger;
  event.waits = raw.wait_event;
  for (std::uint32_t i = 0; i < event.broadcasts && i < event.broadcast.size(); ++i)
    event.broadcast[i] =
        check.broadcast(offsetof(Raw, bcast) + i * sizeof(sdmacc_apb_bcast), raw.bcast[i]);
  for (std::uint32_t i = 0; i < event.signals && i < event.signal.size(); ++i)
    event.signal[i] =
        check.semaphore(offsetof(Raw, direct_trigger_sema) + 8 * i, raw.direct_trigger_sema[i]);
  if (event.waits) {
    event.wait = check.semaphore(offsetof(Raw, event_wait_sema), raw.event_wait_sema);
    event.wait_val = raw.wait_val;
  }
  return check.result(event);
}

Checked<void> check_ring_ctrl(const Context& ram, const Ctrl& ctrl) {
  if (ctrl.channel_list == 0)
    return refuse(Code::BadCtrl,
                  ram.address(field::ctrl(ctrl.entry)) + offsetof(sdmacc_ctrl_entry, u),
                  ctrl.channel_list);
  return {};
}

Checked<void> check_mesh_ctrl(const Context& ram, const Ctrl& ctrl) {
  Checker check(Code::BadCtrl, ram.address(field::ctrl(ctrl.entry)), kNoUnit);
  check.at_most(4, ctrl.shift, 31);
  check.require(ctrl.mask != 0 && ctrl.mask <= 0xffffffffu >> (ctrl.shift & 31), 6, ctrl.mask,
                0xffffffffu >> (ctrl.shift & 31));
  SDMACC_NCFW_CHECK(check.result(true));
  return {};
}

Checked<void> check_mesh_wait(const Context& ram, const Ctrl& ctrl, const Event& event) {
  if (event.waits && event.wait_val > ctrl.mask)
    return refuse(
        Code::BadConfig,
        ram.address(field::mesh_event(event.index)) + offsetof(sdmacc_mesh_event, wait_val),
        event.wait_val, ctrl.mask, event.index);
  return {};
}

Checked<std::uint64_t> read_semaphore(const Context& ram, Field<std::uint64_t> field) {
  const std::uint64_t address = ram.load(field);
  if (!is_read_window(address))
    return refuse(Code::BadConfig, ram.address(field), address, SDMACC_SEM_READ);
  return address;
}

}  // namespace sdmacc::ncfw
