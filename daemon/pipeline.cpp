// SPDX-License-Identifier: MIT
// Pipeline: submission → decode → match → lower → run → completion. Entries: submit() and the
// completions of the device. Tested by selftests/server (with the real device) and by the command
// line's tests.
#include "daemon/pipeline.hpp"

#include <sys/epoll.h>

#include <algorithm>

#include "daemon/observe/dump.hpp"
#include "libuapi/abi/generation.h"

namespace sdmacc {
namespace {

// What one submission's words may name: the session's tensors and the group it was submitted to.
class SubmissionNames final : public Names {
 public:
  SubmissionNames(const server::Submission& submission, std::uint32_t ranks)
      : s_(submission), ranks_(ranks) {}

  std::optional<TensorInfo> tensor(std::uint32_t id) const override {
    const auto found = s_.tensors->find(id);
    if (!found) return std::nullopt;
    const server::Tensor& t = **found;
    return TensorInfo{t.bytes(),
                      static_cast<std::uint64_t>(t.inode()) ^ static_cast<std::uint64_t>(t.device())
                                                                  << 48,
                      t.offset(), t.writable()};
  }
  std::optional<std::uint32_t> group_size(std::uint32_t id) const override {
    return id == s_.session_group ? std::optional(ranks_) : std::nullopt;
  }

 private:
  const server::Submission& s_;
  const std::uint32_t ranks_;
};

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::create(server::Loop& loop, Device& device,
                                                   Options options) {
  std::unique_ptr<Pipeline> pipeline(new Pipeline(loop, device, std::move(options)));
  Pipeline* self = pipeline.get();
  SDMACC_TRY(self->watch_, loop.watch(device.completion_fd(), EPOLLIN,
                                      [self](std::uint32_t) { self->runs_.reap(); }));
  loop.add(*self);
  return pipeline;
}

Pipeline::Pipeline(server::Loop& loop, Device& device, Options options)
    : loop_(loop),
      device_(device),
      options_(std::move(options)),
      runs_(device),
      plans_(options_.plan_bytes),
      topsp_load_(device.arch().topsps, 0) {}

Pipeline::~Pipeline() {
  loop_.remove(*this);
  if (watch_ != 0) loop_.unwatch(watch_);
}

Status Pipeline::group_ready(const server::GroupInfo& info) {
  Group group;
  group.key = next_key_++;
  group.world.name = info.name;
  group.world.group_id = static_cast<std::uint32_t>(info.id);
  group.world.generation = info.generation;
  group.world.arch = &device_.arch();
  group.world.policy = options_.policy;
  if (const auto old = groups_.find(info.id); old != groups_.end()) {
    release(old->second);
    runs_.forget(info.id);
    groups_.erase(old);
  }
  SDMACC_TRY(
      group.world.places,
      place_ranks(device_.arch(), static_cast<std::uint32_t>(info.members.size()), topsp_load_));
  for (const Place& p : group.world.places) ++topsp_load_[p.topsp];
  matcher_.open(info.id, group.world.size());
  groups_.emplace(info.id, std::move(group));
  return {};
}

void Pipeline::release(Group& group) {
  for (const Place& p : group.world.places) --topsp_load_[p.topsp];
  group.world.places.clear();
}

void Pipeline::group_gone(server::GroupId id) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) return;
  matcher_.close(id);
  runs_.forget(id);
  release(found->second);
  groups_.erase(found);
}

void Pipeline::submit(const server::Submission& submission) {
  const auto found = groups_.find(submission.group);
  SDMACC_ASSERT(found != groups_.end());
  Group& group = found->second;
  const SubmissionNames names(submission, group.world.size());
  const auto decoded = decode(submission.words, 0, names, submission.scale);
  if (!decoded) {
    frontend_->complete(submission.session, submission.request,
                        tl::unexpected<Error>(decoded.error()));
    return;
  }
  const Instruction& instruction = decoded->instruction;
  const std::uint64_t number = next_request_++;
  group.requests[number] = {
      submission.session, submission.request, *submission.tensors->find(instruction.src.tensor),
      *submission.tensors->find(instruction.dst.tensor), server::Clock::now()};
  auto matched = matcher_.add(submission.group, submission.rank, instruction, number);
  if (!matched) {
    frontend_->revoke(submission.group, matched.error());  // every rank gets it, this one too
    return;
  }
  if (!*matched) return;
  Operation operation = std::move(**matched);
  if (operation.count == 0) {
    finish(submission.group, operation, {});
    return;
  }
  if (group.lowering.empty())
    if (PlanRef plan = plans_.find(plan_key(operation))) {
      run(submission.group, group, std::move(operation), std::move(plan));
      return;
    }
  group.lowering.push_back(std::move(operation));
  if (group.lowering.size() == 1) lower_front(submission.group, group);
}

void Pipeline::lower_front(server::GroupId id, Group& group) {
  worker_.post(
      [this, id, key = group.key, operation = group.lowering.front(), world = group.world] {
        auto plan = lower(operation, world, options_.rules);
        loop_.post([this, id, key, plan = std::move(plan)] { lowered(id, key, plan); });
      });
}

