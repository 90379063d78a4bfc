// SPDX-License-Identifier: MIT
// The builders of program.hpp. Entry points: Ring::set_up(), Mesh::set_up().
#include "selftests/ncfw/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "libuapi/abi/enums.h"

namespace sdmacc::ncfw {
namespace {

template <typename T>
void append(std::vector<std::byte>& bytes, const T* data, std::size_t count) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + count * sizeof(T));
}

std::uint32_t ring_sem(std::uint32_t channel, std::uint32_t which) {
  return SDMACC_SEM_FIRST_FREE + 4 * channel + which;
}
enum RingSem : std::uint32_t { kRecv, kSend, kDone, kMine };

sdmacc_apb_bcast broadcast(std::uint64_t page, std::uint32_t engines) {
  return {sdmacc_u64_make(page + SDMACC_Q_TAIL_INC),
          sdmacc_u64_make(page + SDMACC_S2M_OFFSET + SDMACC_Q_TAIL_INC),
          sdmacc_bcast_mask((1u << engines) - 1, 0)};
}

}  // namespace

std::vector<std::uint64_t> Program::slot_section() const {
  std::vector<std::uint64_t> section;
  if (lists.empty()) return section;
  section.resize((lists.rbegin()->first + 1) * SDMACC_SLOT_WINDOW_WORDS);
  for (const auto& [list, words] : lists) {
    std::size_t window = list * SDMACC_SLOT_WINDOW_WORDS;
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t left = words.size() - at;
      const std::size_t now = left <= window_words ? left : window_words;
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(at), now,
                  section.begin() + static_cast<std::ptrdiff_t>(window));
      at += now;
      if (at == words.size()) break;
      section[window + now] = SDMACC_SLOT_CONTINUE;
      section[window + now + 1] = section.size() * 8;
      window = section.size();
      section.resize(section.size() + SDMACC_SLOT_WINDOW_WORDS);
    }
  }
  return section;
}

