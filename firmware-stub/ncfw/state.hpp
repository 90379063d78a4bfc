// SPDX-License-Identifier: MIT
// Where each thing that the firmware reads or keeps lies in the TOP_SP's RAM, as typed fields for
// Context. The layouts are those of algo.h, topsp.h and ncfw.h; ProgressTail is private.
//
// The state that a restart needs is: the progress block, algo_ctx, ProgressTail, and the SLOT
// windows. A coroutine stores what it is going to wait for before it waits, so whenever none of
// them runs the memory says all.
//
// ring_ctx: recv_cnt and send_credit count modulo 2^16 and are only shown, never compared. step
// stops at 3.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libuapi/abi/algo.h"
#include "libuapi/abi/ncfw.h"
#include "libuapi/abi/topsp.h"

namespace sdmacc::ncfw {

// Follows the progress block in the DRAM image. All of it is set when an image is loaded, or
// cleared when a run begins.
struct ProgressTail {
  std::uint64_t slot_base;  // SoC address of the image's SLOT section
  std::uint32_t slot_bytes;
  std::uint32_t mesh_repeat;     // repeats left of the mesh list's item, as ring_ctx.repeat_cnt
  std::uint32_t completions[4];  // INCs of progress.completion[i] in this run
};
static_assert(sizeof(ProgressTail) == 32);
static_assert(sizeof(ProgressTail::completions) / 4 == SDMACC_COMPLETION_ADDRESSES);
inline constexpr std::uint32_t kTail = sizeof(sdmacc_ncfw_progress);
static_assert(SDMACC_NCFW_PROGRESS_V2 + kTail + sizeof(ProgressTail) <= SDMACC_DRAM_IMAGE_BYTES_V2);
static_assert(SDMACC_NCFW_PROGRESS_V3 + kTail + sizeof(ProgressTail) <= SDMACC_DRAM_IMAGE_BYTES_V3);

inline constexpr std::uint32_t kDispatcherWait =
    SDMACC_NCFW_WAITS - 1;  // wait[] of the dispatcher and the mesh
inline constexpr std::uint32_t kNoUnit = 0xffffffffu;

enum class Region : std::uint8_t { Dram, Progress, AlgoCtx, Algo, Neff, Ctrl, Slot };

template <typename T>
struct Field {
  Region region;
  std::uint32_t offset;
};

namespace field {

#define SDMACC_FIELD(region, base, type, member)                                \
  Field<decltype(type::member)> {                                               \
    Region::region, (base) + static_cast<std::uint32_t>(offsetof(type, member)) \
  }

using Progress = sdmacc_ncfw_progress;
inline constexpr auto kMagic = SDMACC_FIELD(Progress, 0, Progress, magic);
inline constexpr auto kState = SDMACC_FIELD(Progress, 0, Progress, state);
inline constexpr auto kImage = SDMACC_FIELD(Progress, 0, Progress, image);
inline constexpr auto kEntry = SDMACC_FIELD(Progress, 0, Progress, entry);
inline constexpr auto kRuns = SDMACC_FIELD(Progress, 0, Progress, runs);
inline constexpr auto kChannelsLeft = SDMACC_FIELD(Progress, 0, Progress, channels_left);
inline constexpr auto kChannelsDone = SDMACC_FIELD(Progress, 0, Progress, channels_done);
inline constexpr auto kLocalExpected = SDMACC_FIELD(Progress, 0, Progress, local_expected);
inline constexpr auto kMeshWindow = SDMACC_FIELD(Progress, 0, Progress, mesh_slot_window);
inline constexpr auto kMeshIndex = SDMACC_FIELD(Progress, 0, Progress, mesh_slot_idx);
inline constexpr auto kMeshStep = SDMACC_FIELD(Progress, 0, Progress, mesh_step);

inline constexpr auto kSlotBase = SDMACC_FIELD(Progress, kTail, ProgressTail, slot_base);
inline constexpr auto kSlotBytes = SDMACC_FIELD(Progress, kTail, ProgressTail, slot_bytes);
inline constexpr auto kMeshRepeat = SDMACC_FIELD(Progress, kTail, ProgressTail, mesh_repeat);

using Neff = sdmacc_neff_configs;
inline constexpr auto kTriggerNext = SDMACC_FIELD(Neff, 0, Neff, trigger_next);
inline constexpr auto kComplete = SDMACC_FIELD(Neff, 0, Neff, complete);
inline constexpr auto kCompletePrev = SDMACC_FIELD(Neff, 0, Neff, complete_prev);
inline constexpr auto kOpNum = SDMACC_FIELD(Neff, 0, Neff, op_num);

#undef SDMACC_FIELD

inline constexpr Field<std::uint16_t> kEventIndex{Region::AlgoCtx, SDMACC_CTX_MESH};

constexpr Field<sdmacc_ncfw_wait> wait(std::uint32_t slot) {
  return {Region::Progress,
          static_cast<std::uint32_t>(offsetof(Progress, wait) + slot * sizeof(sdmacc_ncfw_wait))};
}
constexpr Field<std::uint64_t> completion(std::uint32_t i) {
  return {Region::Progress, static_cast<std::uint32_t>(offsetof(Progress, completion) + 8 * i)};
}
constexpr Field<std::uint32_t> completions(std::uint32_t i) {
  return {Region::Progress,
          static_cast<std::uint32_t>(kTail + offsetof(ProgressTail, completions) + 4 * i)};
}
constexpr Field<std::uint32_t> dispatch(std::uint32_t algo_type) {
  return {Region::Dram, SDMACC_DRAM_DISPATCH_TABLE + 4 * algo_type};
}
constexpr Field<sdmacc_ring_ctx> ring_ctx(std::uint32_t channel) {
  return {Region::AlgoCtx,
          static_cast<std::uint32_t>(SDMACC_CTX_RING + channel * sizeof(sdmacc_ring_ctx))};
}
constexpr Field<sdmacc_ring_channel> ring_channel(std::uint32_t channel) {
  return {Region::Algo, static_cast<std::uint32_t>(SDMACC_ALGO_RING_OFFSET +
                                                   channel * sizeof(sdmacc_ring_channel))};
}
constexpr Field<sdmacc_mesh_event> mesh_event(std::uint32_t event) {
  return {Region::Algo,
          static_cast<std::uint32_t>(SDMACC_ALGO_MESH_OFFSET + event * sizeof(sdmacc_mesh_event))};
}
constexpr Field<sdmacc_ctrl_entry> ctrl(std::uint32_t entry) {
  return {Region::Ctrl, static_cast<std::uint32_t>(entry * sizeof(sdmacc_ctrl_entry))};
}
constexpr Field<std::uint64_t> slot_word(std::uint32_t list, std::uint32_t word) {
  return {Region::Slot, list * 1024 + 8 * word};
}

}  // namespace field
}  // namespace sdmacc::ncfw
