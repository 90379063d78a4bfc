// SPDX-License-Identifier: MIT
// PacketWriter: one step's data and semaphore writes as descriptors on the rings of one (rank,
// channel). Every engine gets the same number of descriptors; what an engine has no share of
// becomes padding of the same shape.
#pragma once

#include "daemon/emit/builder.hpp"

namespace sdmacc::emitter {

struct Counts {
  std::uint32_t m2s = 0, s2m = 0;  // of each engine
  bool operator==(const Counts&) const = default;
};

class PacketWriter {
 public:
  PacketWriter(Builder& builder, Rank rank, std::uint32_t channel);

  // The data of a Copy or Reduce; nothing for a Sync or an empty one. `index` is the step's place
  // in its lane.
  void data(const Step& step, std::uint32_t index);
  // Adds to a semaphore, after all data written so far: every engine does (once: only the first
  // does).
  void post(const Post& post, std::uint32_t index, std::uint32_t slice, bool once = false);
  // What was written since the last call.
  Counts take();

 private:
  struct Part {  // elements of a step's ranges
    std::uint64_t first = 0, count = 0;
  };
  void reduce(const Step& step);
  void copy(const Range& from, std::span<const Range> to);
  void reduce_packet(Ring& ring, const Step& step, std::size_t destinations, Part part,
                     bool padding);
  void copy_packet(Ring& ring, const Range& from, std::span<const Range> to, Part part,
                   bool padding);
  void put_destinations(Ring& ring, std::span<const Range> to, std::uint32_t bytes, Part part,
                        bool padding);
  void barrier();
  template <typename Packet>
  void for_each_packet(std::uint64_t count, std::uint64_t limit, Packet packet);
  Ring& ring(std::uint32_t engine) { return group_.rings[engine]; }
  std::uint32_t engine_of(const Ring& ring) const {
    return static_cast<std::uint32_t>(&ring - group_.rings.data());
  }
  void note_origin(Ring& ring, std::size_t first, std::uint32_t index, std::uint32_t slice);

  Builder& b_;
  Group& group_;
  const Rank rank_;
  const std::uint32_t channel_;
  const std::uint32_t element_;
  std::vector<std::size_t> last_packet_;  // M2S index of each engine's last data packet
  Counts taken_;
  bool dirty_ = false;  // data since the last barrier
};

}  // namespace sdmacc::emitter
