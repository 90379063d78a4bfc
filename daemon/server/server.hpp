// SPDX-License-Identifier: MIT
// Server: accepts clients, keeps their sessions and groups, and passes the submissions of complete
// groups to a Backend. Entry: listen(), then the Loop's run(). What a frame does is in
// requests.cpp, what happens to groups in groups.cpp.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "daemon/server/backend.hpp"
#include "daemon/server/frame.hpp"
#include "daemon/server/group.hpp"
#include "daemon/server/listener.hpp"
#include "daemon/server/loop.hpp"
#include "daemon/server/session.hpp"
#include "daemon/server/tensor.hpp"

namespace sdmacc::server {

struct Limits {
  std::uint32_t clients = 256;
  std::uint32_t groups = 1024;
  std::uint32_t ranks = 4096;  // of a group
  std::uint32_t tensors_per_client = 4096;
  std::uint32_t in_flight_per_client = 64;              // 1 to 65,536
  std::uint32_t frame_bytes = 64 * 1024;                // at least 4,096
  std::uint64_t mapped_bytes = std::uint64_t{1} << 40;  // of all clients' tensors together
};

struct Options {
  Limits limits;
  // Where a client asks for no other.
  std::chrono::nanoseconds join_timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds operation_timeout = std::chrono::seconds(30);
  // For the first frame of a connection.
  std::chrono::nanoseconds hello_timeout = std::chrono::seconds(10);
};

class Server final : public Frontend, private Poller {
 public:
  // Loop and backend outlive the server, whose end closes all sessions without telling the backend.
  Server(Loop& loop, Backend& backend, const Options& options);
  ~Server() override;

  Status listen(Listener listener);
  // Serves a connected SOCK_SEQPACKET Unix socket.
  Status adopt(wire::UniqueFd socket);

  void complete(SessionId session, RequestId request, const Status& status) override;
  void revoke(GroupId group, const Error& cause) override;
  View view() const override;

 private:
  using SessionRef = std::shared_ptr<Session>;

  // Poller: the rings of the sessions that were busy lately.
  bool poll() override;
  unsigned writers() const override { return static_cast<unsigned>(hot_.size()); }
  bool arm() override;
  void disarm() override;

  // Sessions (server.cpp).
  void accept(int listener);
  void pause_listening();
  void receive(const SessionRef& session);
  void warm(const SessionRef& session);
  bool serve_ring(Session& session);
  void doom(Session& session, std::string why);
  void bury(Session& session, const std::string& why);
  void tidy();
  SessionRef find(SessionId id) const;

  // Frames (requests.cpp).
  void handle(const SessionRef& session, std::span<const std::byte> bytes,
              std::vector<wire::UniqueFd> fds, bool fds_lost);
  Status hello(const SessionRef& session, const Frame& frame);
  Status join(Session& session, const Frame& frame);
  Status leave(Session& session, const Frame& frame);
  Status register_tensor(Session& session, const Frame& frame);
  Status unregister_tensor(Session& session, const Frame& frame);
  Status abort(Session& session, const Frame& frame);
  Status query(Session& session, const Frame& frame);
  Status answer_query(Session& session, RequestId request, const std::string& json);
  struct Words {
    std::uint32_t session_group;
    std::span<const std::byte> bytes;
    std::optional<float> scale;
    std::uint64_t timeout_ns;  // 0 = default
  };
  Status accept_submission(Session& session, RequestId request, Route route, const Words& words);
  Status submit_entry(Session& session, const sdmacc_submit_entry& entry);

  // Groups (groups.cpp).
  Result<Group*> group_to_join(const Joiner& joiner, const std::string& name, std::uint32_t size,
                               std::uint32_t rank, std::uint32_t mode);
  Result<std::pair<Group*, std::uint32_t>> member(const Session& session,
                                                  std::uint32_t session_group);
  void join_timed_out(GroupId id, std::uint32_t rank, std::chrono::nanoseconds timeout);
  void refuse_join(Group& group, std::uint32_t rank, const Error& error);
  void vacate(Session& session, std::uint32_t session_group, const std::string& how);
  void settle(GroupId id);
  void activate(Group& group);
  void announce(Group& group, std::uint32_t event);
  void note_deadline(Clock::time_point deadline);
  void run_deadlines();
  Group* find_group(GroupId id);

  Loop& loop_;
  Backend& backend_;
  const Options options_;
  std::shared_ptr<MappedBytes> mapped_;
  std::vector<std::byte> buffer_;  // for one frame

  std::vector<Listener> listeners_;
  std::vector<Loop::WatchId> listener_watches_;
  SessionId next_session_ = 1;
  std::unordered_map<SessionId, SessionRef> sessions_;
  std::uint32_t connected_ = 0;

  GroupId next_group_ = 1;
  std::unordered_map<GroupId, Group> groups_;
  std::unordered_map<std::string, GroupId> group_names_;

  std::vector<SessionRef> hot_;   // rings that are polled
  std::vector<SessionRef> wake_;  // clients to wake when all answers are written
  // What tidy() still has to look at, so that nothing disappears under a caller.
  std::vector<std::pair<SessionId, std::string>> doomed_;
  std::vector<GroupId> unsettled_;

  Loop::TimerId deadline_timer_ = 0;
  Clock::time_point next_deadline_ = Clock::time_point::max();
};

}  // namespace sdmacc::server
