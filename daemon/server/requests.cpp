// SPDX-License-Identifier: MIT
// What each frame, and each entry of a submit ring, does. Part of Server; see server.hpp.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "daemon/server/server.hpp"
#include "daemon/server/text.hpp"
#include "libuapi/client/socket.hpp"

namespace sdmacc::server {
namespace {

constexpr std::uint32_t kDefaultMode = 0600;
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestReason = 512;
constexpr std::chrono::nanoseconds kLongestTimeout = std::chrono::hours(24 * 365);

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

std::chrono::nanoseconds timeout_or(std::uint64_t wanted_ns, std::chrono::nanoseconds otherwise) {
  if (wanted_ns == 0) return otherwise;
  return std::chrono::nanoseconds(
      std::min<std::uint64_t>(wanted_ns, static_cast<std::uint64_t>(kLongestTimeout.count())));
}

wire::MessageWriter success(const Session& session, RequestId request) {
  wire::MessageWriter out(SDMACC_FRAME_COMPLETE, static_cast<std::uint16_t>(session.version),
                          request);
  out.u32(SDMACC_FIELD_CODE, 0);
  return out;
}

// A file that cannot change any more.
Result<wire::UniqueFd> sealed_file(const std::string& content) {
  wire::UniqueFd fd(::memfd_create("sdmacc-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto failed = [](const char* call) {
    return refuse(Errc::System, "{} for a large answer: {}", call, wire::errno_text(errno));
  };
  if (!fd) return failed("memfd_create");
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t written = ::write(fd.get(), content.data() + at, content.size() - at);
    if (written < 0) return failed("write");
    at += static_cast<std::size_t>(written);
  }
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) return failed("fcntl(F_ADD_SEALS)");
  return fd;
}

}  // namespace

// Each handler answers for itself when it succeeds or waits, and returns why it does not.
void Server::handle(const SessionRef& session, std::span<const std::byte> bytes,
                    std::vector<wire::UniqueFd> fds, bool fds_lost) {
  const bool greeted = session->version != 0;
  const auto run = [&]() -> Status {
    SDMACC_TRY(const Frame frame, parse_frame(bytes, std::move(fds), session->version));
    if (fds_lost) {
      return refuse(Errc::Protocol, "more than {} file descriptors, or the daemon has none left",
                    wire::kMaxFds);
    }
    switch (frame.type()) {
      case SDMACC_FRAME_HELLO:
        return hello(session, frame);
      case SDMACC_FRAME_JOIN:
        return join(*session, frame);
      case SDMACC_FRAME_LEAVE:
        return leave(*session, frame);
      case SDMACC_FRAME_REGISTER:
        return register_tensor(*session, frame);
      case SDMACC_FRAME_UNREGISTER:
        return unregister_tensor(*session, frame);
      case SDMACC_FRAME_ABORT:
        return abort(*session, frame);
      case SDMACC_FRAME_QUERY:
        return query(*session, frame);
      default:
        break;  // SUBMIT: parse_frame() lets no other pass
    }
    const wire::Message& m = frame.message;
    Words words{m.u32(SDMACC_FIELD_GROUP), m.bytes(SDMACC_FIELD_WORDS), std::nullopt,
                m.u64(SDMACC_FIELD_TIMEOUT)};
    if (m.has(SDMACC_FIELD_SCALE)) words.scale = m.f32(SDMACC_FIELD_SCALE);
    return accept_submission(*session, frame.request(), Route::Socket, words);
  };
  if (const Status status = run(); !status) {
    session->answer(request_of(bytes), status);
    if (!greeted) doom(*session, "was refused");
  }
}