std::vector<std::byte> Program::image(const sdmacc_generation& arch) const {
  sdmacc_image_header header{};
  header.magic = SDMACC_IMAGE_MAGIC;
  header.version = SDMACC_IMAGE_VERSION;
  std::vector<std::byte> bytes(sizeof header);
  const auto part = [&bytes](sdmacc_image_part& entry, const auto& fill) {
    entry.offset = static_cast<std::uint32_t>(bytes.size());
    fill();
    entry.size = static_cast<std::uint32_t>(bytes.size()) - entry.offset;
    bytes.resize((bytes.size() + 15) / 16 * 16);
  };
  part(header.ctrl, [&] { append(bytes, ctrl.data(), ctrl.size()); });
  part(header.slot, [&] {
    const auto section = slot_section();
    append(bytes, section.data(), section.size());
  });
  part(header.algo, [&] {
    const std::size_t start = bytes.size();
    append(bytes, channels.data(), channels.size());
    append(bytes, events.data(), events.size());
    bytes.resize(start + arch.algo_bytes);
  });
  part(header.neff, [&] { append(bytes, &neff, 1); });
  part(header.level, [] {});
  header.size = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

sdmacc_ctrl_entry ctrl_ring(std::uint32_t algo_type, std::uint32_t channels) {
  sdmacc_ctrl_entry entry{};
  entry.header = SDMACC_CTRL_CC_OP;
  entry.algo = sdmacc_ctrl_algo(algo_type, 0, 0);
  entry.u.channel_list = channels;
  return entry;
}

sdmacc_ctrl_entry ctrl_mesh(std::uint32_t shift, std::uint32_t mask) {
  sdmacc_ctrl_entry entry{};
  entry.header = SDMACC_CTRL_CC_OP;
  entry.algo = sdmacc_ctrl_algo(SDMACC_ALG_MESH, 0, 0);
  entry.u.mesh.sema_shift_offset = static_cast<std::uint16_t>(shift);
  entry.u.mesh.sema_mask = static_cast<std::uint16_t>(mask);
  return entry;
}

sdmacc_ctrl_entry ctrl_nop() {
  return {};
}

std::uint64_t end_word(std::uint64_t semaphore) {
  return semaphore + SDMACC_SEM_READ_TO_INC;
}

void chain(Program& program, const World& world, std::uint32_t rank, std::uint32_t count) {
  program.neff.op_num = static_cast<std::uint32_t>(program.ctrl.size());
  program.neff.trigger = world.sem(rank, SDMACC_SEM_TRIGGER);
  if (rank > 0) program.neff.complete_prev = world.sem(rank, SDMACC_SEM_COMPLETION);
  if (rank + 1 < count) {
    program.neff.trigger_next = world.sem(rank + 1, SDMACC_SEM_TRIGGER);
    program.neff.complete = world.sem(rank + 1, SDMACC_SEM_COMPLETION);
  }
  for (std::size_t i = 0; i + 1 < program.ctrl.size(); ++i)
    program.ctrl[i].algo |= SDMACC_CTRL_TRIGGER_NEXT;
  std::uint8_t& flags = program.ctrl.back().flags;
  if (rank > 0) flags |= SDMACC_CTRL_RING_WAIT_COMPLETE;
  flags |= rank + 1 < count ? SDMACC_CTRL_RING_SEND_COMPLETE : SDMACC_CTRL_REPORTER;
}

std::uint64_t place(World& world, std::uint32_t topsp, const Program& program) {
  const auto image = program.image(world.arch());
  const std::uint64_t address = kMemoryBase + 64 + world.memory.size();
  world.memory.resize(world.memory.size() + 64);
  world.memory.insert(world.memory.end(), image.begin(), image.end());
  world.configure(topsp, address);
  return address;
}

std::uint64_t Ring::page(const World& world, std::uint32_t rank, std::uint32_t channel) {
  const std::uint32_t core = rank % world.arch().cores;
  return sdmacc_soc_bcast(&world.arch(), core, 0, 4 * (rank / world.arch().cores) + channel, 0);
}

Queue::Step Ring::step(std::uint32_t k) const {
  if (idle_tail && k + 2 >= steps) return {};
  const std::uint32_t counts = 3 + k / 3 % 4;
  return {counts, counts + 1, {}};
}

Program Ring::program(const World& world, std::uint32_t rank) const {
  Program program;
  program.window_words = window_words;
  const std::uint32_t unit = rank / (1 + secondaries);
  for (std::uint32_t c = 0; c < channels; ++c) {
    sdmacc_ring_channel& channel = program.channels[c];
    const bool first = primary(unit, c) == rank;
    const auto address = [&](std::uint32_t of, RingSem which) {
      return sdmacc_u64_make(world.sem(of, ring_sem(c, which)));
    };
    channel.channel_id = static_cast<std::uint8_t>(c);
    channel.spad_slot_idx = static_cast<std::uint8_t>(list(c));
    channel.kangaring_num_peers = static_cast<std::uint8_t>(secondaries);
    channel.kangaring_is_primary = secondaries != 0 && first;
    channel.kring_mine = address(rank, kMine);
    auto& words = program.lists[list(c)];
    if (first) {
      channel.recv_sema = address(rank, kRecv);
      channel.send_sema = address(rank, kSend);
      channel.post_sema = address(primary((unit + units - 1) % units, c), kSend);
      channel.dma_compl = address(rank, kDone);
      channel.apb = broadcast(page(world, rank, c), engines);
      for (std::uint32_t m = 0, i = 0; m <= secondaries; ++m) {
        const std::uint32_t member = unit * (1 + secondaries) + m;
        if (member != rank) channel.kring_peers[i++] = address(member, kMine);
      }
      for (std::uint32_t k = 0; k < steps; ++k) {
        const Queue::Step now = step(k);
        const std::uint64_t word = sdmacc_slot_word(now.m2s, now.s2m, 1);
        if (repeat && !words.empty() && words.back() >> 32 == word >> 32)
          ++words.back();
        else
          words.push_back(word);
      }
    } else {
      channel.kring_peers[0] = address(primary(unit, c), kMine);
    }
    for (std::uint32_t i = 0; i < ends; ++i)
      words.push_back(end_word(world.sem(rank, kLocalDone + i)));
  }
  const std::uint32_t alg = secondaries != 0 ? SDMACC_ALG_KANGARING : SDMACC_ALG_RING;
  program.ctrl.assign(entries, ctrl_ring(alg, 0xffffffffu >> (SDMACC_RING_CHANNELS - channels)));
  chain(program, world, rank, ranks());
  return program;
}

void Ring::add_queues(World& world) const {
  for (std::uint32_t unit = 0; unit < units; ++unit)
    for (std::uint32_t c = 0; c < channels; ++c) {
      const std::uint32_t rank = primary(unit, c), next = primary((unit + 1) % units, c);
      Queue& queue = world.queues[page(world, rank, c)];
      for (std::uint32_t entry = 0; entry < entries; ++entry)
        for (std::uint32_t k = 0; k < steps; ++k) {
          Queue::Step now = step(k);
          if (now.m2s == 0) continue;
          if (k + 2 < steps) now.signals.push_back({world.sem(next, ring_sem(c, kRecv)), engines});
          for (std::uint32_t e = 0; e < engines; ++e)
            now.signals.push_back({world.sem(rank, ring_sem(c, kDone)), 1});
          queue.steps.push_back(now);
        }
    }
}

void Ring::set_up(World& world) const {
  world.boot();
  add_queues(world);
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) place(world, rank, program(world, rank));
}

