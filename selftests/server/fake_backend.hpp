// SPDX-License-Identifier: MIT
// FakeBackend: a Backend without stages. It matches the 0xC8 words of all ranks, adds FP32 tensors
// itself, and keeps a record of what the server called. All of it lives on the loop thread.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "daemon/server/backend.hpp"
#include "libuapi/abi/isa.h"

namespace sdmacc::server {

class FakeBackend final : public Backend {
 public:
  void attach(Frontend& frontend) override { frontend_ = &frontend; }
  Status group_ready(const GroupInfo& info) override;
  void group_revoked(GroupId id, const Error& cause) override;
  void group_gone(GroupId id) override;
  void submit(const Submission& submission) override;
  void expired(GroupId id, SessionId session, RequestId request) override;
  void tensor_gone(const TensorRef& tensor) override;
  Result<std::string> query(std::string_view kind, std::string_view arguments) override;

  // While true, complete operations (and the revoked ones) stay in flight until release().
  bool hold = false;
  void release();

  Status refuse_groups;             // what group_ready() returns when it is an error
  std::vector<std::string> events;  // "ready g 1", "revoked g: …", "gone", "tensor gone 4096"
  std::vector<RequestId> expired_requests;
  std::uint64_t operations = 0;  // ended well
  std::vector<std::byte> last_words;
  std::optional<float> last_scale;

 private:
  struct Request {
    SessionId session;
    RequestId id;
    sdmacc_isa_c8 word;
    std::optional<float> scale;
    TensorRef in, out;
  };
  struct State {
    GroupInfo info;
    std::vector<std::deque<Request>> waiting;  // by rank
  };
  using Operation = std::vector<Request>;  // by rank

  void match(State& state);
  void run(const Operation& operation);
  void finish(const Request& request, const Status& status);

  Frontend* frontend_ = nullptr;
  std::map<GroupId, State> groups_;
  struct Held {
    SessionId session;
    RequestId request;
    Status status;
    TensorRef in, out;  // an operation has its tensors until it ends
  };
  std::vector<Held> held_;
};

}  // namespace sdmacc::server
