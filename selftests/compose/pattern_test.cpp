// SPDX-License-Identifier: MIT
// The arithmetic under the algorithms: partition() covers exactly and evenly, RingOrder is one ring
// in which every block visits every unit.
#include <gtest/gtest.h>

#include <set>

#include "daemon/compose/pattern/partition.hpp"
#include "daemon/compose/pattern/ring_order.hpp"

namespace sdmacc::pattern {
namespace {

static_assert(piece({100, 7}, 3, 0) == Piece{100, 2} && piece({100, 7}, 3, 1) == Piece{102, 2} &&
              piece({100, 7}, 3, 2) == Piece{104, 3});
static_assert(piece({0, 5}, 3, 0) == Piece{0, 2} && piece({0, 5}, 3, 2) == Piece{4, 1});
static_assert(piece({0, 100}, 3, 0) == Piece{0, 32} && piece({0, 100}, 3, 2) == Piece{64, 36});
static_assert(piece({0, 0}, 4, 3) == Piece{0, 0});
static_assert(slice_count(0, 2, 10) == 0 && slice_count(1, 2, 10) == 1);
static_assert(slice_count(20, 2, 10) == 1 && slice_count(21, 2, 10) == 2);

TEST(Partition, PiecesCoverExactlyEvenlyAndAligned) {
  for (std::uint64_t parts = 1; parts <= 33; ++parts)
    for (std::uint64_t count = 0; count <= 4096; ++count) {
      const Piece whole{64, count};
      const std::uint64_t align = alignment(count, parts);
      std::uint64_t at = whole.first, least = count, most = 0;
      for (std::uint64_t i = 0; i < parts; ++i) {
        const Piece p = piece(whole, parts, i);
        ASSERT_EQ(p.first, at) << count << " in " << parts << ", piece " << i;
        at = p.end();
        least = std::min(least, p.count);
        most = std::max(most, p.count);
        if (i + 1 < parts) {
          ASSERT_EQ(p.count % align, 0u) << count << " in " << parts;
        }
      }
      ASSERT_EQ(at, whole.end()) << count << " in " << parts;
      ASSERT_LE(most - least, align) << count << " in " << parts;
      // The preference holds wherever it can.
      ASSERT_TRUE(align == kAlignment || count < 2 * align * parts) << count << " in " << parts;
      ASSERT_TRUE(count < parts || least > 0) << count << " in " << parts;
    }
}

TEST(Partition, LargeCountsDoNotOverflow) {
  const Piece whole{0, 1ull << 60};
  EXPECT_EQ(piece(whole, 3, 2).end(), whole.count);
  EXPECT_EQ(slice_count(~0ull, 1, 1ull << 60), 16u);
}

TEST(RingOrder, EveryUnitHasOneNextAndOnePrevious) {
  for (const std::uint32_t s : {0u, 1u, 3u})
    for (std::uint32_t units = 1; units <= 17; ++units)
      for (std::uint32_t channel = 0; channel < 8; ++channel) {
        const RingOrder order{units * (1 + s), s, channel};
        std::set<Rank> nexts;
        for (std::uint32_t place = 0; place < units; ++place) {
          const Rank me = order.primary(order.unit_at(place));
          ASSERT_EQ(order.place_of(order.unit_at(place)), place);
          ASSERT_EQ(order.previous((place + 1) % units), me);
          ASSERT_EQ(order.next((place + units - 1) % units), me);
          ASSERT_EQ(me % (1 + s), channel % (1 + s)) << "the primary alternates with the channel";
          nexts.insert(order.next(place));
        }
        ASSERT_EQ(nexts.size(), units);
        if (units > 2) {
          const std::uint32_t step = forward(channel) ? 1 : units - 1;
          ASSERT_EQ(order.unit_at(1), (order.unit_at(0) + step) % units);
        }
      }
}

TEST(RingOrder, BlocksFollowTheRingAndEndWithTheirOwner) {
  for (std::uint32_t units = 2; units <= 17; ++units)
    for (std::uint32_t channel = 0; channel < 4; ++channel) {
      const RingOrder order{units, 0, channel};
      for (std::uint32_t place = 0; place < units; ++place) {
        const std::uint32_t next = (place + 1) % units;
        std::set<std::uint32_t> reduced;
        for (std::uint32_t t = 0; t < units; ++t) {
          reduced.insert(order.reduce_block(place, t));
          if (t + 1 < units) {
            ASSERT_EQ(order.reduce_block(place, t), order.reduce_block(next, t + 1));
          }
        }
        ASSERT_EQ(reduced.size(), units);
        ASSERT_EQ(order.reduce_block(place, units - 1), order.unit_at(place));
        ASSERT_EQ(order.gather_block(next, 1), order.unit_at(place)) << "the owner's block goes on";
        for (std::uint32_t t = 1; t + 1 < units; ++t) {
          ASSERT_EQ(order.gather_block(place, t), order.gather_block(next, t + 1));
        }
      }
    }
}

}  // namespace
}  // namespace sdmacc::pattern
