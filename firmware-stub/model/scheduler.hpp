// SPDX-License-Identifier: MIT
// Scheduler: what is runnable on the device, in the order in which it should run. The model has no
// threads; whoever calls pump() is a worker. Each worker has a list: what it releases goes to its
// front, new work to its back, and a worker with an empty list takes from the back of another's. So
// a chain of dependent steps runs on one worker while its bytes are in cache, and with one worker
// the order is always the same. Entry points: Scheduler::pump(), Scheduler::push().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace sdmacc::model {

enum class End : std::uint8_t { Front, Back };

// Something that a worker can run: a queue with armed packets, a TOP_SP with a firmware handle.
// It is in one list at most, and on one worker at most. It outlives the scheduler's use of it.
class Work {
 public:
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 protected:
  Work() = default;
  virtual ~Work() = default;

  enum class Next : std::uint8_t {
    Done,
    Front,
    Back
  };  // of the worker's list, when there is more to do
  // One bounded piece of work. Called without locks.
  virtual Next run() = 0;

 private:
  friend class Scheduler;
  enum class State : std::uint8_t { Idle, Queued, Running };

  Work* previous_ = nullptr;
  Work* next_ = nullptr;
  unsigned list_ = 0;  // worker whose list it is in
  State state_ = State::Idle;
  Next again_ = Next::Done;  // pushed while it ran
};

class Scheduler {
 public:
  explicit Scheduler(unsigned workers);

  // Runs one piece; false when there is nothing to run now. `worker` < workers(), each used by one
  // thread at a time; any number of them concurrently.
  bool pump(unsigned worker);
  unsigned workers() const { return static_cast<unsigned>(lists_.size()); }

  // Makes work runnable. From inside pump(): on that worker's list; else on the first worker's.
  void push(Work& work, End end);

  // Takes work away from the workers: waits until none runs it, and then none does until
  // give_back(). What was pushed is not lost. Not on a worker; in between the caller counts as one.
  void take(Work& work);
  void give_back(Work& work);

  // Whether the calling thread is inside pump() of this scheduler, or has taken work.
  bool on_worker() const;
  // Nothing runnable and nothing running.
  bool idle() const;

  // Called after each push with the number of runnable items. It may run under locks of the model:
  // it wakes somebody, and does not call back. Set before there is work.
  std::function<void(std::size_t runnable)> on_work;

 private:
  struct List {
    Work* front = nullptr;
    Work* back = nullptr;
  };

  void link(Work& work, unsigned list, End end);
  void unlink(Work& work);
  Work* next_for(unsigned worker);
  unsigned current_list() const;
  void finish(Work& work, Work::Next next, unsigned worker);

  mutable std::mutex mutex_;
  std::condition_variable left_;  // a work item has left its worker
  std::vector<List> lists_;
  std::size_t runnable_ = 0;
  std::size_t running_ = 0;
  unsigned takers_ = 0;
};

}  // namespace sdmacc::model
