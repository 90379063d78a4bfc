// SPDX-License-Identifier: MIT
// The C interface: versions, errors, connections, groups, queries. Operations are in
// api_reduce.cpp, tensors in api_tensor.cpp.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "libuapi/client/handles.hpp"
#include "libuapi/client/socket.hpp"

#ifndef SDMACC_VERSION
#error "the build defines SDMACC_VERSION"
#endif

using namespace sdmacc;
using namespace sdmacc::client;

static_assert(SDMACC_OK == static_cast<int>(Errc::Ok));
static_assert(SDMACC_INVALID == static_cast<int>(Errc::Invalid));
static_assert(SDMACC_UNSUPPORTED == static_cast<int>(Errc::Unsupported));
static_assert(SDMACC_NOT_FOUND == static_cast<int>(Errc::NotFound));
static_assert(SDMACC_RANGE == static_cast<int>(Errc::Range));
static_assert(SDMACC_MISMATCH == static_cast<int>(Errc::Mismatch));
static_assert(SDMACC_PEER_GONE == static_cast<int>(Errc::PeerGone));
static_assert(SDMACC_TIMEOUT == static_cast<int>(Errc::Timeout));
static_assert(SDMACC_CANCELLED == static_cast<int>(Errc::Cancelled));
static_assert(SDMACC_REVOKED == static_cast<int>(Errc::Revoked));
static_assert(SDMACC_NO_SPACE == static_cast<int>(Errc::NoSpace));
static_assert(SDMACC_DEVICE_ERROR == static_cast<int>(Errc::DeviceError));
static_assert(SDMACC_MEMORY_FAULT == static_cast<int>(Errc::MemoryFault));
static_assert(SDMACC_PROTOCOL == static_cast<int>(Errc::Protocol));
static_assert(SDMACC_BUSY == static_cast<int>(Errc::Busy));
static_assert(SDMACC_SYSTEM == static_cast<int>(Errc::System));
static_assert(SDMACC_DAEMON_GONE == static_cast<int>(Errc::DaemonGone));
static_assert(SDMACC_INTERNAL == static_cast<int>(Errc::Internal));

namespace sdmacc::client {
namespace {

thread_local std::string last_error;

std::string default_path() {
  const char* path = std::getenv(SDMACC_SOCKET_ENV);
  if (path != nullptr && *path != '\0') return path;
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder == nullptr || *folder == '\0') return SDMACC_SOCKET_DEFAULT;
  return std::string(folder) + "/" + SDMACC_SOCKET_RUNTIME_NAME;
}

// JOIN is answered when the group is complete, or by the daemon's deadline.
Status join(sdmacc_group& group, int timeout_ms) {
  wire::MessageWriter frame(SDMACC_FRAME_JOIN, group.link->version(), 0);
  frame.text(SDMACC_FIELD_NAME, group.name)
      .u32(SDMACC_FIELD_SIZE, group.size)
      .u32(SDMACC_FIELD_RANK, group.rank)
      .u32(SDMACC_FIELD_MODE, group.mode)
      .u64(SDMACC_FIELD_TIMEOUT, wire_timeout(timeout_ms));
  Pending pending;
  pending.joining = &group.state;
  return group.link->call(frame.finish(), {}, pending, Clock::time_point::max());
}

Result<std::string> read_file(int fd, std::uint64_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t at = 0; at < out.size();) {
    const ssize_t got = ::pread(fd, out.data() + at, out.size() - at, static_cast<off_t>(at));
    if (got <= 0) {
      return fail(Errc::System, Stage::Client, kNoIndex, "read of an answer of {} bytes: {}", bytes,
                  got < 0 ? wire::errno_text(errno) : "it is shorter");
    }
    at += static_cast<std::size_t>(got);
  }
  return out;
}

Result<std::string> query(Connection& link, const char* kind, const char* arguments) {
  wire::MessageWriter frame(SDMACC_FRAME_QUERY, link.version(), 0);
  frame.text(SDMACC_FIELD_KIND, kind);
  if (arguments != nullptr) frame.text(SDMACC_FIELD_ARGUMENTS, arguments);
  Pending pending;
  SDMACC_CHECK(link.call(frame.finish(), {}, pending, answer_deadline()));
  SDMACC_TRY(const wire::Message answer, wire::parse_message(pending.bytes, Stage::Client));
  if (pending.fds.empty()) return std::string(answer.text(SDMACC_FIELD_JSON));
  return read_file(pending.fds[0].get(), answer.u64(SDMACC_FIELD_BYTES));
}

}  // namespace

int report(const Error& error) {
  // What the daemon said has its stage in the text.
  last_error = error.stage == Stage::None ? error.context : error.text();
  return static_cast<int>(error.code);
}

int report(const Status& status) {
  return status ? SDMACC_OK : report(status.error());
}

}  // namespace sdmacc::client

const char* sdmacc_version() {
  return SDMACC_VERSION;
}