Program Mesh::program(const World& world, std::uint32_t rank) const {
  constexpr std::uint32_t kReady = 20, kSync = 21;
  Program program;
  program.window_words = window_words;
  program.events.resize(3);
  sdmacc_mesh_event& hello = program.events[0];
  hello.event_type = SDMACC_MESH_EV_LOCAL_HNDSHK;
  for (std::uint32_t other = 0; other < ranks; ++other)
    if (other != rank)
      hello.direct_trigger_sema[hello.direct_trigger++] = sdmacc_u64_make(world.sem(other, kReady));
  sdmacc_mesh_event& send = program.events[1];
  send.event_type = SDMACC_MESH_EV_REDUCE_COPY;
  send.wait_event = ranks > 1;
  send.event_wait_sema = sdmacc_u64_make(world.sem(rank, kReady));
  send.wait_val = ranks - 1;
  send.dma_trigger = static_cast<std::uint8_t>(broadcasts);
  for (std::uint32_t b = 0; b < broadcasts; ++b)
    send.bcast[b] = broadcast(Ring::page(world, rank, b), engines);
  sdmacc_mesh_event& sync = program.events[2];
  sync.event_type = SDMACC_MESH_EV_SYNC;
  sync.wait_event = 1;
  sync.event_wait_sema = sdmacc_u64_make(world.sem(rank, kSync));
  sync.wait_val = ranks * engines * broadcasts;
  auto& words = program.lists[0];
  for (std::uint32_t slice = 0; slice < slices; ++slice)
    for (std::uint32_t b = 0; b < broadcasts; ++b) {
      const std::uint32_t counts = repeat ? 4 : 4 + slice % 5 + b;
      if (repeat && !words.empty())
        ++words.back();
      else
        words.push_back(sdmacc_slot_word(counts, counts + 1, 1));
    }
  if (ends) words.push_back(end_word(world.sem(rank, kLocalDone)));
  program.ctrl.assign(slices, ctrl_mesh(shift, mask));
  chain(program, world, rank, ranks);
  return program;
}

void Mesh::set_up(World& world) const {
  constexpr std::uint32_t kSync = 21;
  world.boot();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    place(world, rank, program(world, rank));
    for (std::uint32_t slice = 0; slice < slices; ++slice)
      for (std::uint32_t b = 0; b < broadcasts; ++b) {
        const std::uint32_t counts = repeat ? 4 : 4 + slice % 5 + b;
        Queue::Step step{counts, counts + 1, {}};
        for (std::uint32_t to = 0; to < ranks; ++to)
          step.signals.push_back({world.sem(to, kSync), engines << shift});
        world.queues[Ring::page(world, rank, b)].steps.push_back(step);
      }
  }
}

std::string trouble(const World& world, std::uint32_t runs) {
  std::string text = world.residue();
  for (const auto& complaint : world.complaints) text += complaint + "\n";
  for (std::size_t i = 0; i < world.topsps.size(); ++i) {
    const auto& topsp = world.topsps[i];
    const auto progress = world.progress(static_cast<std::uint32_t>(i));
    for (const Failure& failure : topsp.failures)
      text += fmt::format("{}: {} entry {} unit {} address {:#x} value {:#x} target {:#x}\n", i,
                          name(failure.code), failure.entry, failure.unit, failure.address,
                          failure.value, failure.target);
    const std::uint32_t statuses = i + 1 == world.topsps.size() ? runs : 0;
    if (topsp.statuses != statuses)
      text += fmt::format("{}: {} statuses, not {}\n", i, topsp.statuses, statuses);
    if (progress.runs != runs) text += fmt::format("{}: {} runs, not {}\n", i, progress.runs, runs);
    if (progress.state != SDMACC_NCFW_IDLE)
      text += fmt::format("{}: in state {}\n", i, progress.state);
  }
  for (const auto& [page, queue] : world.queues)
    if (queue.position != queue.steps.size())
      text +=
          fmt::format("queue {:#x}: at step {} of {}\n", page, queue.position, queue.steps.size());
  return text;
}

}  // namespace sdmacc::ncfw
