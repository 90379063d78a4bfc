// SPDX-License-Identifier: MIT
// Executes a packet: reaches its operands through the queue's view, moves or reduces the bytes, or
// writes a register. Nothing is written unless every operand was reached. Entry point:
// Executor::run().
#pragma once

#include "firmware-stub/model/counters.hpp"
#include "firmware-stub/model/packet.hpp"

namespace sdmacc::model {

class Soc;

class Executor {
 public:
  Executor(Soc& soc, View& view, LiveCounters& counters)
      : soc_(soc), view_(view), counters_(counters) {}

  // False: fault() says why. A memory fault may leave the destinations partly written.
  bool run(const Packet& packet);
  const Fault& fault() const { return fault_; }

 private:
  struct Place {
    Side side;
    std::uint32_t number;  // of the operand on its side
  };
  static const Operand& operand(const Packet& p, Place at);

  bool reach(const Packet& p, Place at, Reach* out);
  bool reach_memory(const Packet& p, Place at, std::byte** out);
  bool copy(const Packet& p);
  bool copy_register(const Packet& p, const Reach& from, const Reach& to);
  bool replicate(const Packet& p);
  bool compute(const Packet& p);
  bool apart(const Packet& p);
  template <typename Move>
  bool move(const Packet& p, Move&& what);
  bool refuse(const Packet& p, Place at, const Refusal& why);

  Soc& soc_;
  View& view_;
  LiveCounters& counters_;
  bool may_fault_ = false;  // some operand is host memory
  std::array<std::byte*, cce::kMaxSources> from_;
  std::array<std::byte*, cce::kMaxDestinations> to_;
  Fault fault_;
};

}  // namespace sdmacc::model
