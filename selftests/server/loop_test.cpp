// SPDX-License-Identifier: MIT
// The event loop by itself: descriptors, timers, posts, pollers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "daemon/server/loop.hpp"

namespace sdmacc::server {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  wire::UniqueFd read, write;
};

class Loops : public testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = std::move(Loop::create().value());
  std::vector<std::string> log_;
};

TEST_F(Loops, TimersFireInOrderOfTimeThenOfCreation) {
  const auto now = Loop::Clock::now();
  loop_->at(now + 20ms, [&] {
    log_.push_back("late");
    loop_->stop();
  });
  loop_->at(now + 5ms, [&] { log_.push_back("early"); });
  loop_->at(now + 5ms, [&] { log_.push_back("early too"); });
  const auto cancelled = loop_->at(now + 10ms, [&] { log_.push_back("never"); });
  loop_->cancel(cancelled);
  loop_->cancel(cancelled);
  loop_->run();
  EXPECT_THAT(log_, ElementsAre("early", "early too", "late"));
  EXPECT_GE(Loop::Clock::now(), now + 20ms);
}

TEST_F(Loops, ATimerMayCancelTheNext) {
  const auto now = Loop::Clock::now();
  Loop::TimerId second = 0;
  loop_->at(now, [&] { loop_->cancel(second); });
  second = loop_->at(now, [&] { log_.push_back("never"); });
  loop_->at(now, [&] { loop_->stop(); });
  loop_->run();
  EXPECT_TRUE(log_.empty());
}

TEST_F(Loops, DescriptorsAreWatchedUntilUnwatched) {
  Pipe pipe;
  int calls = 0;
  Loop::WatchId watch = 0;
  watch = loop_
              ->watch(pipe.read.get(), EPOLLIN,
                      [&](std::uint32_t events) {
                        EXPECT_EQ(events, EPOLLIN);
                        if (++calls < 3) return;  // level-triggered: called again
                        loop_->unwatch(watch);
                        loop_->at(Loop::Clock::now() + 5ms, [&] { loop_->stop(); });
                      })
              .value();
  ASSERT_EQ(::write(pipe.write.get(), "x", 1), 1);
  loop_->run();
  EXPECT_EQ(calls, 3);
}

// Two descriptors are ready at once, and the first callback unwatches the second.
TEST_F(Loops, AnUnwatchedDescriptorIsNotCalledInTheSameRound) {
  Pipe pipes[2];
  Loop::WatchId watches[2] = {};
  int calls = 0;
  for (int i = 0; i < 2; ++i) {
    watches[i] = loop_
                     ->watch(pipes[i].read.get(), EPOLLIN,
                             [&, i](std::uint32_t) {
                               ++calls;
                               loop_->unwatch(watches[1 - i]);
                               loop_->unwatch(watches[i]);
                               loop_->stop();
                             })
                     .value();
    ASSERT_EQ(::write(pipes[i].write.get(), "x", 1), 1);
  }
  loop_->run();
  EXPECT_EQ(calls, 1);
}

TEST_F(Loops, WatchingABadDescriptorIsAnError) {
  const auto watch = loop_->watch(-1, EPOLLIN, [](std::uint32_t) {});
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().text(), "server: epoll_ctl: Bad file descriptor (system)");
}

TEST_F(Loops, PostsOfOneThreadStayInOrder) {
  constexpr int kThreads = 4, kPosts = 2000;
  std::vector<int> next(kThreads);
  std::atomic<int> left = kThreads * kPosts;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPosts; ++i) {
        loop_->post([&, t, i] {
          EXPECT_EQ(next[static_cast<std::size_t>(t)]++, i);
          if (--left == 0) loop_->stop();
        });
      }
    });
  }
  loop_->run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left, 0);
}

TEST_F(Loops, StopBeforeRunIsKept) {
  loop_->stop();
  loop_->run();
}

// A thread that writes a number as rings do: it wakes the loop only if that has said it sleeps.
class NumberPoller : public Poller {
 public:
  explicit NumberPoller(Loop& loop) : loop_(loop) {}
  void write() {
    ++written_;
    if (waiting_.exchange(false)) {
      ++wakes_;
      loop_.post([] {});
    }
  }
  bool poll() override {
    const int now = written_;
    return std::exchange(seen_, now) != now;
  }
  unsigned writers() const override { return 1; }
  bool arm() override {
    waiting_ = true;
    return written_ != seen_;
  }
  void disarm() override { waiting_ = false; }
  int seen() const { return seen_; }
  int wakes() const { return wakes_; }

 private:
  Loop& loop_;
  std::atomic<int> written_{0}, wakes_{0};
  std::atomic<bool> waiting_{false};
  int seen_ = 0;
};

TEST_F(Loops, PollersMissNothingAndAreWokenOnlyFromSleep) {
  NumberPoller poller(*loop_);
  loop_->add(poller);
  constexpr int kWrites = 20'000;
  std::thread writer([&] {
    for (int i = 1; i <= kWrites; ++i) {
      poller.write();
      if (i % 1000 == 0) std::this_thread::sleep_for(1ms);  // so that it sleeps now and then
    }
    while (true) {
      std::atomic<bool> all = false, asked = false;
      loop_->post([&] {
        all = poller.seen() == kWrites;
        asked = true;
      });
      while (!asked) std::this_thread::yield();
      if (all) break;
    }
    loop_->stop();
  });
  loop_->run();
  writer.join();
  EXPECT_EQ(poller.seen(), kWrites);
  EXPECT_LT(poller.wakes(), kWrites / 2);
  loop_->remove(poller);
}

TEST(Spin, BudgetFollowsSuccess) {
  wire::SpinBudget budget(64us);
  EXPECT_EQ(budget.next(), 64us);
  for (int i = 0; i < 8; ++i) budget.failed();
  EXPECT_LT(budget.next(), 1us);
  int until_probe = 0;
  while (budget.next() != 64us) {
    ASSERT_LT(++until_probe, 100);
    budget.failed();
  }
  budget.failed();  // a probe that finds nothing costs once
  EXPECT_LT(budget.next(), 1us);
  while (budget.next() != 64us) budget.failed();
  budget.succeeded();
  for (int i = 0; i < 4; ++i) budget.succeeded();
  EXPECT_EQ(budget.next(), 64us);
}

}  // namespace
}  // namespace sdmacc::server
