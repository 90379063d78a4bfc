// SPDX-License-Identifier: MIT
// Opening a Connection: connect, HELLO, and mapping of the rings.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

#include "libuapi/client/connection.hpp"
#include "libuapi/client/socket.hpp"

namespace sdmacc::client {
namespace {

constexpr std::size_t kFirstBuffer = 64 * 1024;  // for the answer to HELLO
constexpr std::chrono::seconds kGreetingTimeout{10};

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Client, kNoIndex, format, std::forward<Args>(args)...);
}

Result<wire::UniqueFd> connect_to(const std::string& path) {
  sockaddr_un address;
  SDMACC_CHECK(wire::make_address(path, Stage::Client, address));
  wire::UniqueFd out(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!out) return refuse(Errc::System, "socket: {}", wire::errno_text(errno));
  int connected;
  do {
    connected = ::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  } while (connected != 0 && errno == EINTR);
  if (connected != 0) {
    return refuse(Errc::DaemonGone, "no daemon listens on {}: {}", path, wire::errno_text(errno));
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<Connection>> Connection::open(const std::string& path) {
  std::shared_ptr<Connection> out(new Connection);
  SDMACC_TRY(out->socket_, connect_to(path));
  out->buffer_.resize(kFirstBuffer);
  SDMACC_CHECK(out->greet());
  return out;
}

Status Connection::greet() {
  wire::MessageWriter hello(SDMACC_FRAME_HELLO, 1, 0);
  hello.u32(SDMACC_FIELD_VERSION_MIN, SDMACC_WIRE_VERSION_MIN)
      .u32(SDMACC_FIELD_VERSION_MAX, SDMACC_WIRE_VERSION_MAX)
      .u64(SDMACC_FIELD_FEATURES, SDMACC_FEATURE_RINGS);
  Pending pending;
  SDMACC_CHECK(call(hello.finish(), {}, pending, Clock::now() + kGreetingTimeout));
  SDMACC_TRY(const wire::Message welcome, wire::parse_message(pending.bytes, Stage::Client));
  const std::uint32_t version = welcome.u32(SDMACC_FIELD_VERSION);
  if (version < SDMACC_WIRE_VERSION_MIN || version > SDMACC_WIRE_VERSION_MAX) {
    return refuse(Errc::Protocol, "the daemon chose wire version {}, we speak {} to {}", version,
                  SDMACC_WIRE_VERSION_MIN, SDMACC_WIRE_VERSION_MAX);
  }
  SDMACC_CHECK(map_rings(welcome, pending.fds));
  version_ = static_cast<std::uint16_t>(version);
  buffer_.resize(std::max<std::size_t>(welcome.u32(SDMACC_FIELD_FRAME_LIMIT), kFirstBuffer));
  return {};
}

Status Connection::map_rings(const wire::Message& welcome, std::vector<wire::UniqueFd>& fds) {
  const std::uint64_t bytes = welcome.u64(SDMACC_FIELD_MEMORY_BYTES);
  struct stat file;
  if (fds.size() != 2 || ::fstat(fds[0].get(), &file) != 0 ||
      static_cast<std::uint64_t>(file.st_size) < bytes) {
    return refuse(Errc::Protocol, "the daemon gave {} descriptors for rings of {} bytes",
                  fds.size(), bytes);
  }
  void* mapping =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fds[0].get(), 0);
  if (mapping == MAP_FAILED) {
    return refuse(Errc::System, "mmap of the rings: {}", wire::errno_text(errno));
  }
  mapping_ = {static_cast<std::byte*>(mapping), bytes};
  const std::optional<wire::SessionMemory> memory = wire::SessionMemory::open(mapping_);
  in_flight_limit_ = welcome.u32(SDMACC_FIELD_IN_FLIGHT_LIMIT);
  if (!memory || in_flight_limit_ > memory->entries) {
    return refuse(Errc::Protocol, "the daemon's rings have no layout of ours");
  }
  memory_ = *memory;
  doorbell_ = std::move(fds[1]);
  submits_ = {memory_.submits, memory_.entries};
  completes_ = {memory_.completes, memory_.entries};
  return {};
}

}  // namespace sdmacc::client
