// SPDX-License-Identifier: MIT
// The order of work: front and back, stealing, pushes of running work, taking work away.
#include "firmware-stub/model/scheduler.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

namespace sdmacc::model {
namespace {

struct Item final : Work {
  Item(std::string n, std::string* l) : name(std::move(n)), log(l) {}
  Next run() override {
    *log += name;
    if (action) action();
    return remaining-- > 0 ? next : Next::Done;
  }
  using Work::Next;

  std::string name;
  std::string* log;
  std::function<void()> action;
  int remaining = 0;
  Next next = Next::Back;
};

class Schedulers : public testing::Test {
 protected:
  void drain(unsigned worker = 0) {
    while (scheduler.pump(worker)) {
    }
  }

  std::string log;
  Scheduler scheduler{3};
  Item a{"a", &log}, b{"b", &log}, c{"c", &log}, d{"d", &log};
};

TEST_F(Schedulers, NewWorkToTheBackReleasedWorkToTheFront) {
  scheduler.push(a, End::Back);
  scheduler.push(b, End::Back);
  a.action = [&] {
    scheduler.push(d, End::Back);
    scheduler.push(c, End::Front);
  };
  EXPECT_FALSE(scheduler.idle());
  drain();
  EXPECT_EQ(log, "acbd");
  EXPECT_TRUE(scheduler.idle());
  EXPECT_FALSE(scheduler.pump(0));
}

TEST_F(Schedulers, WhatWasReleasedLastRunsFirst) {
  a.action = [&] {
    scheduler.push(b, End::Front);
    scheduler.push(c, End::Front);
  };
  scheduler.push(a, End::Back);
  drain();
  EXPECT_EQ(log, "acb");
}

TEST_F(Schedulers, QueuedWorkIsQueuedOnceAndMovesToTheFront) {
  for (Item* i : {&a, &b, &c}) scheduler.push(*i, End::Back);
  scheduler.push(a, End::Back);
  scheduler.push(c, End::Front);
  drain();
  EXPECT_EQ(log, "cab");
}

TEST_F(Schedulers, MoreToDo) {
  a.remaining = 2;
  scheduler.push(a, End::Back);
  scheduler.push(b, End::Back);
  drain();
  EXPECT_EQ(log, "abaa");
  log.clear();
  a.remaining = 2;
  a.next = Item::Next::Front;
  scheduler.push(a, End::Back);
  scheduler.push(b, End::Back);
  drain();
  EXPECT_EQ(log, "aaab");
}

TEST_F(Schedulers, APushOfRunningWorkRunsItAgain) {
  int times = 0;
  a.action = [&] {
    if (times++ == 0) scheduler.push(a, End::Back);
  };
  scheduler.push(a, End::Back);
  scheduler.push(b, End::Back);
  drain();
  EXPECT_EQ(log, "aba");
  log.clear();
  times = 0;
  a.action = [&] {
    if (times++ > 0) return;
    scheduler.push(a, End::Back);
    scheduler.push(a, End::Front);
    scheduler.push(a, End::Back);
  };
  scheduler.push(a, End::Back);
  scheduler.push(b, End::Back);
  drain();
  EXPECT_EQ(log, "aab");
}

TEST_F(Schedulers, EachWorkerHasItsListAndStealsFromTheBackOfOthers) {
  a.action = [&] {
    EXPECT_TRUE(scheduler.on_worker());
    scheduler.push(b, End::Back);
    scheduler.push(c, End::Back);
  };
  EXPECT_FALSE(scheduler.on_worker());
  scheduler.push(a, End::Back);
  ASSERT_TRUE(scheduler.pump(2));  // takes a from worker 0; b and c are worker 2's
  scheduler.push(d, End::Back);    // worker 0's
  ASSERT_TRUE(scheduler.pump(2));
  EXPECT_EQ(log, "ab");
  ASSERT_TRUE(scheduler.pump(0));
  EXPECT_EQ(log, "abd");
  scheduler.push(b, End::Back);
  a.action = [&] { scheduler.push(d, End::Back); };
  scheduler.push(a, End::Back);
  ASSERT_TRUE(scheduler.pump(
      1));  // worker 2 has c, worker 0 has b and a: the next worker is looked at first
  EXPECT_EQ(log, "abdc");
  ASSERT_TRUE(scheduler.pump(1));
  EXPECT_EQ(log, "abdca");
  drain(1);
  EXPECT_EQ(log, "abdcadb");
}

TEST_F(Schedulers, SaysWhenWorkAppears) {
  std::vector<std::size_t> seen;
  scheduler.on_work = [&](std::size_t runnable) { seen.push_back(runnable); };
  scheduler.push(a, End::Back);
  scheduler.push(a, End::Back);
  scheduler.push(b, End::Back);
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2}));
  drain();
  scheduler.take(a);
  scheduler.push(a, End::Back);
  EXPECT_EQ(seen.size(), 2u);
  scheduler.give_back(a);
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 1}));
}

TEST_F(Schedulers, TakenWorkDoesNotRunAndIsNotLost) {
  scheduler.push(a, End::Back);
  scheduler.take(a);
  EXPECT_TRUE(scheduler.on_worker());
  EXPECT_FALSE(scheduler.idle());
  EXPECT_FALSE(scheduler.pump(1));
  scheduler.push(b, End::Back);
  scheduler.give_back(a);
  EXPECT_FALSE(scheduler.on_worker());
  drain();
  EXPECT_EQ(log, "ba");
}

TEST_F(Schedulers, TakingWaitsForTheWorker) {
  std::atomic<bool> inside = false, leave = false, left = false;
  a.action = [&] {
    inside = true;
    while (!leave) std::this_thread::yield();
    left = true;
  };
  scheduler.push(a, End::Back);
  std::thread worker([&] { scheduler.pump(1); });
  while (!inside) std::this_thread::yield();
  std::thread releaser([&] { leave = true; });
  scheduler.take(a);
  EXPECT_TRUE(left);
  scheduler.give_back(a);
  worker.join();
  releaser.join();
  EXPECT_TRUE(scheduler.idle());
}

}  // namespace
}  // namespace sdmacc::model
