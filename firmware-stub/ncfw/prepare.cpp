// SPDX-License-Identifier: MIT
// What a run does before its first entry: load the image when it is not current, reset the
// contexts, re-arm the queues it uses. Entry: prepare().
#include <algorithm>
#include <array>
#include <bit>

#include "firmware-stub/ncfw/leaf.hpp"
#include "firmware-stub/ncfw/mesh.hpp"

namespace sdmacc::ncfw {
namespace {

using Header = sdmacc_image_header;

// A part lies behind the header and inside the image; all parts are read in 8-byte words.
Checked<void> check_part(std::uint64_t image, const Header& header, std::size_t field,
                         const sdmacc_image_part& part, std::uint32_t least, std::uint32_t most) {
  const std::uint64_t at = image + field;
  if (part.offset < sizeof(Header) || part.offset > header.size || part.offset % 8 != 0)
    return refuse(Code::BadImage, at, part.offset, header.size);
  if (part.size > header.size - part.offset)
    return refuse(Code::BadImage, at + 4, part.size, header.size - part.offset);
  if (part.size < least || part.size > most || part.size % 8 != 0)
    return refuse(Code::BadImage, at + 4, part.size, part.size < least ? least : most);
  return {};
}

Checked<Header> read_header(const Context& ram, std::uint64_t image) {
  const std::uint64_t config = ram.local_register(ram.arch().csr_config_lo);
  if (image == 0) return refuse(Code::BadImage, config, image);
  Header header{};
  if (!ram.port().read(image, &header, sizeof header))
    return refuse(Code::Access, image, sizeof header);
  const auto equal = [&](std::size_t offset, std::uint64_t value,
                         std::uint64_t wanted) -> Checked<void> {
    if (value != wanted) return refuse(Code::BadImage, image + offset, value, wanted);
    return {};
  };
  SDMACC_NCFW_CHECK(equal(offsetof(Header, magic), header.magic, SDMACC_IMAGE_MAGIC));
  SDMACC_NCFW_CHECK(equal(offsetof(Header, version), header.version, SDMACC_IMAGE_VERSION));
  SDMACC_NCFW_CHECK(equal(offsetof(Header, reserved), header.reserved, 0));
  SDMACC_NCFW_CHECK(equal(offsetof(Header, reserved2), header.reserved2, 0));
  constexpr std::uint32_t kAny = 0xffffffffu, kNeff = sizeof(sdmacc_neff_configs);
  const std::uint32_t algo = ram.arch().algo_bytes;
  const auto part = [&](std::size_t offset, const sdmacc_image_part& p, std::uint32_t least,
                        std::uint32_t most) {
    return check_part(image, header, offset, p, least, most);
  };
  SDMACC_NCFW_CHECK(part(offsetof(Header, ctrl), header.ctrl, 8, SDMACC_CTRL_SPAD_BYTES));
  SDMACC_NCFW_CHECK(part(offsetof(Header, slot), header.slot, 0, kAny));
  SDMACC_NCFW_CHECK(part(offsetof(Header, algo), header.algo, algo, algo));
  SDMACC_NCFW_CHECK(part(offsetof(Header, neff), header.neff, kNeff, kNeff));
  SDMACC_NCFW_CHECK(part(offsetof(Header, level), header.level, 0, kAny));
  return header;
}

Checked<void> load_image(Context& ram, std::uint64_t image) {
  const auto header = read_header(ram, image);
  if (!header) return tl::unexpected<Failure>(header.error());
  const auto copy = [&](Region region, const sdmacc_image_part& part,
                        std::uint32_t room) -> Checked<void> {
    const std::uint32_t bytes = std::min(part.size, room);
    SDMACC_NCFW_CHECK(ram.copy_in(region, 0, image + part.offset, bytes));
    ram.clear(region, bytes, room - bytes);
    return {};
  };
  ram.store(field::kImage, 0);
  SDMACC_NCFW_CHECK(copy(Region::Ctrl, header->ctrl, SDMACC_CTRL_SPAD_BYTES));
  SDMACC_NCFW_CHECK(copy(Region::Slot, header->slot, SDMACC_SLOT_SPAD_BYTES));
  SDMACC_NCFW_CHECK(copy(Region::Algo, header->algo, header->algo.size));
  SDMACC_NCFW_CHECK(copy(Region::Neff, header->neff, header->neff.size));
  ram.store(field::kSlotBase, image + header->slot.offset);
  ram.store(field::kSlotBytes, header->slot.size);
  const auto op_num = read_op_num(ram);
  if (!op_num) return tl::unexpected<Failure>(op_num.error());
  if (*op_num > header->ctrl.size / sizeof(sdmacc_ctrl_entry))
    return refuse(Code::BadCtrl, ram.address(field::kOpNum), *op_num,
                  header->ctrl.size / sizeof(sdmacc_ctrl_entry));
  ram.store(field::kImage, image);
  return {};
}

void reset_contexts(Context& ram) {
  ram.clear(Region::AlgoCtx, 0, SDMACC_CTX_BYTES);
  ram.store(field::kChannelsLeft, 0);
  ram.store(field::kChannelsDone, 0);
  ram.store(field::kLocalExpected, 0);
  ram.store(field::kMeshStep, 0);
  for (std::uint32_t i = 0; i < SDMACC_COMPLETION_ADDRESSES; ++i) {
    ram.store(field::completion(i), 0);
    ram.store(field::completions(i), 0);
  }
}

// The queues of a run, each once.
class Queues {
 public:
  Queues(const Context& ram, std::vector<Broadcast>& queues) : ram_(ram), queues_(queues) {
    queues_.clear();
  }