const char* sdmacc_default_path() {
  thread_local std::string path;
  path = default_path();
  return path.c_str();
}

const char* sdmacc_strerror(int code) {
  return code < 0 || code > 0xffff ? "unknown" : name(static_cast<Errc>(code)).data();
}

const char* sdmacc_last_error() {
  return last_error.c_str();
}

int sdmacc_connect(const char* path, sdmacc_connection** connection) {
  if (connection == nullptr) return refuse_argument("connection is NULL");
  *connection = nullptr;
  auto link = Connection::open(path != nullptr ? path : default_path());
  if (!link) return report(link.error());
  *connection = new sdmacc_connection{std::move(*link)};
  return SDMACC_OK;
}

void sdmacc_disconnect(sdmacc_connection* connection) {
  if (connection == nullptr) return;
  connection->link->close();
  delete connection;
}

int sdmacc_group_join(sdmacc_connection* connection, const char* name, uint32_t size, uint32_t rank,
                      int timeout_ms, sdmacc_group** group) {
  return sdmacc_group_join_mode(connection, name, size, rank, 0600, timeout_ms, group);
}

int sdmacc_group_join_mode(sdmacc_connection* connection, const char* name, uint32_t size,
                           uint32_t rank, uint32_t mode, int timeout_ms, sdmacc_group** group) {
  if (group == nullptr) return refuse_argument("group is NULL");
  *group = nullptr;
  if (connection == nullptr) return refuse_argument("connection is NULL");
  if (name == nullptr) return refuse_argument("name is NULL");
  auto made = std::make_unique<sdmacc_group>();
  made->link = connection->link;
  made->name = name;
  made->size = size;
  made->rank = rank;
  made->mode = mode;
  if (const Status joined = join(*made, timeout_ms); !joined) return report(joined);
  made->id = made->link->look_at(made->state).id;
  *group = made.release();
  return SDMACC_OK;
}

int sdmacc_group_rebuild(sdmacc_group* group, int timeout_ms) {
  if (group == nullptr) return refuse_argument("group is NULL");
  return report(join(*group, timeout_ms));
}

int sdmacc_group_abort(sdmacc_group* group, const char* reason) {
  if (group == nullptr) return refuse_argument("group is NULL");
  wire::MessageWriter frame(SDMACC_FRAME_ABORT, group->link->version(), 0);
  frame.u32(SDMACC_FIELD_GROUP, group->id);
  if (reason != nullptr) frame.text(SDMACC_FIELD_TEXT, reason);
  Pending pending;
  return report(group->link->call(frame.finish(), {}, pending, answer_deadline()));
}

int sdmacc_group_status(sdmacc_group* group) {
  if (group == nullptr) return refuse_argument("group is NULL");
  const GroupState state = group->link->look_at(group->state);
  if (const Status gone = group->link->alive(); !gone) return report(gone);
  return state.cause ? report(*state.cause) : SDMACC_OK;
}

int sdmacc_group_set_timeout(sdmacc_group* group, int timeout_ms) {
  if (group == nullptr) return refuse_argument("group is NULL");
  group->timeout_ns = wire_timeout(timeout_ms);
  return SDMACC_OK;
}

uint32_t sdmacc_group_id(const sdmacc_group* group) {
  return group ? group->id : 0;
}

uint32_t sdmacc_group_size(const sdmacc_group* group) {
  return group ? group->size : 0;
}

uint32_t sdmacc_group_rank(const sdmacc_group* group) {
  return group ? group->rank : 0;
}

uint32_t sdmacc_group_generation(const sdmacc_group* group) {
  return group ? group->link->look_at(group->state).generation : 0;
}

int sdmacc_group_leave(sdmacc_group* group) {
  if (group == nullptr) return SDMACC_OK;
  group->link->forget(group->state);
  wire::MessageWriter frame(SDMACC_FRAME_LEAVE, group->link->version(), 0);
  frame.u32(SDMACC_FIELD_GROUP, group->id);
  Pending pending;
  const int code = report(group->link->call(frame.finish(), {}, pending, answer_deadline()));
  delete group;
  return code;
}

int sdmacc_query(sdmacc_connection* connection, const char* kind, const char* arguments,
                 char** json) {
  if (json == nullptr) return refuse_argument("json is NULL");
  *json = nullptr;
  if (connection == nullptr) return refuse_argument("connection is NULL");
  if (kind == nullptr) return refuse_argument("kind is NULL");
  const Result<std::string> answer = query(*connection->link, kind, arguments);
  if (!answer) return report(answer.error());
  *json = static_cast<char*>(std::malloc(answer->size() + 1));
  if (*json == nullptr) return report(Error{Errc::NoSpace, Stage::Client, kNoIndex, "malloc"});
  std::memcpy(*json, answer->c_str(), answer->size() + 1);
  return SDMACC_OK;
}

void sdmacc_text_free(char* text) {
  std::free(text);
}
