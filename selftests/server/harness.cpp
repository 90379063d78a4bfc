// SPDX-License-Identifier: MIT
// The daemon on a thread and the raw client; see harness.hpp.
#include "selftests/server/harness.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>

#include "libuapi/client/socket.hpp"

namespace sdmacc::server {
namespace {

constexpr int kPatienceMs = 60'000;  // on any machine, long enough for what should take no time

}  // namespace

TempFolder::TempFolder() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/sdmaccXXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

TempFolder::~TempFolder() {
  ::unlink((path_ + "/s").c_str());
  ::rmdir(path_.c_str());
}

TestDaemon::TestDaemon(const Options& options) {
  loop_ = std::move(Loop::create().value());
  server_ = std::make_unique<Server>(*loop_, backend_, options);
  auto listener = Listener::bind(path(), 0600);
  if (!listener || !server_->listen(std::move(*listener))) std::abort();
  thread_ = std::thread([this] { loop_->run(); });
}

TestDaemon::~TestDaemon() {
  die();
}

void TestDaemon::die() {
  if (!thread_.joinable()) return;
  loop_->post([this] { server_.reset(); });
  loop_->stop();
  thread_.join();
}

void TestDaemon::on_loop(const std::function<void(Server&, FakeBackend&)>& f) {
  std::promise<void> done;
  loop_->post([&] {
    f(*server_, backend_);
    done.set_value();
  });
  done.get_future().wait();
}

View TestDaemon::view() {
  View out;
  on_loop([&](Server& server, FakeBackend&) { out = server.view(); });
  return out;
}

std::vector<std::string> TestDaemon::events() {
  std::vector<std::string> out;
  on_loop([&](Server&, FakeBackend& backend) { out = backend.events; });
  return out;
}

bool TestDaemon::eventually(const std::function<bool(const View&)>& condition) {
  for (int i = 0; i < kPatienceMs; ++i) {
    if (condition(view())) return true;
    ::usleep(1000);
  }
  return false;
}

wire::UniqueFd memory_file(std::uint64_t bytes, bool sealed) {
  wire::UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) std::abort();
  if (sealed && ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) std::abort();
  return fd;
}

RawClient::RawClient(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  sockaddr_un address;
  if (!wire::make_address(path, Stage::None, address)) std::abort();
  EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0)
      << path;
}

RawClient::~RawClient() {
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());
}

bool RawClient::send(std::span<const std::byte> bytes, std::span<const int> fds) {
  return wire::send(socket_.get(), bytes, fds, true) == wire::Io::Done;
}

bool RawClient::send(wire::MessageWriter writer, std::span<const int> fds) {
  return send(std::span<const std::byte>(writer.finish()), fds);
}

std::optional<Reply> RawClient::receive() {
  for (;;) {
    pollfd socket{socket_.get(), POLLIN, 0};
    if (::poll(&socket, 1, kPatienceMs) != 1) {
      ADD_FAILURE() << "the daemon says nothing";
      return std::nullopt;
    }
    Reply reply;
    reply.bytes.resize(1 << 17);
    wire::Received got = wire::receive(socket_.get(), reply.bytes, true);
    if (got.io == wire::Io::Closed) return std::nullopt;
    reply.bytes.resize(got.bytes);
    reply.fds = std::move(got.fds);
    auto message = wire::parse_message(reply.bytes, Stage::None);
    if (!message) {
      ADD_FAILURE() << message.error().text();
      return std::nullopt;
    }
    reply.message = std::move(*message);
    if (reply.message.header.type != SDMACC_FRAME_WAKE) return reply;
  }
}

Reply RawClient::ask(wire::MessageWriter writer, std::span<const int> fds) {
  EXPECT_TRUE(send(std::move(writer), fds));
  auto reply = receive();
  if (reply) return std::move(*reply);
  ADD_FAILURE() << "the daemon closed the connection";
  return {};
}

