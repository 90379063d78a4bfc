// SPDX-License-Identifier: MIT
// Backend: what the server calls with the submissions of complete groups, and Frontend: what it may
// call back. The server knows nothing of instructions; a Backend knows nothing of sockets. All
// calls both ways are on the loop thread; a Backend may call the Frontend from inside any of its
// functions.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/server/tensor.hpp"
#include "daemon/server/view.hpp"
#include "libuapi/support/result.hpp"

namespace sdmacc::server {

// The ranks of a complete group, in order.
struct Member {
  SessionId session = 0;
  std::uint32_t session_group = 0;  // the group's number in this session's words
  pid_t pid = 0;
  uid_t uid = 0;
};

struct GroupInfo {
  GroupId id = 0;
  std::uint32_t generation = 0;  // 1, and one more at each rebuild
  std::string name;
  std::vector<Member> members;  // by rank
};

// One rank's words. `words` and `tensors` are good during submit() only.
struct Submission {
  SessionId session = 0;
  RequestId request = 0;  // unique among the session's requests in flight
  GroupId group = 0;
  std::uint32_t rank = 0;
  std::uint32_t session_group = 0;       // what the words of this session must say
  std::span<const std::byte> words;      // 64 or 128 bytes, a copy that no client can change
  std::optional<float> scale;            // present: FMA, with this factor
  Clock::time_point deadline;            // for diagnosis; the server calls expired()
  const TensorTable* tensors = nullptr;  // the session's
};

class Frontend {
 public:
  virtual ~Frontend() = default;

  // Ends a request, whose tensors are no longer touched. Unknown ones (twice, or of a session that
  // is gone) are ignored.
  virtual void complete(SessionId, RequestId, const Status&) = 0;

  // Marks an active group as failed, and calls Backend::group_revoked() before it returns. Ignored
  // when the group is not active: the first cause stays.
  virtual void revoke(GroupId, const Error& cause) = 0;

  virtual View view() const = 0;
};

// For each group: group_ready, submit…, group_revoked, then again group_ready with the next
// generation, or group_gone. Neither of these two comes before each request submitted to the group
// has been completed, also those of processes that died.
class Backend {
 public:
  virtual ~Backend() = default;

  // Called once, before all others. The Frontend outlives the Backend's use.
  virtual void attach(Frontend&) = 0;

  // All ranks have joined. An error refuses the group, and all ranks get it.
  virtual Status group_ready(const GroupInfo&) = 0;

  // The group failed: a process died, left or aborted, or revoke() was called. Every request of the
  // group in flight must now be completed with the cause, as soon as its tensors are not touched.
  virtual void group_revoked(GroupId, const Error& cause) = 0;

  virtual void group_gone(GroupId) = 0;

  // Ends, now or later, in one Frontend::complete(), also when it is refused.
  virtual void submit(const Submission&) = 0;

  // The deadline of a request has passed; called once per request. The Backend knows what was
  // missing, and revokes the group with that or completes the request.
  virtual void expired(GroupId, SessionId, RequestId) = 0;

  // A tensor's number was given back or its session ended: it is unmapped when the last TensorRef
  // is dropped, so nothing that is kept between operations may hold it.
  virtual void tensor_gone(const TensorRef&) = 0;

  // The answer to a QUERY frame, as JSON text.
  virtual Result<std::string> query(std::string_view kind, std::string_view arguments) = 0;
};

}  // namespace sdmacc::server
