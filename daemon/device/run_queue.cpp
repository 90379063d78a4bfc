// SPDX-License-Identifier: MIT
// RunQueue: FIFO by TOP_SP, windows of one job after another. Entries: submit(), cancel(), reap().
// Tested by selftests/device.
#include "daemon/device/run_queue.hpp"

#include <algorithm>
#include <set>

namespace sdmacc {
namespace {

// A run this small is done before a worker would have woken up.
constexpr std::uint64_t kPumpBytes = 64 * 1024;

using TopSp = std::pair<std::uint32_t, std::uint32_t>;

}  // namespace

RunQueue::~RunQueue() {
  for (const auto& [ticket, active] : running_)
    if (active.loaded != 0) device_.abort(active.loaded);
}

void RunQueue::submit(Job job) {
  waiting_.push_back(std::move(job));
  start_all();
}

void RunQueue::start_all() {
  do {
    freed_ = false;
    for (const Ticket ticket : take_startable()) start_window(ticket);
  } while (freed_);  // a job that could not start has freed its TOP_SPs
}

std::vector<Ticket> RunQueue::take_startable() {
  std::set<TopSp> taken;
  for (const auto& [ticket, active] : running_)
    for (const Place& p : active.job.places) taken.insert({p.device, p.topsp});
  std::vector<Ticket> started;
  for (auto job = waiting_.begin(); job != waiting_.end();) {
    const bool free = std::none_of(job->places.begin(), job->places.end(), [&](const Place& p) {
      return taken.contains({p.device, p.topsp});
    });
    for (const Place& p : job->places) taken.insert({p.device, p.topsp});
    if (!free) {
      ++job;
      continue;
    }
    started.push_back(next_ticket_);
    running_.emplace(next_ticket_++, Active{std::move(*job), 0, 0, std::nullopt});
    job = waiting_.erase(job);
  }
  return started;
}

void RunQueue::start_window(Ticket ticket) {
  Active& active = running_.at(ticket);
  Status status =
      active.cause ? Status(tl::unexpected<Error>(*active.cause)) : start(active, ticket);
  if (!status) finish(ticket, std::move(status));
}

Result<RunQueue::LoadedEntry*> RunQueue::loaded(const std::shared_ptr<const Program>& program,
                                                const std::vector<Place>& places) {
  Key key{program.get(), {}};
  for (const Place& p : places) key.second.push_back(p.device << 16 | p.topsp);
  LoadedEntry& entry = loaded_[std::move(key)];
  if (entry.id != 0 && device_.loaded(entry.id)) return &entry;
  // What the device unloaded to make room is forgotten here too.
  std::erase_if(loaded_, [&](const auto& e) {
    return &e.second != &entry && e.second.id != 0 && !device_.loaded(e.second.id);
  });
  entry = LoadedEntry{0, program, {}};
  SDMACC_TRY(entry.id, device_.load(*program, places));
  return &entry;
}

Status RunQueue::start(Active& active, Ticket ticket) {
  const Plan& plan = *active.job.plan;
  const bool whole = plan.count - active.next >= plan.window || !plan.rest;
  SDMACC_TRY(LoadedEntry * entry, loaded(whole ? plan.whole : plan.rest, active.job.places));
  const std::uint64_t elements = std::min(plan.window, plan.count - active.next);
  std::vector<Binding> bindings;
  for (std::uint32_t r = 0; r < active.job.memory.size(); ++r) {
    const std::uint64_t offset = active.next * plan.element, bytes = elements * plan.element;
    bindings.push_back({r << 1, active.job.memory[r].in + offset, bytes});
    bindings.push_back({r << 1 | 1, active.job.memory[r].out + offset, bytes});
  }
  const bool same = std::equal(bindings.begin(), bindings.end(), entry->bound.begin(),
                               entry->bound.end(), [](const Binding& a, const Binding& b) {
                                 return a.address == b.address && a.bytes == b.bytes;
                               });
  if (!same) {
    SDMACC_CHECK(device_.bind(entry->id, bindings));
    entry->bound = std::move(bindings);
  }
  SDMACC_CHECK(device_.run(entry->id, ticket));
  active.loaded = entry->id;
  active.next += elements;
  last_[active.job.group] = {entry->id,
                             true,
                             (active.next + plan.window - 1) / plan.window,
                             (plan.count + plan.window - 1) / plan.window,
                             active.job.plan,
                             entry->program};
  if (elements * plan.element * active.job.memory.size() <= kPumpBytes) device_.pump(entry->id);
  return {};
}

bool RunQueue::reap() {
  const auto completions = device_.reap();
  for (const Completion& c : completions) {
    const auto found = running_.find(c.ticket);
    if (found == running_.end()) continue;
    Active& active = found->second;
    if (active.cause)
      finish(c.ticket, tl::unexpected<Error>(*active.cause));
    else if (!c.status || active.next == active.job.plan->count)
      finish(c.ticket, c.status);
    else
      start_window(c.ticket);
  }
  if (!completions.empty()) start_all();
  return !completions.empty();
}

void RunQueue::finish(Ticket ticket, Status status) {
  Job job = std::move(running_.at(ticket).job);
  running_.erase(ticket);
  freed_ = true;
  job.done(status);
}

void RunQueue::cancel(std::uint64_t group, const Error& cause) {
  std::list<Job> cancelled;
  for (auto job = waiting_.begin(); job != waiting_.end();) {
    const auto here = job++;
    if (here->group == group) cancelled.splice(cancelled.end(), waiting_, here);
  }
  for (const Job& job : cancelled) job.done(tl::unexpected<Error>(cause));
  for (auto& [ticket, active] : running_)
    if (active.job.group == group && !active.cause) {
      active.cause = cause;
      if (active.loaded != 0) device_.abort(active.loaded);
    }
}

RunQueue::Running RunQueue::running(std::uint64_t group) const {
  const auto found = last_.find(group);
  if (found == last_.end() || !device_.loaded(found->second.loaded)) return {};
  Running running = found->second;
  running.active = std::any_of(running_.begin(), running_.end(), [&](const auto& entry) {
    return entry.second.job.group == group && entry.second.loaded != 0;
  });
  return running;
}

std::size_t RunQueue::waiting(std::uint64_t group) const {
  return static_cast<std::size_t>(std::count_if(waiting_.begin(), waiting_.end(),
                                                [&](const Job& j) { return j.group == group; }));
}

}  // namespace sdmacc