void Pipeline::lowered(server::GroupId id, std::uint64_t key, const Result<PlanRef>& plan) {
  const auto found = groups_.find(id);
  if (found == groups_.end() || found->second.key != key || found->second.lowering.empty()) return;
  Group& group = found->second;
  Operation operation = std::move(group.lowering.front());
  group.lowering.pop_front();
  if (plan) {
    plans_.insert(plan_key(operation), *plan);
    run(id, group, std::move(operation), *plan);
  } else {
    finish(id, operation, tl::unexpected<Error>(plan.error()));
  }
  // What became known meanwhile needs no worker.
  while (!group.lowering.empty()) {
    PlanRef known = plans_.find(plan_key(group.lowering.front()));
    if (!known) {
      lower_front(id, group);
      return;
    }
    Operation next = std::move(group.lowering.front());
    group.lowering.pop_front();
    run(id, group, std::move(next), std::move(known));
  }
}

void Pipeline::run(server::GroupId id, Group& group, Operation operation, PlanRef plan) {
  Job job;
  job.group = id;
  job.plan = std::move(plan);
  job.places = group.world.places;
  for (const RankOperands& r : operation.ranks) {
    const Request& request = group.requests.at(r.request);
    const std::uint64_t element = element_bytes(operation.dtype);
    job.memory.push_back(
        {request.in->data() + r.src.first * element, request.out->data() + r.dst.first * element});
    job.keep.push_back(request.in);
    job.keep.push_back(request.out);
  }
  job.done = [this, id, operation = std::move(operation)](const Status& status) {
    finish(id, operation, status);
  };
  runs_.submit(std::move(job));
}

// An error on the device ends the group: its ranks may have different parts of the result.
void Pipeline::finish(server::GroupId id, const Operation& operation, const Status& status) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) return;
  for (const RankOperands& r : operation.ranks) complete(found->second, r.request, status);
  if (!status && status.error().stage == Stage::Device && status.error().code != Errc::Cancelled)
    frontend_->revoke(id, status.error());
}

void Pipeline::complete(Group& group, std::uint64_t number, const Status& status) {
  const auto found = group.requests.find(number);
  if (found == group.requests.end()) return;
  const Request request = std::move(found->second);
  group.requests.erase(found);
  frontend_->complete(request.session, request.id, status);
}

void Pipeline::group_revoked(server::GroupId id, const Error& cause) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) return;
  Group& group = found->second;
  const Status failed = tl::unexpected<Error>(cause);
  for (const Matcher::Orphan& orphan : matcher_.close(id)) complete(group, orphan.request, failed);
  for (const Operation& operation : std::exchange(group.lowering, {}))
    for (const RankOperands& r : operation.ranks) complete(group, r.request, failed);
  runs_.cancel(id, cause);
}

void Pipeline::expired(server::GroupId id, server::SessionId, server::RequestId) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) return;
  const World& world = found->second.world;
  Error error{Errc::Timeout, Stage::Match, kNoIndex, ""};
  if (const auto waiting = matcher_.waiting(id); waiting && !waiting->missing.empty()) {
    error.context = fmt::format(
        "operation {} of group {} ({}): deadline passed, missing: rank {}; arrived: rank {}",
        waiting->sequence, world.name, name(waiting->instruction.collective),
        ranks_text(waiting->missing), ranks_text(waiting->arrived));
  } else {
    error.stage = Stage::Device;
    error.context =
        fmt::format("group {}: deadline passed while the operation was on the device", world.name);
    const auto inspection = device_.inspect(runs_.running(id).loaded);
    if (inspection)
      for (const WaitView& w : inspection->waits)
        error.context += fmt::format("; rank {} waits for semaphore {} of TOP_SP {} ({} of {})",
                                     w.rank, w.semaphore, w.topsp, w.value, w.target);
  }
  frontend_->revoke(id, error);
}

GroupStatus Pipeline::status_of(server::GroupId id, const Group& group) const {
  GroupStatus status;
  status.id = id;
  status.places = group.world.places;
  if (const auto waiting = matcher_.waiting(id)) {
    status.waiting = *waiting;
    for (const auto& [number, request] : group.requests)
      status.since = status.since ? std::min(*status.since, request.since) : request.since;
  }
  status.lowering = group.lowering.size();
  status.queued = runs_.waiting(id);
  const RunQueue::Running running = runs_.running(id);
  if (running.loaded == 0) return status;
  status.running = RunningStatus{};
  status.running->plan = running.plan;
  status.running->active = running.active;
  status.running->window = running.window;
  status.running->windows = running.windows;
  if (auto inspection = device_.inspect(running.loaded))
    status.running->inspection = std::move(*inspection);
  return status;
}

Result<std::string> Pipeline::dump(std::string_view group_name) const {
  for (const auto& [id, group] : groups_) {
    if (!group_name.empty() && group.world.name != group_name) continue;
    const RunQueue::Running running = runs_.running(id);
    if (running.loaded == 0) continue;
    SDMACC_TRY(const Inspection inspection, device_.inspect(running.loaded));
    return dump_json(*running.program, inspection, device_.arch()).dump();
  }
  return fail(Errc::NotFound, Stage::Server, kNoIndex, "no program of group '{}' is on the device",
              group_name);
}

Result<std::string> Pipeline::query(std::string_view kind, std::string_view arguments) {
  if (kind == "status") {
    StatusInput input;
    input.view = frontend_->view();
    input.device = device_.describe();
    for (const auto& [id, group] : groups_) input.groups.push_back(status_of(id, group));
    return status_json(input).dump();
  }
  if (kind == "dump") return dump(arguments);
  return fail(Errc::Unsupported, Stage::Server, kNoIndex,
              "query '{}' is unknown; known are status, dump", kind);
}

}  // namespace sdmacc
