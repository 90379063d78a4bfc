// SPDX-License-Identifier: MIT
// One lock for all lists: it is held for a few pointer writes.
#include "firmware-stub/model/scheduler.hpp"

#include "libuapi/support/result.hpp"

namespace sdmacc::model {
namespace {

struct Current {
  const Scheduler* scheduler = nullptr;
  unsigned worker = 0;
};
thread_local Current t_current;

}  // namespace

Scheduler::Scheduler(unsigned workers) : lists_(workers) {
  SDMACC_ASSERT(workers > 0);
}

bool Scheduler::on_worker() const {
  return t_current.scheduler == this;
}
unsigned Scheduler::current_list() const {
  return on_worker() ? t_current.worker : 0;
}

void Scheduler::link(Work& work, unsigned list, End end) {
  List& l = lists_[list];
  work.list_ = list;
  work.state_ = Work::State::Queued;
  Work*& edge = end == End::Front ? l.front : l.back;
  work.previous_ = end == End::Front ? nullptr : l.back;
  work.next_ = end == End::Front ? l.front : nullptr;
  if (edge) (end == End::Front ? edge->previous_ : edge->next_) = &work;
  edge = &work;
  if (!l.front) l.front = &work;
  if (!l.back) l.back = &work;
  ++runnable_;
}

void Scheduler::unlink(Work& work) {
  List& l = lists_[work.list_];
  (work.previous_ ? work.previous_->next_ : l.front) = work.next_;
  (work.next_ ? work.next_->previous_ : l.back) = work.previous_;
  --runnable_;
}

void Scheduler::push(Work& work, End end) {
  std::size_t runnable = 0;
  {
    const std::lock_guard lock(mutex_);
    switch (work.state_) {
      case Work::State::Running:
        if (work.again_ != Work::Next::Front)
          work.again_ = end == End::Front ? Work::Next::Front : Work::Next::Back;
        return;
      case Work::State::Queued:
        if (end == End::Back) return;
        unlink(work);
        break;
      case Work::State::Idle:
        break;
    }
    link(work, current_list(), end);
    runnable = runnable_;
  }
  if (on_work) on_work(runnable);
}

Work* Scheduler::next_for(unsigned worker) {
  if (Work* own = lists_[worker].front) return own;
  for (unsigned i = 1; i < workers(); ++i)
    if (Work* other = lists_[(worker + i) % workers()].back) return other;
  return nullptr;
}

bool Scheduler::pump(unsigned worker) {
  SDMACC_ASSERT(worker < workers());
  Work* work = nullptr;
  {
    const std::lock_guard lock(mutex_);
    work = next_for(worker);
    if (!work) return false;
    unlink(*work);
    work->state_ = Work::State::Running;
    ++running_;
  }
  const Current outer = t_current;
  t_current = {this, worker};
  const Work::Next next = work->run();
  t_current = outer;
  finish(*work, next, worker);
  return true;
}

// Back to a list when there is more to do. A push while it ran outranks what run() said.
void Scheduler::finish(Work& work, Work::Next next, unsigned worker) {
  const std::lock_guard lock(mutex_);
  --running_;
  work.state_ = Work::State::Idle;
  if (work.again_ == Work::Next::Front || next == Work::Next::Done)
    next = work.again_ == Work::Next::Done ? next : work.again_;
  work.again_ = Work::Next::Done;
  if (next != Work::Next::Done)
    link(work, worker, next == Work::Next::Front ? End::Front : End::Back);
  if (takers_ > 0) left_.notify_all();
}

void Scheduler::take(Work& work) {
  SDMACC_ASSERT(!on_worker());
  std::unique_lock lock(mutex_);
  ++takers_;
  left_.wait(lock, [&] { return work.state_ != Work::State::Running; });
  --takers_;
  if (work.state_ == Work::State::Queued) {
    unlink(work);
    work.again_ = Work::Next::Back;
  }
  work.state_ = Work::State::Running;
  ++running_;
  t_current = {this, 0};
}

void Scheduler::give_back(Work& work) {
  t_current = {};
  std::size_t runnable = 0;
  finish(work, Work::Next::Done, 0);
  {
    const std::lock_guard lock(mutex_);
    runnable = runnable_;
  }
  if (runnable > 0 && on_work) on_work(runnable);
}

bool Scheduler::idle() const {
  const std::lock_guard lock(mutex_);
  return runnable_ == 0 && running_ == 0;
}

}  // namespace sdmacc::model