  // One page has one mask: it is stored in the broadcast block, not sent with the doorbell.
  Checked<void> add(const Broadcast& queue, std::uint64_t mask_at, std::uint32_t unit) {
    const auto same = std::find_if(queues_.begin(), queues_.end(), [&](const Broadcast& other) {
      return other.m2s_page == queue.m2s_page;
    });
    if (same == queues_.end()) {
      queues_.push_back(queue);
    } else if (same->mask != queue.mask) {
      return refuse(Code::BadConfig, mask_at, queue.mask, same->mask, unit);
    }
    return {};
  }

  Checked<void> add_channels(std::uint32_t algo_type, std::uint32_t list, bool mesh_too) {
    for (; list != 0; list &= list - 1) {
      const auto index = static_cast<std::uint32_t>(std::countr_zero(list));
      const auto channel = read_channel(ram_, index, algo_type);
      if (!channel) return tl::unexpected<Failure>(channel.error());
      const std::uint64_t at = ram_.address(field::ring_channel(index));
      if (mesh_too && channel->list == kMeshList)
        return refuse(Code::BadConfig, at + offsetof(sdmacc_ring_channel, spad_slot_idx),
                      channel->list, kMeshList + 1, index);
      if (channel->role == Channel::Role::Secondary) continue;
      SDMACC_NCFW_CHECK(
          add(channel->queue,
              at + offsetof(sdmacc_ring_channel, apb) + offsetof(sdmacc_apb_bcast, mask), index));
    }
    return {};
  }

  Checked<void> add_tape() {
    for (std::uint32_t index = 0;; ++index) {
      const auto event = read_event(ram_, index);
      if (!event) return tl::unexpected<Failure>(event.error());
      for (std::uint32_t i = 0; i < event->broadcasts; ++i)
        SDMACC_NCFW_CHECK(add(event->broadcast[i],
                              ram_.address(field::mesh_event(index)) +
                                  i * sizeof(sdmacc_apb_bcast) + offsetof(sdmacc_apb_bcast, mask),
                              index));
      if (event->sync) return {};
    }
  }

  // Head and tail 0, ring id 1 again, on both sides of every engine.
  Checked<void> rearm() const {
    Port& port = ram_.port();
    for (const Broadcast& queue : queues_) {
      SDMACC_NCFW_CHECK(store(port, queue.m2s_page + SDMACC_Q_BCAST_MASK, queue.mask));
      SDMACC_NCFW_CHECK(
          store(port, queue.s2m_page + SDMACC_Q_S2M_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE));
      SDMACC_NCFW_CHECK(
          store(port, queue.m2s_page + SDMACC_Q_M2S_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE));
    }
    return {};
  }

 private:
  const Context& ram_;
  std::vector<Broadcast>& queues_;
};

Checked<void> rearm_queues(Sequencer& s) {
  Context& ram = s.ram;
  const auto op_num = read_op_num(ram);
  if (!op_num) return tl::unexpected<Failure>(op_num.error());
  std::array<std::uint32_t, SDMACC_CTRL_ALGO_MASK + 1> channels{};  // by algo_type
  bool mesh = false;
  for (std::uint32_t entry = 0; entry < *op_num; ++entry) {
    ram.store(field::kEntry, entry);
    const auto ctrl = read_ctrl(ram, entry, *op_num);
    if (!ctrl) return tl::unexpected<Failure>(ctrl.error());
    if (!ctrl->cc_op) continue;
    const std::uint32_t handler = handler_id(ram, ctrl->algo_type);
    if (handler == SDMACC_HANDLER_MESH) {
      SDMACC_NCFW_CHECK(check_mesh_ctrl(ram, *ctrl));
      mesh = true;
    } else if (handler == SDMACC_HANDLER_RING) {
      SDMACC_NCFW_CHECK(check_ring_ctrl(ram, *ctrl));
      channels[ctrl->algo_type] |= ctrl->channel_list;
    }
  }
  ram.store(field::kEntry, 0);
  Queues queues(ram, s.queues);
  for (std::uint32_t algo_type = 0; algo_type < channels.size(); ++algo_type)
    SDMACC_NCFW_CHECK(queues.add_channels(algo_type, channels[algo_type], mesh));
  if (mesh) SDMACC_NCFW_CHECK(queues.add_tape());
  return queues.rearm();
}

}  // namespace

Checked<void> prepare(Sequencer& s) {
  Context& ram = s.ram;
  ram.store(field::kState, SDMACC_NCFW_LOADING);
  ram.store(field::kEntry, 0);
  const auto image = snapshot(ram.port(), ram.local_register(ram.arch().csr_config_lo));
  if (!image) return tl::unexpected<Failure>(image.error());
  if (*image == 0 || *image != ram.load(field::kImage)) {
    SDMACC_NCFW_CHECK(load_image(ram, *image));
    save_mesh_list(ram, List(ram, kMeshList, List::start(kMeshList)));
  }
  List list = mesh_list(ram);
  SDMACC_NCFW_CHECK(list.rewind());
  save_mesh_list(ram, list);
  reset_contexts(ram);
  return rearm_queues(s);
}

}  // namespace sdmacc::ncfw