Status Server::hello(const SessionRef& session, const Frame& frame) {
  const wire::Message& m = frame.message;
  const std::uint32_t lowest = m.u32(SDMACC_FIELD_VERSION_MIN);
  const std::uint32_t highest = m.u32(SDMACC_FIELD_VERSION_MAX);
  const std::uint32_t version = std::min(highest, SDMACC_WIRE_VERSION_MAX);
  if (lowest > highest || version < std::max(lowest, SDMACC_WIRE_VERSION_MIN)) {
    return refuse(Errc::Unsupported, "client speaks wire versions {} to {}, this daemon {} to {}",
                  lowest, highest, SDMACC_WIRE_VERSION_MIN, SDMACC_WIRE_VERSION_MAX);
  }
  SDMACC_CHECK(check_line("client name", m.text(SDMACC_FIELD_CLIENT_NAME), 0, kLongestName));
  const std::uint64_t features = m.u64(SDMACC_FIELD_FEATURES) & SDMACC_FEATURE_RINGS;
  const Limits& limits = options_.limits;

  Session::Shared shared{};
  std::vector<wire::UniqueFd> fds;
  if (features & SDMACC_FEATURE_RINGS) {
    SDMACC_TRY(shared, session->make_rings(limits.in_flight_per_client, [this, id = session->id()] {
      if (const SessionRef self = find(id)) warm(self);
    }));
    fds.push_back(std::move(shared.memory));
    fds.push_back(std::move(shared.doorbell));
  }
  session->version = version;
  session->name = m.text(SDMACC_FIELD_CLIENT_NAME);
  loop_.cancel(session->hello_timer);
  // In the first version's layout, since the client learns the version from it.
  wire::MessageWriter out(SDMACC_FRAME_COMPLETE, 1, frame.request());
  out.u32(SDMACC_FIELD_CODE, 0)
      .u32(SDMACC_FIELD_VERSION, version)
      .u64(SDMACC_FIELD_FEATURES, features)
      .u64(SDMACC_FIELD_MEMORY_BYTES, shared.bytes)
      .u32(SDMACC_FIELD_IN_FLIGHT_LIMIT, limits.in_flight_per_client)
      .u32(SDMACC_FIELD_FRAME_LIMIT, limits.frame_bytes);
  session->send(out.finish(), std::move(fds));
  return {};
}

Status Server::join(Session& session, const Frame& frame) {
  const wire::Message& m = frame.message;
  const std::string name(m.text(SDMACC_FIELD_NAME));
  const std::uint32_t rank = m.u32(SDMACC_FIELD_RANK);
  SDMACC_CHECK(check_line("group name", name, 1, kLongestName));
  SDMACC_TRY(Group * group, group_to_join(session.peer(), name, m.u32(SDMACC_FIELD_SIZE), rank,
                                          m.u32(SDMACC_FIELD_MODE, kDefaultMode)));
  const bool rejoins = group->sit(session.peer(), rank);
  Seat& seat = group->seat(rank);
  if (!rejoins) seat.session_group = session.add_place({group->id(), rank});
  seat.join_request = frame.request();
  const auto timeout = timeout_or(m.u64(SDMACC_FIELD_TIMEOUT), options_.join_timeout);
  seat.timer = loop_.at(Clock::now() + timeout, [this, id = group->id(), rank, timeout] {
    join_timed_out(id, rank, timeout);
  });
  unsettled_.push_back(group->id());
  return {};
}

Status Server::leave(Session& session, const Frame& frame) {
  const std::uint32_t session_group = frame.message.u32(SDMACC_FIELD_GROUP);
  SDMACC_CHECK(member(session, session_group));
  vacate(session, session_group, "left");
  session.answer(frame.request(), {});
  return {};
}

Status Server::register_tensor(Session& session, const Frame& frame) {
  const wire::Message& m = frame.message;
  SDMACC_TRY(TensorRef tensor,
             Tensor::map(frame.fds[0].get(), m.u64(SDMACC_FIELD_OFFSET), m.u64(SDMACC_FIELD_BYTES),
                         m.u32(SDMACC_FIELD_ACCESS), mapped_));
  const std::uint32_t wanted = m.u32(SDMACC_FIELD_TENSOR);
  SDMACC_TRY(const std::uint32_t number,
             session.tensors.add(tensor, m.has(SDMACC_FIELD_TENSOR) ? &wanted : nullptr));
  wire::MessageWriter out = success(session, frame.request());
  out.u32(SDMACC_FIELD_TENSOR, number);
  out.u32(SDMACC_FIELD_ACCESS, SDMACC_ACCESS_READ | (tensor->writable() ? SDMACC_ACCESS_WRITE : 0));
  session.send(out.finish());
  return {};
}

Status Server::unregister_tensor(Session& session, const Frame& frame) {
  SDMACC_TRY(const TensorRef tensor,
             session.tensors.remove(frame.message.u32(SDMACC_FIELD_TENSOR)));
  backend_.tensor_gone(tensor);
  session.answer(frame.request(), {});
  return {};
}

