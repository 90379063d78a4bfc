// SPDX-License-Identifier: MIT
// RunQueue: starts Plans on a Device. A job starts when all its TOP_SPs are free and no earlier job
// waits for one of them, so jobs on disjoint TOP_SPs run together, overlapping ones queue, and
// nothing deadlocks. Programs are loaded once for their places and run many times. Belongs to the
// loop thread.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "daemon/device/device.hpp"
#include "daemon/device/plan.hpp"

namespace sdmacc {

struct Job {
  std::uint64_t group = 0;
  PlanRef plan;
  std::vector<Place> places;  // by rank
  struct Memory {
    std::byte* in = nullptr;
    std::byte* out = nullptr;
  };
  std::vector<Memory> memory;  // by rank: the operand's first byte
  std::vector<std::shared_ptr<const void>>
      keep;  // what the memory belongs to, held until done() was called
  std::function<void(const Status&)> done;  // called once
};

class RunQueue {
 public:
  explicit RunQueue(Device& device) : device_(device) {}
  // Takes what runs off the device, so that nothing touches the jobs' memory afterwards. Nobody is
  // told.
  ~RunQueue();

  void submit(Job job);
  // Ends a group's jobs with `cause`: those that wait at once, the one that runs when the device
  // has let go of it.
  void cancel(std::uint64_t group, const Error& cause);
  // Takes the device's completions and starts what can start. True when there was any.
  bool reap();
  bool idle() const { return running_.empty(); }

  // The group's Program on the device: the one that runs, else the last that ran; loaded is 0 when
  // there is none, or when it was unloaded to make room.
  struct Running {
    LoadedId loaded = 0;
    bool active = false;
    std::uint64_t window = 0, windows = 0;  // 1-based; of the last run when not active
    PlanRef plan;
    std::shared_ptr<const Program> program;  // plan's
  };
  Running running(std::uint64_t group) const;
  void forget(std::uint64_t group) { last_.erase(group); }  // it is gone
  std::size_t waiting(std::uint64_t group) const;

 private:
  struct Active {
    Job job;
    LoadedId loaded = 0;
    std::uint64_t next = 0;      // elements started so far
    std::optional<Error> cause;  // cancelled
  };
  struct LoadedEntry {
    LoadedId id = 0;
    std::shared_ptr<const Program> program;
    std::vector<Binding> bound;
  };
  using Key = std::pair<const Program*, std::vector<std::uint32_t>>;  // the Program and its TOP_SPs

  void start_all();
  std::vector<Ticket> take_startable();
  void start_window(Ticket ticket);
  Status start(Active& active, Ticket ticket);
  Result<LoadedEntry*> loaded(const std::shared_ptr<const Program>& program,
                              const std::vector<Place>& places);
  void finish(Ticket ticket, Status status);

  Device& device_;
  std::list<Job> waiting_;
  std::map<Ticket, Active> running_;
  std::map<Key, LoadedEntry> loaded_;
  std::map<std::uint64_t, Running> last_;  // by group
  Ticket next_ticket_ = 1;
  bool freed_ = false;  // TOP_SPs since the last look at waiting_
};

}  // namespace sdmacc
