// SPDX-License-Identifier: MIT
// ring_order: who follows whom in a ring of units, which member of a unit is its primary in a
// channel, and which block a place handles at each step of the walk. Pure arithmetic; a plain ring
// is one of units of one rank.
#pragma once

#include <cstdint>

#include "daemon/world/types.hpp"

namespace sdmacc::pattern {

// Channels 0, 1 of each four go round the ring forwards, 2, 3 backwards, so both directions of
// every link are used.
constexpr bool forward(std::uint32_t channel) {
  return channel % 4 < 2;
}

// One channel's ring over `ranks` ranks in units of 1 + secondaries consecutive ranks. `place` is a
// unit's position in the direction of travel, `unit` its number by rank; the block of data that a
// unit owns has the unit's number.
struct RingOrder {
  std::uint32_t ranks = 1, secondaries = 0, channel = 0;

  constexpr std::uint32_t unit_size() const { return 1 + secondaries; }
  constexpr std::uint32_t units() const { return ranks / unit_size(); }
  constexpr std::uint32_t unit_at(std::uint32_t place) const {
    const std::uint32_t p = place % units();
    return forward(channel) ? p : units() - 1 - p;
  }
  constexpr std::uint32_t place_of(std::uint32_t unit) const {
    return unit_at(unit);
  }  // an involution
  constexpr Rank member(std::uint32_t unit, std::uint32_t i) const {
    return unit * unit_size() + i;
  }
  // The primary alternates with the channel, so that each member carries its share of the traffic
  // between units.
  constexpr Rank primary(std::uint32_t unit) const { return member(unit, channel % unit_size()); }
  constexpr Rank next(std::uint32_t place) const { return primary(unit_at(place + 1)); }
  constexpr Rank previous(std::uint32_t place) const {
    return primary(unit_at(place + units() - 1));
  }
  // Reduce-scatter step t = 0 … units − 1: the block that the unit at `place` sends on, or at the
  // last step owns.
  constexpr std::uint32_t reduce_block(std::uint32_t place, std::uint32_t t) const {
    return unit_at(place + 2 * units() - 1 - t);
  }
  // All-gather step t = 1 … units − 1: the block that the unit at `place` received last and passes
  // on.
  constexpr std::uint32_t gather_block(std::uint32_t place, std::uint32_t t) const {
    return unit_at(place + units() - t);
  }
};

}  // namespace sdmacc::pattern
