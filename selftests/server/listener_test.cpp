// SPDX-License-Identifier: MIT
// Where the daemon listens: paths, leftovers, inherited sockets.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "daemon/server/listener.hpp"
#include "libuapi/client/socket.hpp"
#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using testing::HasSubstr;

class Listeners : public testing::Test {
 protected:
  bool exists() const { return ::access(path_.c_str(), F_OK) == 0; }
  std::string refusal() {
    const auto listener = Listener::bind(path_, 0600);
    return listener ? "" : listener.error().text();
  }

  TempFolder folder_;
  std::string path_ = folder_.path() + "/s";
};

TEST_F(Listeners, MakeAndRemoveTheirPath) {
  {
    const auto listener = Listener::bind(path_, 0620);
    ASSERT_TRUE(listener) << listener.error().text();
    struct stat file;
    ASSERT_EQ(::stat(path_.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0620u);
    EXPECT_EQ(listener->path(), path_);
  }
  EXPECT_FALSE(exists());
}

TEST_F(Listeners, RefuseAPathThatIsServed) {
  const auto first = Listener::bind(path_, 0600);
  ASSERT_TRUE(first);
  EXPECT_THAT(refusal(), HasSubstr("somebody does already, or it is no socket (busy)"));
  EXPECT_TRUE(exists());
}

TEST_F(Listeners, ReplaceWhatACrashLeft) {
  {
    sockaddr_un address;
    ASSERT_TRUE(wire::make_address(path_, Stage::None, address));
    const wire::UniqueFd dead(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ASSERT_TRUE(exists());
  EXPECT_EQ(refusal(), "");
}

TEST_F(Listeners, NeverReplaceAFile) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(refusal(), HasSubstr("it is no socket"));
  EXPECT_TRUE(exists());
}

TEST_F(Listeners, LeaveThePathToASuccessor) {
  auto first = Listener::bind(path_, 0600);
  ASSERT_TRUE(first);
  ::unlink(path_.c_str());
  const auto second = Listener::bind(path_, 0600);
  ASSERT_TRUE(second);
  { const Listener gone = std::move(*first); }
  EXPECT_TRUE(exists());
}

TEST_F(Listeners, RefusePathsThatDoNotFit) {
  path_ = "";
  EXPECT_EQ(refusal(), "server: socket path '' has 0 bytes, must have 1 to 107 (invalid)");
  path_ = "/" + std::string(107, 'a');
  EXPECT_THAT(refusal(), HasSubstr("has 108 bytes, must have 1 to 107"));
}

TEST_F(Listeners, SayWhyAFolderIsNoPlace) {
  path_ = folder_.path() + "/none/s";
  EXPECT_EQ(refusal(),
            fmt::format("server: cannot listen on {}: No such file or directory (system)", path_));
}

TEST(DefaultPath, FollowsTheEnvironment) {
  const auto path_with = [](const char* own, const char* runtime) {
    own ? ::setenv("SDMACC_SOCKET", own, 1) : ::unsetenv("SDMACC_SOCKET");
    runtime ? ::setenv("XDG_RUNTIME_DIR", runtime, 1) : ::unsetenv("XDG_RUNTIME_DIR");
    return default_socket_path();
  };
  EXPECT_EQ(path_with("/a/b", "/run/user/7"), "/a/b");
  EXPECT_EQ(path_with("", "/run/user/7"), "/run/user/7/sdmacc.socket");
  EXPECT_EQ(path_with(nullptr, nullptr), "/run/sdmacc/sdmacc.socket");
  EXPECT_EQ(path_with(nullptr, ""), "/run/sdmacc/sdmacc.socket");
}

// Inherited sockets have fixed numbers, so each case is a process of its own.
class Inherited : public Listeners {
 protected:
  // Exit status of a child with fd as number 3, which expects `text` ("" is a listener that works).
  static void run(int fd, const std::string& count, const std::string& text) {
    EXPECT_EXIT(
        {
          if (fd >= 0 && ::dup2(fd, 3) != 3) std::exit(1);
          ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
          ::setenv("LISTEN_FDS", count.c_str(), 1);
          const auto sockets = Listener::inherited();
          const std::string got = sockets ? "" : sockets.error().context;
          if (got != text) std::fprintf(stderr, "%s\n", got.c_str());
          const bool works = !sockets || (sockets->size() == 1 && (*sockets)[0].fd() == 3 &&
                                          std::getenv("LISTEN_FDS") == nullptr);
          std::exit(got == text && works ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
  }
};

TEST_F(Inherited, ListeningSocket) {
  const auto listener = Listener::bind(path_, 0600);
  ASSERT_TRUE(listener);
  run(listener->fd(), "1", "");
}

TEST_F(Inherited, NotAListeningSocket) {
  const wire::UniqueFd stream(::socket(AF_UNIX, SOCK_STREAM, 0));
  run(stream.get(), "1", "inherited descriptor 3 is not a listening SOCK_SEQPACKET socket");
}

TEST_F(Inherited, NotASocket) {
  const wire::UniqueFd file(::open("/dev/null", O_RDONLY));
  run(file.get(), "1", "inherited descriptor 3 is not a socket: Socket operation on non-socket");
}

TEST_F(Inherited, BadCount) {
  run(-1, "3x", "LISTEN_FDS is not a number from 1 to 64");
}

TEST_F(Inherited, NoneForAnotherProcess) {
  ::setenv("LISTEN_PID", "1", 1);
  ::setenv("LISTEN_FDS", "1", 1);
  const auto sockets = Listener::inherited();
  ASSERT_TRUE(sockets);
  EXPECT_TRUE(sockets->empty());
  ::unsetenv("LISTEN_PID");
  ::unsetenv("LISTEN_FDS");
}

}  // namespace
}  // namespace sdmacc::server
