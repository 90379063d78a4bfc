// SPDX-License-Identifier: MIT
// Workers: no call is missed, stop ends everything.
#include "daemon/device/workers.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sdmacc::device {
namespace {

// One item at a time, each taken before the next is offered: every wake() must reach somebody,
// awake or asleep.
TEST(Workers, NoCallIsMissed) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    std::atomic<int> items = 0, done = 0;
    Workers workers;
    workers.start(threads, [&](unsigned) {
      int have = items.load();
      while (have > 0 && !items.compare_exchange_weak(have, have - 1)) {
      }
      if (have == 0) return false;
      ++done;
      return true;
    });
    for (int i = 1; i <= 2000; ++i) {
      ++items;
      workers.wake();
      if (i % 100 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(100));  // they fall asleep
      while (done < i) std::this_thread::yield();
    }
    workers.stop();
    EXPECT_EQ(done, 2000);
  }
}

TEST(Workers, StopJoinsSleepersAndBusyOnes) {
  std::atomic<bool> busy = false;
  Workers workers;
  workers.start(3, [&](unsigned worker) {
    if (worker == 0) busy = true;
    return worker == 0;  // the others sleep
  });
  while (!busy) std::this_thread::yield();
  workers.stop();
  workers.stop();
}

TEST(Workers, NoneIsFine) {
  Workers workers;
  workers.start(0, [](unsigned) { return true; });
  workers.wake();
}

}  // namespace
}  // namespace sdmacc::device