Reply RawClient::hello(bool with_rings) {
  wire::MessageWriter writer(SDMACC_FRAME_HELLO, 1, next_request());
  writer.u32(SDMACC_FIELD_VERSION_MIN, 1)
      .u32(SDMACC_FIELD_VERSION_MAX, 1)
      .u64(SDMACC_FIELD_FEATURES, with_rings ? SDMACC_FEATURE_RINGS : 0);
  Reply reply = ask(std::move(writer));
  EXPECT_EQ(reply.code(), Errc::Ok) << reply.text();
  if (!with_rings || reply.fds.size() != 2) return reply;
  const std::size_t bytes = reply.message.u64(SDMACC_FIELD_MEMORY_BYTES);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.fds[0].get(), 0);
  EXPECT_NE(memory, MAP_FAILED);
  mapping_ = {static_cast<std::byte*>(memory), bytes};
  rings = wire::SessionMemory::open(mapping_).value();
  submits = {rings.submits, rings.entries};
  completes = {rings.completes, rings.entries};
  doorbell_ = std::move(reply.fds[1]);
  return reply;
}

void RawClient::join(std::uint64_t request, const std::string& name, std::uint32_t size,
                     std::uint32_t rank, std::uint64_t timeout_ns) {
  wire::MessageWriter writer(SDMACC_FRAME_JOIN, 1, request);
  writer.text(SDMACC_FIELD_NAME, name)
      .u32(SDMACC_FIELD_SIZE, size)
      .u32(SDMACC_FIELD_RANK, rank)
      .u64(SDMACC_FIELD_TIMEOUT, timeout_ns);
  EXPECT_TRUE(send(std::move(writer)));
}

std::uint32_t RawClient::join_alone(const std::string& name) {
  join(next_request(), name, 1, 0);
  const auto reply = receive();
  if (!reply) return 0;
  EXPECT_EQ(reply->code(), Errc::Ok) << reply->text();
  return reply->message.u32(SDMACC_FIELD_GROUP);
}

Reply RawClient::register_memory(const wire::UniqueFd& memory, std::uint64_t offset,
                                 std::uint64_t bytes) {
  wire::MessageWriter writer(SDMACC_FRAME_REGISTER, 1, next_request());
  writer.u64(SDMACC_FIELD_OFFSET, offset).u64(SDMACC_FIELD_BYTES, bytes);
  const int fd = memory.get();
  return ask(std::move(writer), std::span(&fd, 1));
}

void RawClient::ring_doorbell() {
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(doorbell_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

void RawClient::submit(const sdmacc_submit_entry& what) {
  submits.put(what);
  if (wire::load(rings.header->daemon_waits) != 0) ring_doorbell();
}

sdmacc_complete_entry RawClient::wait_for_entry() {
  for (int i = 0; i < kPatienceMs * 10; ++i) {
    if (completes.ready()) return completes.take();
    ::usleep(100);
  }
  ADD_FAILURE() << "no completion comes";
  return {};
}

sdmacc_isa_c8 word(std::uint32_t group, std::uint32_t in, std::uint32_t out, std::uint64_t count) {
  sdmacc_isa_c8 out_word{};
  out_word.header = {0xC8, SDMACC_ISA_WORD_LEN, 0, 0};
  out_word.op = 4;
  out_word.dtype = 0xA;
  out_word.group_id = static_cast<std::uint16_t>(group);
  out_word.input_tensor_id = in;
  out_word.output_tensor_id = out;
  out_word.num_elements = count;
  out_word.ctype = 1;
  return out_word;
}

sdmacc_submit_entry entry(std::uint64_t request, const sdmacc_isa_c8& what) {
  sdmacc_submit_entry out{};
  out.request = request;
  out.group = what.group_id;
  out.word_count = 1;
  std::memcpy(out.words, &what, sizeof(what));
  return out;
}

std::size_t open_files() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

int thinned(int full) {
  const char* thin = std::getenv("SDMACC_TEST_THIN");
  const int divisor = thin != nullptr ? std::atoi(thin) : 1;
  return divisor > 1 ? full / (divisor * 3) : full;
}

}  // namespace sdmacc::server
