// SPDX-License-Identifier: MIT
// Pipeline: the whole path in one place. A submission is decoded, matched with the other ranks',
// lowered (select, compose, verify, emit: lower.cpp) and run on the device; the completion goes
// back to every rank. Belongs to the loop thread; only lowering has a thread of its own.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "daemon/decode/decode.hpp"
#include "daemon/device/device.hpp"
#include "daemon/device/run_queue.hpp"
#include "daemon/lower.hpp"
#include "daemon/match/match.hpp"
#include "daemon/observe/status.hpp"
#include "daemon/server/backend.hpp"
#include "daemon/server/loop.hpp"
#include "daemon/worker.hpp"

namespace sdmacc {

class Pipeline final : public server::Backend, private server::Poller {
 public:
  struct Options {
    Policy policy;
    Rules rules;
    std::size_t plan_bytes = 256 << 20;  // Programs kept for reuse
  };
  static Result<std::unique_ptr<Pipeline>> create(server::Loop& loop, Device& device,
                                                  Options options);
  ~Pipeline() override;

  void attach(server::Frontend& frontend) override { frontend_ = &frontend; }
  Status group_ready(const server::GroupInfo& info) override;
  void group_revoked(server::GroupId id, const Error& cause) override;
  void group_gone(server::GroupId id) override;
  void submit(const server::Submission& submission) override;
  void expired(server::GroupId id, server::SessionId session, server::RequestId request) override;
  void tensor_gone(const server::TensorRef&) override {}  // nothing is kept between operations
  Result<std::string> query(std::string_view kind, std::string_view arguments) override;

 private:
  struct Request {  // of one rank, in flight; its number is the key in requests
    server::SessionId session = 0;
    server::RequestId id = 0;
    server::TensorRef in, out;
    server::Clock::time_point since;
  };
  struct Group {
    World world;
    std::uint64_t key = 0;  // never used twice: tells late Plans of an earlier generation
    std::map<std::uint64_t, Request> requests;
    std::deque<Operation> lowering;  // complete, in order; the front one is with the worker
  };

  Pipeline(server::Loop& loop, Device& device, Options options);

  bool poll() override { return runs_.reap(); }
  unsigned writers() const override { return runs_.idle() ? 0 : 1; }
  bool arm() override {
    return runs_.reap();
  }  // from here on the completion descriptor wakes the loop
  void disarm() override {}

  Result<Operation*> arrive(const server::Submission& submission, std::uint64_t number);
  void lower_front(server::GroupId id, Group& group);
  void lowered(server::GroupId id, std::uint64_t key, const Result<PlanRef>& plan);
  void run(server::GroupId id, Group& group, Operation operation, PlanRef plan);
  void finish(server::GroupId id, const Operation& operation, const Status& status);
  void complete(Group& group, std::uint64_t number, const Status& status);
  void release(Group& group);
  GroupStatus status_of(server::GroupId id, const Group& group) const;
  Result<std::string> dump(std::string_view group) const;

  server::Loop& loop_;
  Device& device_;
  const Options options_;
  server::Frontend* frontend_ = nullptr;
  Matcher matcher_;
  RunQueue runs_;
  PlanCache plans_;
  std::map<server::GroupId, Group> groups_;
  std::vector<std::uint32_t> topsp_load_;  // groups on each TOP_SP
  std::uint64_t next_request_ = 1, next_key_ = 1;
  server::Loop::WatchId watch_ = 0;
  Worker worker_;  // last: its tasks use the rest
};

}  // namespace sdmacc
