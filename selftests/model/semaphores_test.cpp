// SPDX-License-Identifier: MIT
// EVT_SEM: the four windows, events, overflow, and parked waits in order of arrival.
#include "firmware-stub/model/semaphores.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sdmacc::model {
namespace {

using Result = EventSemaphores::Result;

struct Waiter final : EventSemaphores::Waiter {
  Waiter(std::string n, std::string* l, std::uint32_t c, std::uint32_t s = 0,
         std::uint32_t m = 0xffffffff)
      : name(std::move(n)), log(l) {
    count = c;
    shift = s;
    mask = m;
  }
  void release() override { *log += name; }
  std::string name;
  std::string* log;
};

class Semaphores : public testing::Test {
 protected:
  void write(std::uint32_t offset, std::uint32_t value) {
    std::uint32_t counter = 0;
    EXPECT_EQ(block.write(offset, value, &counter), Result::Ok) << std::hex << offset;
  }
  std::uint32_t read(std::uint32_t offset) {
    std::uint32_t value = 77;
    EXPECT_EQ(block.read(offset, &value), Result::Ok) << std::hex << offset;
    return value;
  }

  EventSemaphores block;
  std::string log;
};

TEST_F(Semaphores, FourWindowsOfOneArray) {
  for (const std::uint32_t id : {0u, 1u, 100u, 255u}) {
    write(SDMACC_SEM_SET + 4 * id, 40 + id);
    write(SDMACC_SEM_INC + 4 * id, 3);
    write(SDMACC_SEM_DEC + 4 * id, 1);
    EXPECT_EQ(read(SDMACC_SEM_READ + 4 * id), 42 + id);
    EXPECT_EQ(block.value(id), 42 + id);
    write(SDMACC_SEM_READ + 4 * id, 9);
    EXPECT_EQ(block.value(id), 42 + id) << "READ is read-only";
    for (const std::uint32_t w : {SDMACC_SEM_SET, SDMACC_SEM_INC, SDMACC_SEM_DEC})
      EXPECT_EQ(read(w + 4 * id), 0u);
  }
  EXPECT_EQ(block.value(2), 0u);
}

TEST_F(Semaphores, EventsAreOneBit) {
  write(4 * 9, 0xff);
  EXPECT_EQ(read(4 * 9), 1u);
  write(4 * 9, 2);
  EXPECT_EQ(read(4 * 9), 0u);
  EXPECT_EQ(read(4 * 10), 0u);
}

TEST_F(Semaphores, NothingBetweenEventsAndCounters) {
  std::uint32_t value = 0;
  for (const std::uint32_t offset : {0x400u, 0xffcu, 0x2000u}) {
    EXPECT_EQ(block.read(offset, &value), Result::NoRegister) << std::hex << offset;
    EXPECT_EQ(block.write(offset, 1, &value), Result::NoRegister) << std::hex << offset;
  }
}

TEST_F(Semaphores, ACounterThatWouldWrapIsNotChanged) {
  block.set(5, 0xfffffff0);
  std::uint32_t counter = 0;
  EXPECT_EQ(block.write(SDMACC_SEM_INC + 20, 16, &counter), Result::Wraps);
  EXPECT_EQ(counter, 0xfffffff0u);
  EXPECT_EQ(block.value(5), 0xfffffff0u);
  EXPECT_TRUE(block.add(5, 15));
  EXPECT_EQ(block.value(5), 0xffffffffu);
  EXPECT_FALSE(block.add(5, 1));
  block.set(6, 3);
  EXPECT_EQ(block.write(SDMACC_SEM_DEC + 24, 4, &counter), Result::Wraps);
  EXPECT_EQ(counter, 3u);
  EXPECT_EQ(block.value(6), 3u);
  EXPECT_TRUE(block.subtract(6, 3));
}

TEST_F(Semaphores, AWaitReleasesAboveItsTargetAndSubtracts) {
  Waiter w("a", &log, 3);
  block.set(1, 2);
  EXPECT_FALSE(block.wait(1, w));
  EXPECT_EQ(block.waiting(1), 1u);
  EXPECT_EQ(log, "");
  block.add(1, 1);
  EXPECT_EQ(log, "a");
  EXPECT_EQ(block.value(1), 0u);
  EXPECT_EQ(block.waiting(1), 0u);
  block.set(1, 7);
  EXPECT_TRUE(block.wait(1, w)) << "satisfied at once";
  EXPECT_EQ(block.value(1), 4u);
}

TEST_F(Semaphores, AWaitSeesItsFieldOnly) {
  Waiter w("a", &log, 2, 8, 0xff);
  block.set(1, 0x20001ff);
  EXPECT_FALSE(block.wait(1, w)) << "field is 1, above it and below it more";
  block.add(1, 1 << 8);
  EXPECT_EQ(log, "a");
  EXPECT_EQ(block.value(1), 0x20000ffu);
}

TEST_F(Semaphores, SetAndSubtractWakeToo) {
  Waiter w("a", &log, 5);
  EXPECT_FALSE(block.wait(1, w));
  block.set(1, 5);
  EXPECT_EQ(log, "a");
  Waiter field("b", &log, 1, 0, 0xff);
  block.set(2, 0x100);
  EXPECT_FALSE(block.wait(2, field));
  block.subtract(2, 1);
  EXPECT_EQ(log, "ab");
  EXPECT_EQ(block.value(2), 0xfeu);
}

TEST_F(Semaphores, OneChangeReleasesAllThatItSatisfiesOldestFirst) {
  Waiter a("a", &log, 2), b("b", &log, 9), c("c", &log, 1), d("d", &log, 1);
  for (Waiter* w : {&a, &b, &c, &d}) EXPECT_FALSE(block.wait(1, *w));
  block.add(1, 3);
  // Called last is run first: each goes to the front of a worker's list.
  EXPECT_EQ(log, "ca");
  EXPECT_EQ(block.value(1), 0u);
  EXPECT_EQ(block.waiting(1), 2u);
  block.add(1, 10);
  EXPECT_EQ(log, "cadb");
  EXPECT_EQ(block.value(1), 0u);
}

TEST_F(Semaphores, WaitsOnOtherCountersStay) {
  Waiter a("a", &log, 1), b("b", &log, 1);
  EXPECT_FALSE(block.wait(1, a));
  EXPECT_FALSE(block.wait(2, b));
  block.add(2, 1);
  EXPECT_EQ(log, "b");
  EXPECT_EQ(block.waiting(1), 1u);
}

TEST_F(Semaphores, ForgettingAWait) {
  Waiter a("a", &log, 1), b("b", &log, 1);
  EXPECT_FALSE(block.wait(1, a));
  EXPECT_FALSE(block.wait(1, b));
  EXPECT_TRUE(block.forget(1, a));
  EXPECT_FALSE(block.forget(1, a));
  block.add(1, 5);
  EXPECT_EQ(log, "b");
  EXPECT_EQ(block.value(1), 4u);
  EXPECT_FALSE(block.forget(1, b)) << "released already";
}

TEST_F(Semaphores, ClearKeepsWaits) {
  Waiter a("a", &log, 1);
  block.set(1, 0);
  EXPECT_FALSE(block.wait(1, a));
  block.set(9, 4);
  write(0, 1);
  block.clear();
  EXPECT_EQ(block.value(9), 0u);
  EXPECT_EQ(read(0), 0u);
  EXPECT_EQ(block.waiting(1), 1u);
}

}  // namespace
}  // namespace sdmacc::model
