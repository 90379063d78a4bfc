// SPDX-License-Identifier: MIT
// Ends: of the daemon, of peers killed in mid-operation, of connections before their handles; and
// the two example programs, as processes of their own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "selftests/client/handles.hpp"
#include "selftests/server/harness.hpp"

extern char** environ;

namespace sdmacc::client_test {
namespace {

using server::TestDaemon;
using server::View;
using testing::HasSubstr;

// Programs that the build passes by name of an environment variable.
std::string program(const char* variable) {
  const char* path = std::getenv(variable);
  return path != nullptr ? path : "";
}

class Process {
 public:
  explicit Process(std::vector<std::string> arguments, int output = -1) {
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (output >= 0) ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    EXPECT_EQ(::posix_spawn(&pid_, raw[0], &actions, nullptr, raw.data(), environ), 0) << raw[0];
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() { kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }
  // Exit status, or −1 after a signal.
  int wait() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(std::exchange(pid_, 0), &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
};

Connection connect_when_it_listens(const std::string& path) {
  sdmacc_connection* connection = nullptr;
  for (int i = 0; i < 60'000; ++i) {
    if (sdmacc_connect(path.c_str(), &connection) == SDMACC_OK) return Connection(connection);
    ::usleep(1000);
  }
  ADD_FAILURE() << sdmacc_last_error();
  return nullptr;
}

// Everything that can wait does so while the daemon is killed; much less than a deadline later, all
// must have returned.
TEST(DaemonDeath, EndsEveryCall) {
  const server::TempFolder folder;
  const std::string path = folder.path() + "/s";
  Process daemon({program("SDMACC_TEST_PEER"), "serve", path});
  const Connection connection = connect_when_it_listens(path);
  ASSERT_TRUE(connection);
  Group one, two;
  std::thread other([&] { two = join(connection, "g", 2, 1); });
  one = join(connection, "g", 2, 0);
  other.join();
  Tensor tensor = make_tensor(connection, 4);
  floats(tensor)[3] = 5;

  std::vector<std::thread> threads;
  threads.emplace_back([&] { EXPECT_EQ(add(one, tensor, 4), SDMACC_DAEMON_GONE); });
  threads.emplace_back([&] {
    sdmacc_group* late = nullptr;
    EXPECT_EQ(sdmacc_group_join(connection.get(), "late", 2, 0, -1, &late), SDMACC_DAEMON_GONE);
  });
  const Request request = add_async(one, tensor, 4);
  threads.emplace_back(
      [&] { EXPECT_EQ(sdmacc_request_wait(request.get(), -1), SDMACC_DAEMON_GONE); });
  ::usleep(20'000);
  const auto start = std::chrono::steady_clock::now();
  daemon.kill();
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));

  EXPECT_EQ(add(two, tensor, 4), SDMACC_DAEMON_GONE);
  EXPECT_STREQ(sdmacc_last_error(), "client: the daemon closed the connection (daemon gone)");
  EXPECT_EQ(sdmacc_group_rebuild(one.get(), -1), SDMACC_DAEMON_GONE);
  EXPECT_EQ(sdmacc_group_status(one.get()), SDMACC_DAEMON_GONE);
  EXPECT_EQ(sdmacc_group_abort(one.get(), ""), SDMACC_DAEMON_GONE);
  EXPECT_EQ(sdmacc_request_test(request.get()), SDMACC_DAEMON_GONE);
  sdmacc_tensor* none = nullptr;
  EXPECT_EQ(sdmacc_tensor_alloc(connection.get(), 4, &none), SDMACC_DAEMON_GONE);
  char* json = nullptr;
  EXPECT_EQ(sdmacc_query(connection.get(), "echo", "", &json), SDMACC_DAEMON_GONE);

  // A new daemon takes the path over; the old tensor's memory is still there to be registered anew.
  Process second({program("SDMACC_TEST_PEER"), "serve", path});
  const Connection again = connect_when_it_listens(path);
  ASSERT_TRUE(again);
  const Group alone = join(again, "g", 1, 0);
  sdmacc_tensor* made = nullptr;
  SDMACC_EXPECT_OK(sdmacc_tensor_import(again.get(), sdmacc_tensor_fd(tensor.get()), 0, 16, &made));
  const Tensor imported(made);
  EXPECT_EQ(sdmacc_tensor_free(tensor.release()), SDMACC_DAEMON_GONE);
  SDMACC_EXPECT_OK(sdmacc_all_reduce(alone.get(), made, made, 0, 0, 4, SDMACC_FP32, SDMACC_FMA, 2));
  EXPECT_EQ(floats(imported)[3], 10.0f);
}

TEST(Disconnect, HandlesMayBeFreedInAnyOrder) {
  TestDaemon daemon;
  Connection connection = connect(daemon.path());
  Group group = join(connection, "g", 1, 0);
  Tensor tensor = make_tensor(connection, 4);
  daemon.on_loop([](server::Server&, server::FakeBackend& backend) { backend.hold = true; });
  Request request = add_async(group, tensor, 4);
  connection.reset();
  EXPECT_EQ(sdmacc_request_wait(request.get(), -1), SDMACC_DAEMON_GONE);
  EXPECT_STREQ(sdmacc_last_error(), "client: closed by this process (daemon gone)");
  floats(tensor)[0] = 1;
  EXPECT_EQ(sdmacc_tensor_free(tensor.release()), SDMACC_DAEMON_GONE);
  EXPECT_EQ(sdmacc_group_leave(group.release()), SDMACC_DAEMON_GONE);
  request.reset();
  daemon.on_loop([](server::Server&, server::FakeBackend& backend) { backend.release(); });
  EXPECT_TRUE(daemon.eventually([](const View& view) { return view.sessions.empty(); }));
}

TEST(Disconnect, LeavesNothingBehind) {
  TestDaemon daemon;
  const auto round = [&] {
    const Connection connection = connect(daemon.path());
    const Group group = join(connection, "g", 1, 0);
    const Tensor tensor = make_tensor(connection, 1000);
    ASSERT_EQ(add(group, tensor, 10), SDMACC_OK);
  };
  const auto settled = [&] {
    return daemon.eventually([](const View& view) { return view.sessions.empty(); });
  };
  for (int i = 0; i < 20; ++i) round();
  ASSERT_TRUE(settled());
  const std::size_t before = server::open_files();
  for (int i = 0; i < 100; ++i) round();
  ASSERT_TRUE(settled());
  EXPECT_EQ(server::open_files(), before);
}

// Peers are killed while they reduce with us. Each time we hear who died, and the daemon is as it
// was: same descriptors, same memory, and it goes on serving.
TEST(PeerDeath, AThousandTimes) {
  TestDaemon daemon;
  const Connection connection = connect(daemon.path());
  const Tensor tensor = make_tensor(connection, 1);
  const auto round = [&] {
    Process peer({program("SDMACC_TEST_PEER"), "loop", daemon.path(), "g", "2", "1"});
    const pid_t pid = peer.pid();
    const Group group = join(connection, "g", 2, 0);
    ASSERT_TRUE(group);
    for (int i = 0; i < pid % 7; ++i) ASSERT_EQ(add(group, tensor, 1), SDMACC_OK);
    peer.kill();
    int code;
    do {  // what the peer had already submitted ends well
      code = add(group, tensor, 1);
    } while (code == SDMACC_OK);
    ASSERT_TRUE(code == SDMACC_PEER_GONE || code == SDMACC_REVOKED) << code;
    ASSERT_THAT(sdmacc_last_error(), HasSubstr("rank 1 of group 'g' (process " +
                                               std::to_string(pid) + ") disconnected"));
    daemon.on_loop([](server::Server&, server::FakeBackend& backend) { backend.events.clear(); });
  };
  for (int i = 0; i < 50; ++i) round();
  const std::size_t files = server::open_files(), bytes = server::resident_bytes();
  for (int i = 0; i < server::thinned(1000); ++i) ASSERT_NO_FATAL_FAILURE(round());
  EXPECT_EQ(server::open_files(), files);
  if (!server::sanitized()) {
    EXPECT_LT(server::resident_bytes(), bytes + (1 << 20));
  }
  EXPECT_TRUE(daemon.eventually(
      [](const View& view) { return view.sessions.size() == 1 && view.groups.empty(); }));
  const Group alone = join(connection, "alone", 1, 0);
  SDMACC_EXPECT_OK(add(alone, tensor, 1));
}

TEST(PeerDeath, AnotherProcessMayTakeItsPlace) {
  TestDaemon daemon;
  const std::vector<std::string> loop = {
      program("SDMACC_TEST_PEER"), "loop", daemon.path(), "g", "2", "1"};
  const Connection connection = connect(daemon.path());
  const Tensor tensor = make_tensor(connection, 1);
  auto peer = std::make_unique<Process>(loop);
  const Group group = join(connection, "g", 2, 0);
  peer->kill();
  while (add(group, tensor, 1) == SDMACC_OK) {
  }
  peer = std::make_unique<Process>(loop);
  SDMACC_EXPECT_OK(sdmacc_group_rebuild(group.get(), -1));
  EXPECT_EQ(sdmacc_group_generation(group.get()), 2u);
  SDMACC_EXPECT_OK(add(group, tensor, 1));
}

class Examples : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Examples, Run) {
  const auto& [variable, expected] = GetParam();
  TestDaemon daemon;
  ::setenv("SDMACC_SOCKET", daemon.path().c_str(), 1);
  int output[2];
  ASSERT_EQ(::pipe2(output, O_CLOEXEC), 0);
  {
    Process one({program(variable), "2", "1"});
    Process zero({program(variable), "2", "0"}, output[1]);
    EXPECT_EQ(zero.wait(), 0);
    EXPECT_EQ(one.wait(), 0);
  }
  ::unsetenv("SDMACC_SOCKET");
  char text[200] = {};
  EXPECT_GT(::read(output[0], text, sizeof(text) - 1), 0);
  EXPECT_STREQ(text, expected);
  ::close(output[0]);
  ::close(output[1]);
}

INSTANTIATE_TEST_SUITE_P(
    , Examples,
    testing::Values(std::pair("SDMACC_TEST_EXAMPLE_C", "rank 0 of 2: the sum is 3\n"),
                    std::pair("SDMACC_TEST_EXAMPLE_CXX", "rank 0 of 2: mean 0.5, largest 1\n")),
    [](const auto& example) { return example.index == 0 ? "C" : "Cxx"; });

}  // namespace
}  // namespace sdmacc::client_test
