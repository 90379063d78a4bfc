// SPDX-License-Identifier: MIT
// What the tests of server and client share: a daemon with a FakeBackend on a thread of its own,
// and RawClient, which speaks frames as badly as a test wants.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "daemon/server/server.hpp"
#include "libuapi/client/message.hpp"
#include "libuapi/client/rings.hpp"
#include "libuapi/client/unique_fd.hpp"
#include "selftests/server/fake_backend.hpp"

namespace sdmacc::server {

// A new folder with a short name, for a socket.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class TestDaemon {
 public:
  explicit TestDaemon(const Options& options = {});
  ~TestDaemon();

  std::string path() const { return folder_.path() + "/s"; }
  // Runs f on the loop thread and waits for it.
  void on_loop(const std::function<void(Server&, FakeBackend&)>& f);
  View view();
  std::vector<std::string> events();
  // Waits until the view satisfies the condition; false after a long time.
  bool eventually(const std::function<bool(const View&)>& condition);
  // Closes everything, as the end of the process would.
  void die();

 private:
  TempFolder folder_;
  std::unique_ptr<Loop> loop_;
  FakeBackend backend_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

// `bytes` of zeros in a memfd, sealed or not.
wire::UniqueFd memory_file(std::uint64_t bytes, bool sealed = true);

struct Reply {
  std::vector<std::byte> bytes;
  wire::Message message;
  std::vector<wire::UniqueFd> fds;

  Errc code() const { return static_cast<Errc>(message.u32(SDMACC_FIELD_CODE)); }
  std::string text() const { return std::string(message.text(SDMACC_FIELD_TEXT)); }
};

class RawClient {
 public:
  explicit RawClient(const std::string& path);
  explicit RawClient(const TestDaemon& daemon) : RawClient(daemon.path()) {}
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  std::uint64_t next_request() { return next_request_++; }
  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }
  bool send(std::span<const std::byte> bytes, std::span<const int> fds = {});
  bool send(wire::MessageWriter writer, std::span<const int> fds = {});
  // The next frame but WAKE; nothing when the daemon has closed the connection (or says nothing for
  // a long time, which fails the test).
  std::optional<Reply> receive();
  Reply ask(wire::MessageWriter writer, std::span<const int> fds = {});

  // HELLO, with or without rings.
  Reply hello(bool rings = false);
  // JOIN without waiting for the answer.
  void join(std::uint64_t request, const std::string& name, std::uint32_t size, std::uint32_t rank,
            std::uint64_t timeout_ns = 0);
  Reply register_memory(const wire::UniqueFd& memory, std::uint64_t offset, std::uint64_t bytes);
  // A group of this client alone, by number.
  std::uint32_t join_alone(const std::string& name);

  // Of hello(true).
  wire::SessionMemory rings;
  wire::RingWriter<sdmacc_submit_entry> submits;
  wire::RingReader<sdmacc_complete_entry> completes;
  void ring_doorbell();
  int doorbell() const { return doorbell_.get(); }
  void submit(const sdmacc_submit_entry& entry);
  sdmacc_complete_entry wait_for_entry();

 private:
  wire::UniqueFd socket_;
  wire::UniqueFd doorbell_;
  std::span<std::byte> mapping_;
  std::uint64_t next_request_ = 1000;
};

// The 0xC8 word of an FP32 all-reduce.
sdmacc_isa_c8 word(std::uint32_t group, std::uint32_t in, std::uint32_t out, std::uint64_t count);
sdmacc_submit_entry entry(std::uint64_t request, const sdmacc_isa_c8& word);

// Open descriptors and resident bytes of this process.
std::size_t open_files();
std::size_t resident_bytes();

// Built with a sanitizer, whose allocator keeps freed memory.
bool sanitized();

// How much of a long test to run: 1, or less in slow builds (SDMACC_TEST_THIN).
int thinned(int full);

}  // namespace sdmacc::server