Status Server::abort(Session& session, const Frame& frame) {
  const std::string_view reason = frame.message.text(SDMACC_FIELD_TEXT);
  SDMACC_CHECK(check_line("reason", reason, 0, kLongestReason));
  SDMACC_TRY(const auto place, member(session, frame.message.u32(SDMACC_FIELD_GROUP)));
  const auto [group, rank] = place;
  revoke(group->id(),
         Error{Errc::Cancelled, Stage::Server, kNoIndex,
               fmt::format("rank {} of group '{}' (process {}) aborted{}{}", rank, group->name(),
                           session.peer().pid, reason.empty() ? "" : ": ", reason)});
  session.answer(frame.request(), {});
  return {};
}

Status Server::query(Session& session, const Frame& frame) {
  const std::string_view kind = frame.message.text(SDMACC_FIELD_KIND);
  const std::string_view arguments = frame.message.text(SDMACC_FIELD_ARGUMENTS);
  SDMACC_CHECK(check_line("kind of query", kind, 1, kLongestName));
  SDMACC_CHECK(check_utf8("argument of the query", arguments));
  SDMACC_TRY(const std::string json, backend_.query(kind, arguments));
  return answer_query(session, frame.request(), json);
}

Status Server::answer_query(Session& session, RequestId request, const std::string& json) {
  constexpr std::size_t kOverhead =
      sizeof(sdmacc_frame_header) + 2 * sizeof(sdmacc_field_header) + 16;
  wire::MessageWriter out = success(session, request);
  std::vector<wire::UniqueFd> fds;
  if (json.size() + kOverhead <= options_.limits.frame_bytes) {
    out.text(SDMACC_FIELD_JSON, json);
  } else {
    SDMACC_TRY(wire::UniqueFd file, sealed_file(json));
    fds.push_back(std::move(file));
    out.u64(SDMACC_FIELD_BYTES, json.size());
  }
  session.send(out.finish(), std::move(fds));
  return {};
}

// `entry` is our own copy.
Status Server::submit_entry(Session& session, const sdmacc_submit_entry& entry) {
  if (entry.word_count != 1 && entry.word_count != 2) {
    return refuse(Errc::Protocol, "submit entry has {} words, must have 1 or 2", entry.word_count);
  }
  if ((entry.flags & ~SDMACC_SUBMIT_SCALE) != 0) {
    return refuse(Errc::Protocol, "submit entry has unknown flags {:#x}", entry.flags);
  }
  if (std::any_of(std::begin(entry.reserved), std::end(entry.reserved),
                  [](std::uint64_t value) { return value != 0; })) {
    return refuse(Errc::Protocol, "submit entry has reserved bytes that are not 0");
  }
  Words words{entry.group, std::as_bytes(std::span(entry.words)).first(64 * entry.word_count),
              std::nullopt, entry.timeout};
  if (entry.flags & SDMACC_SUBMIT_SCALE) words.scale = entry.scale;
  return accept_submission(session, entry.request, Route::Ring, words);
}

Status Server::accept_submission(Session& session, RequestId request, Route route,
                                 const Words& words) {
  const std::uint32_t limit = options_.limits.in_flight_per_client;
  if (session.in_flight.size() >= limit) {
    return refuse(Errc::NoSpace, "limit of {} requests in flight a client reached", limit);
  }
  if (session.find(request) != nullptr) {
    return refuse(Errc::Invalid, "request {} is in flight already", request);
  }
  SDMACC_TRY(const auto place, member(session, words.session_group));
  const auto [group, rank] = place;
  if (group->state() == GroupState::Revoked) {
    return refuse(Errc::Revoked, "group '{}' failed before: {}", group->name(),
                  group->cause().text());
  }
  if (group->state() == GroupState::Forming) {
    return refuse(Errc::Busy, "group '{}' is not complete: {}", group->name(),
                  group->missing_text());
  }
  const Clock::time_point now = Clock::now();
  const Clock::time_point deadline = now + timeout_or(words.timeout_ns, options_.operation_timeout);
  session.in_flight.push_back({request, group->id(), rank, route, deadline});
  group->submitted(rank, now);
  note_deadline(deadline);
  backend_.submit({session.id(), request, group->id(), rank, words.session_group, words.bytes,
                   words.scale, deadline, &session.tensors});
  return {};
}

}  // namespace sdmacc::server
