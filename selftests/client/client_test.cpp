// SPDX-License-Identifier: MIT
// libsdmacc against a server in the same process: what each function does and how it refuses.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <thread>

#include "selftests/client/handles.hpp"
#include "selftests/server/harness.hpp"

namespace sdmacc::client_test {
namespace {

using server::FakeBackend;
using server::memory_file;
using server::Server;
using server::TestDaemon;
using server::View;
using testing::HasSubstr;

// Calls f(rank) on a thread for each rank.
template <typename F>
void on_ranks(std::uint32_t ranks, F&& f) {
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) threads.emplace_back([&f, rank] { f(rank); });
  for (std::thread& thread : threads) thread.join();
}

class Client : public testing::Test {
 protected:
  std::string path() const { return daemon_.path(); }
  void hold(bool on) {
    daemon_.on_loop([on](Server&, FakeBackend& backend) {
      backend.hold = on;
      if (!on) backend.release();
    });
  }

  TestDaemon daemon_;
};

TEST_F(Client, ConnectWithoutDaemon) {
  sdmacc_connection* connection = nullptr;
  const std::string nowhere = path() + "x";
  EXPECT_EQ(sdmacc_connect(nowhere.c_str(), &connection), SDMACC_DAEMON_GONE);
  EXPECT_EQ(connection, nullptr);
  EXPECT_EQ(sdmacc_last_error(), "client: no daemon listens on " + nowhere +
                                     ": No such file or directory (daemon gone)");
  EXPECT_EQ(sdmacc_connect(std::string(200, 'a').c_str(), &connection), SDMACC_INVALID);
  EXPECT_THAT(sdmacc_last_error(), HasSubstr("has 200 bytes, must have 1 to 107"));
}

TEST_F(Client, ConnectByDefaultPath) {
  ::setenv("SDMACC_SOCKET", path().c_str(), 1);
  EXPECT_EQ(sdmacc_default_path(), path());
  sdmacc_connection* connection = nullptr;
  SDMACC_EXPECT_OK(sdmacc_connect(nullptr, &connection));
  sdmacc_disconnect(connection);
  ::unsetenv("SDMACC_SOCKET");
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_STREQ(sdmacc_default_path(), "/run/user/7/sdmacc.socket");
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_STREQ(sdmacc_default_path(), "/run/sdmacc/sdmacc.socket");
}

TEST(ClientLimit, ConnectSaysWhyItIsRefused) {
  server::Options options;
  options.limits.clients = 1;
  TestDaemon daemon(options);
  const Connection first = connect(daemon.path());
  for (int i = 0; i < 50; ++i) {  // the refusal races with our first frame
    sdmacc_connection* second = nullptr;
    ASSERT_EQ(sdmacc_connect(daemon.path().c_str(), &second), SDMACC_NO_SPACE);
    ASSERT_STREQ(sdmacc_last_error(), "server: limit of 1 clients reached (no space)");
  }
}

TEST_F(Client, GroupsKnowThemselves) {
  on_ranks(3, [&](std::uint32_t rank) {
    const Connection connection = connect(path());
    const Group alone = join(connection, "alone " + std::to_string(rank), 1, 0);
    const Group group = join(connection, "all", 3, rank);
    EXPECT_EQ(sdmacc_group_id(alone.get()), 0u);
    EXPECT_EQ(sdmacc_group_id(group.get()), 1u);
    EXPECT_EQ(sdmacc_group_size(group.get()), 3u);
    EXPECT_EQ(sdmacc_group_rank(group.get()), rank);
    EXPECT_EQ(sdmacc_group_generation(group.get()), 1u);
  });
}

TEST_F(Client, JoinTimeoutNamesTheMissing) {
  const Connection connection = connect(path());
  sdmacc_group* group = nullptr;
  EXPECT_EQ(sdmacc_group_join(connection.get(), "g", 3, 0, 10, &group), SDMACC_TIMEOUT);
  EXPECT_EQ(group, nullptr);
  EXPECT_STREQ(sdmacc_last_error(),
               "server: group 'g' is not complete after 10 ms: ranks 1 and 2 of 3 are missing "
               "(timeout)");
  EXPECT_EQ(sdmacc_group_join(connection.get(), "g", 3, 0, 0, &group), SDMACC_TIMEOUT);
}

TEST_F(Client, JoinModeReachesTheDaemon) {
  const Connection connection = connect(path());
  sdmacc_group* group = nullptr;
  EXPECT_EQ(sdmacc_group_join_mode(connection.get(), "g", 1, 0, 07777, -1, &group), SDMACC_INVALID);
  EXPECT_THAT(sdmacc_last_error(), HasSubstr("mode 07777 has more than permission bits"));
}

TEST_F(Client, TensorsAreSharedZeros) {
  const Connection connection = connect(path());
  const Tensor a = make_tensor(connection, 1000), b = make_tensor(connection, 10);
  EXPECT_EQ(sdmacc_tensor_id(a.get()), 0u);
  EXPECT_EQ(sdmacc_tensor_id(b.get()), 1u);
  EXPECT_EQ(sdmacc_tensor_bytes(a.get()), 4000u);
  for (const float x : floats(a)) ASSERT_EQ(x, 0.0f);
  floats(a)[999] = 1.5f;
  float seen = 0;
  EXPECT_EQ(::pread(sdmacc_tensor_fd(a.get()), &seen, 4, 3996), 4);
  EXPECT_EQ(seen, 1.5f);
  EXPECT_EQ(::fcntl(sdmacc_tensor_fd(a.get()), F_GET_SEALS),
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  sdmacc_tensor* none = nullptr;
  EXPECT_EQ(sdmacc_tensor_alloc(connection.get(), 0, &none), SDMACC_INVALID);
  EXPECT_EQ(sdmacc_tensor_alloc(connection.get(), ~std::uint64_t{0}, &none), SDMACC_NO_SPACE);
}

TEST_F(Client, ImportedTensorsAreTheCallersMemory) {
  const Connection connection = connect(path());
  const Group group = join(connection, "g", 1, 0);
  wire::UniqueFd fd = memory_file(3 * 4096);
  const float in[2] = {3, 4};
  ASSERT_EQ(::pwrite(fd.get(), in, sizeof(in), 5000), 8);
  sdmacc_tensor* made = nullptr;
  SDMACC_EXPECT_OK(sdmacc_tensor_import(connection.get(), fd.get(), 5000, 100, &made));
  const Tensor tensor(made);
  EXPECT_EQ(floats(tensor)[1], 4.0f);
  EXPECT_EQ(sdmacc_all_reduce(group.get(), made, made, 0, 2, 2, SDMACC_FP32, SDMACC_FMA, 10), 0);
  float out[2] = {};
  ASSERT_EQ(::pread(fd.get(), out, sizeof(out), 5008), 8);
  EXPECT_EQ(out[0], 30.0f);
  EXPECT_EQ(out[1], 40.0f);
  fd.reset();
  EXPECT_EQ(floats(tensor)[3], 40.0f);
}

TEST_F(Client, ImportRefusesWhatCouldShrink) {
  const Connection connection = connect(path());
  sdmacc_tensor* tensor = nullptr;
  EXPECT_EQ(
      sdmacc_tensor_import(connection.get(), memory_file(4096, false).get(), 0, 4096, &tensor),
      SDMACC_INVALID);
  EXPECT_THAT(sdmacc_last_error(), HasSubstr("without F_SEAL_SHRINK"));
  EXPECT_EQ(sdmacc_tensor_import(connection.get(), memory_file(4096).get(), 4000, 97, &tensor),
            SDMACC_RANGE);
  EXPECT_EQ(sdmacc_tensor_import(connection.get(), -1, 0, 1, &tensor), SDMACC_INVALID);
  EXPECT_EQ(tensor, nullptr);
}

TEST_F(Client, ReadOnlyMemoryIsForInputs) {
  const Connection connection = connect(path());
  const Group group = join(connection, "g", 1, 0);
  const wire::UniqueFd fd = memory_file(4096);
  const wire::UniqueFd reading(
      ::open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), O_RDONLY | O_CLOEXEC));
  sdmacc_tensor* made = nullptr;
  SDMACC_EXPECT_OK(sdmacc_tensor_import(connection.get(), reading.get(), 0, 4096, &made));
  const Tensor in(made), out = make_tensor(connection, 4);
  EXPECT_EQ(
      sdmacc_all_reduce(group.get(), in.get(), out.get(), 0, 0, 4, SDMACC_FP32, SDMACC_ADD, 1),
      SDMACC_OK);
  EXPECT_EQ(
      sdmacc_all_reduce(group.get(), out.get(), in.get(), 0, 0, 4, SDMACC_FP32, SDMACC_ADD, 1),
      SDMACC_INVALID);
}

// One operation of every kind, out of place, from and to offsets.
TEST_F(Client, ReducesOnAllRanks) {
  constexpr std::uint32_t kRanks = 4;
  const std::pair<int, float> cases[] = {
      {SDMACC_ADD, 10.0f}, {SDMACC_FMA, 30.0f}, {SDMACC_MAX, 4.0f}, {SDMACC_MIN, 1.0f}};
  on_ranks(kRanks, [&](std::uint32_t rank) {
    const Connection connection = connect(path());
    const Group group = join(connection, "g", kRanks, rank);
    const Tensor in = make_tensor(connection, 100), out = make_tensor(connection, 100);
    const auto mine = static_cast<float>(rank + 1);
    for (std::size_t i = 10; i < 60; ++i) floats(in)[i] = mine;
    for (const auto& [op, result] : cases) {
      for (float& x : floats(out)) x = -7;
      SDMACC_EXPECT_OK(
          sdmacc_all_reduce(group.get(), in.get(), out.get(), 10, 20, 50, SDMACC_FP32, op, mine));
      for (std::size_t i = 0; i < 100; ++i) {
        ASSERT_EQ(floats(out)[i], i >= 20 && i < 70 ? result : -7.0f) << op << " at " << i;
      }
    }
  });
}

// The instruction word, byte by byte, as the daemon gets it.
TEST_F(Client, WritesTheWordOfTheInstructionSet) {
  const Connection connection = connect(path());
  const Group zero = join(connection, "a", 1, 0), one = join(connection, "b", 1, 0);
  const Tensor first = make_tensor(connection, 64), second = make_tensor(connection, 64);
  const auto bytes_of = [&](std::uint64_t from, std::uint64_t to, std::uint64_t count, int op) {
    SDMACC_EXPECT_OK(sdmacc_all_reduce(one.get(), first.get(), second.get(), from, to, count,
                                       SDMACC_FP32, op, 2));
    std::vector<unsigned> out;
    daemon_.on_loop([&](Server&, FakeBackend& backend) {
      for (const std::byte byte : backend.last_words)
        out.push_back(std::to_integer<unsigned>(byte));
      EXPECT_EQ(backend.last_scale.has_value(), op == SDMACC_FMA);
    });
    return out;
  };
  std::vector<unsigned> expected(64);
  expected[0] = 0xc8;
  expected[1] = 0x10;
  expected[12] = 4;
  expected[13] = 0x0a;
  expected[14] = 1;
  expected[20] = 1;
  expected[24] = 32;
  expected[32] = 1;
  expected[48] = 5;
  expected[56] = 7;
  EXPECT_EQ(bytes_of(5, 7, 32, SDMACC_ADD), expected);
  EXPECT_EQ(bytes_of(5, 7, 32, SDMACC_FMA), expected);
  expected[12] = 8;
  EXPECT_EQ(bytes_of(5, 7, 32, SDMACC_MAX), expected);
  expected[12] = 9;
  EXPECT_EQ(bytes_of(5, 7, 32, SDMACC_MIN), expected);
  EXPECT_EQ(sdmacc_all_reduce(one.get(), first.get(), second.get(), 0, 0, 1, SDMACC_FP32, 4, 1),
            SDMACC_INVALID);
  EXPECT_STREQ(sdmacc_last_error(),
               "client: op 4 is none of ADD (0), FMA (1), MAX (2), MIN (3) (invalid)");
  EXPECT_EQ(sdmacc_all_reduce(one.get(), first.get(), second.get(), 0, 0, 1, 256, 0, 1),
            SDMACC_INVALID);
}

TEST_F(Client, RawWordsGoThroughUnchanged) {
  const Connection connection = connect(path());
  const Group group = join(connection, "g", 1, 0);
  const Tensor tensor = make_tensor(connection, 4);
  unsigned char words[128] = {};
  const sdmacc_isa_c8 word = server::word(0, 0, 0, 4);
  std::memcpy(words, &word, sizeof(word));
  words[127] = 3;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{128}}) {
    sdmacc_request* request = nullptr;
    SDMACC_EXPECT_OK(sdmacc_submit_words(group.get(), words, bytes, nullptr, &request));
    SDMACC_EXPECT_OK(sdmacc_request_wait(request, -1));
    sdmacc_request_free(request);
    daemon_.on_loop([&](Server&, FakeBackend& backend) {
      ASSERT_EQ(backend.last_words.size(), bytes);
      EXPECT_EQ(std::memcmp(backend.last_words.data(), words, bytes), 0);
    });
  }
  sdmacc_request* request = nullptr;
  EXPECT_EQ(sdmacc_submit_words(group.get(), words, 65, nullptr, &request), SDMACC_INVALID);
  words[0] = 0xc9;
  SDMACC_EXPECT_OK(sdmacc_submit_words(group.get(), words, 64, nullptr, &request));
  EXPECT_EQ(sdmacc_request_wait(request, -1), SDMACC_UNSUPPORTED);
  EXPECT_STREQ(sdmacc_last_error(), "match: opcode 0xc9 (unsupported)");
  sdmacc_request_free(request);
}

TEST_F(Client, RequestsInFlight) {
  const Connection connection = connect(path());
  const Group group = join(connection, "g", 1, 0);
  const Tensor tensor = make_tensor(connection, 4);
  hold(true);
  std::vector<Request> requests;
  for (int i = 0; i < 64; ++i) requests.push_back(add_async(group, tensor, 4));
  sdmacc_request* extra = nullptr;
  EXPECT_EQ(sdmacc_all_reduce_async(group.get(), tensor.get(), tensor.get(), 0, 0, 4, SDMACC_FP32,
                                    SDMACC_ADD, 1, &extra),
            SDMACC_NO_SPACE);
  EXPECT_THAT(sdmacc_last_error(), HasSubstr("64 requests are in flight"));
  EXPECT_EQ(sdmacc_request_test(requests[0].get()), SDMACC_BUSY);
  EXPECT_EQ(sdmacc_request_wait(requests[0].get(), 0), SDMACC_BUSY);
  EXPECT_EQ(sdmacc_request_wait(requests[0].get(), 5), SDMACC_BUSY);
  EXPECT_STREQ(sdmacc_last_error(), "client: not done after 5 ms (busy)");
  ASSERT_TRUE(daemon_.eventually([](const View& v) { return v.sessions[0].in_flight == 64; }));
  requests[10].reset();  // forgotten, not cancelled
  hold(false);
  SDMACC_EXPECT_OK(sdmacc_request_wait(requests[63].get(), -1));
  for (const Request& request : requests) {
    if (request) {
      SDMACC_EXPECT_OK(sdmacc_request_test(request.get()));
    }
  }
  SDMACC_EXPECT_OK(sdmacc_request_wait(requests[0].get(), 0));  // again
  SDMACC_EXPECT_OK(add(group, tensor, 4));
}

// Errors of requests that nobody waits for yet, mixed with good ones, keep their own texts.
TEST_F(Client, EachRequestHasItsOwnError) {
  const Connection connection = connect(path());
  const Group group = join(connection, "g", 1, 0);
  const Tensor tensor = make_tensor(connection, 4);
  std::vector<Request> requests;
  for (std::uint64_t i = 0; i < 20; ++i)
    requests.push_back(add_async(group, tensor, i % 5 + i / 5 * 2));
  for (std::uint64_t i = 20; i-- > 0;) {
    const std::uint64_t count = i % 5 + i / 5 * 2;
    const int code = sdmacc_request_wait(requests[i].get(), -1);
    EXPECT_EQ(code, count > 4 ? SDMACC_RANGE : SDMACC_OK) << count;
    if (count > 4) {
      EXPECT_EQ(sdmacc_last_error(),
                "match: " + std::to_string(count) +
                    " elements from 0 on are outside tensor 0 of 4 (out of range)");
    }
  }
}

TEST_F(Client, ThreadsShareAConnection) {
  constexpr std::uint32_t kThreads = 4;
  const Connection connection = connect(path());
  on_ranks(kThreads, [&](std::uint32_t rank) {
    const Group group = join(connection, "g", kThreads, rank);
    const Tensor tensor = make_tensor(connection, 1);
    for (int i = 0; i < server::thinned(2000); ++i) {
      floats(tensor)[0] = static_cast<float>(rank);
      ASSERT_EQ(add(group, tensor, 1), SDMACC_OK) << sdmacc_last_error();
      ASSERT_EQ(floats(tensor)[0], 6.0f);
      if (i % 100 == 0) {
        char* json = nullptr;
        ASSERT_EQ(sdmacc_query(connection.get(), "echo", "x", &json), SDMACC_OK);
        ASSERT_STREQ(json, "\"x\"");
        sdmacc_text_free(json);
      }
    }
    // Nobody leaves while another may still be in its last operation.
    ASSERT_EQ(add(group, tensor, 0), SDMACC_OK);
  });
}

TEST_F(Client, MismatchIsToldToAll) {
  on_ranks(2, [&](std::uint32_t rank) {
    const Connection connection = connect(path());
    const Group group = join(connection, "g", 2, rank);
    const Tensor tensor = make_tensor(connection, 4);
    EXPECT_EQ(add(group, tensor, rank), SDMACC_MISMATCH);
    EXPECT_STREQ(sdmacc_last_error(),
                 "match: rank 0 has op 4 dtype 10 count 0, rank 1 has op 4 dtype 10 count 1 "
                 "(mismatch)");
    EXPECT_EQ(add(group, tensor, 1), SDMACC_REVOKED);
    EXPECT_THAT(sdmacc_last_error(), HasSubstr("group 'g' failed before: match: rank 0 has"));
    SDMACC_EXPECT_OK(sdmacc_group_rebuild(group.get(), -1));
    EXPECT_EQ(sdmacc_group_generation(group.get()), 2u);
    EXPECT_EQ(add(group, tensor, 1), SDMACC_OK);
    EXPECT_EQ(add(group, tensor, 0), SDMACC_OK);  // nobody leaves before
  });
}

TEST_F(Client, AbortReachesTheOthers) {
  on_ranks(2, [&](std::uint32_t rank) {
    const Connection connection = connect(path());
    const Group group = join(connection, "g", 2, rank);
    const Tensor tensor = make_tensor(connection, 4);
    if (rank == 0) {
      SDMACC_EXPECT_OK(sdmacc_group_abort(group.get(), "had enough"));
      EXPECT_EQ(sdmacc_group_status(group.get()), SDMACC_CANCELLED);
    } else {
      const int code = add(group, tensor, 4);
      EXPECT_TRUE(code == SDMACC_CANCELLED || code == SDMACC_REVOKED);
    }
    EXPECT_THAT(sdmacc_last_error(), HasSubstr("aborted: had enough"));
    SDMACC_EXPECT_OK(sdmacc_group_rebuild(group.get(), -1));
    SDMACC_EXPECT_OK(sdmacc_group_status(group.get()));
    SDMACC_EXPECT_OK(add(group, tensor, 4));
    SDMACC_EXPECT_OK(add(group, tensor, 0));  // nobody leaves before
  });
}

TEST_F(Client, StatusTellsOfAPeersDeath) {
  Connection other = connect(path());
  const Connection connection = connect(path());
  Group theirs;
  std::thread thread([&] { theirs = join(other, "g", 2, 1); });
  const Group group = join(connection, "g", 2, 0);
  thread.join();
  SDMACC_EXPECT_OK(sdmacc_group_status(group.get()));
  other.reset();
  while (sdmacc_group_status(group.get()) == SDMACC_OK) std::this_thread::yield();
  EXPECT_EQ(sdmacc_group_status(group.get()), SDMACC_PEER_GONE);
  EXPECT_THAT(sdmacc_last_error(), HasSubstr("rank 1 of group 'g'"));
  EXPECT_EQ(sdmacc_group_leave(theirs.release()), SDMACC_DAEMON_GONE);
}

TEST_F(Client, OperationTimeout) {
  on_ranks(2, [&](std::uint32_t rank) {
    const Connection connection = connect(path());
    const Group group = join(connection, "g", 2, rank);
    const Tensor tensor = make_tensor(connection, 4);
    if (rank == 0) {
      SDMACC_EXPECT_OK(sdmacc_group_set_timeout(group.get(), 10));
      EXPECT_EQ(add(group, tensor, 4), SDMACC_TIMEOUT);
      EXPECT_THAT(sdmacc_last_error(), HasSubstr("waits for ranks 1"));
    } else {
      while (sdmacc_group_status(group.get()) == SDMACC_OK) std::this_thread::yield();
    }
  });
}

TEST_F(Client, Queries) {
  const Connection connection = connect(path());
  char* json = nullptr;
  SDMACC_EXPECT_OK(sdmacc_query(connection.get(), "echo", nullptr, &json));
  EXPECT_STREQ(json, "\"\"");
  sdmacc_text_free(json);
  SDMACC_EXPECT_OK(sdmacc_query(connection.get(), "long", "", &json));
  EXPECT_EQ(std::string(json), std::string(1 << 20, 'x'));
  sdmacc_text_free(json);
  EXPECT_EQ(sdmacc_query(connection.get(), "weather", "", &json), SDMACC_NOT_FOUND);
  EXPECT_EQ(json, nullptr);
}

TEST_F(Client, TensorsOfAnotherConnection) {
  const Connection a = connect(path()), b = connect(path());
  const Group group = join(a, "g", 1, 0);
  const Tensor mine = make_tensor(a, 1), theirs = make_tensor(b, 1);
  EXPECT_EQ(sdmacc_all_reduce(group.get(), theirs.get(), mine.get(), 0, 0, 1, SDMACC_FP32, 0, 1),
            SDMACC_INVALID);
  EXPECT_THAT(sdmacc_last_error(), HasSubstr("in belongs to another connection than group"));
  EXPECT_EQ(sdmacc_all_reduce(group.get(), mine.get(), theirs.get(), 0, 0, 1, SDMACC_FP32, 0, 1),
            SDMACC_INVALID);
}

TEST_F(Client, ErrorsAreOfTheirThread) {
  sdmacc_connection* connection = nullptr;
  EXPECT_NE(sdmacc_connect("/", &connection), SDMACC_OK);
  EXPECT_STRNE(sdmacc_last_error(), "");
  std::thread([] { EXPECT_STREQ(sdmacc_last_error(), ""); }).join();
}

TEST(Names, OfCodesAndVersion) {
  EXPECT_STREQ(sdmacc_strerror(SDMACC_OK), "ok");
  EXPECT_STREQ(sdmacc_strerror(SDMACC_PEER_GONE), "peer gone");
  EXPECT_STREQ(sdmacc_strerror(SDMACC_INTERNAL), "internal");
  for (const int code : {-1, 18, 1000, 1 << 20}) EXPECT_STREQ(sdmacc_strerror(code), "unknown");
  EXPECT_THAT(sdmacc_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Null, IsInvalidOrHarmless) {
  sdmacc_group* group = nullptr;
  sdmacc_tensor* tensor = nullptr;
  sdmacc_request* request = nullptr;
  char* text = nullptr;
  const unsigned char words[64] = {};
  const int codes[] = {
      sdmacc_connect("/x", nullptr),
      sdmacc_group_join(nullptr, "g", 1, 0, 0, &group),
      sdmacc_group_join_mode(nullptr, "g", 1, 0, 0600, 0, &group),
      sdmacc_group_join(nullptr, "g", 1, 0, 0, nullptr),
      sdmacc_group_rebuild(nullptr, 0),
      sdmacc_group_abort(nullptr, "x"),
      sdmacc_group_status(nullptr),
      sdmacc_group_set_timeout(nullptr, 0),
      sdmacc_tensor_alloc(nullptr, 1, &tensor),
      sdmacc_tensor_import(nullptr, 0, 0, 1, &tensor),
      sdmacc_all_reduce(nullptr, nullptr, nullptr, 0, 0, 0, 0, 0, 1),
      sdmacc_all_reduce_async(nullptr, nullptr, nullptr, 0, 0, 0, 0, 0, 1, &request),
      sdmacc_submit_words(nullptr, words, 64, nullptr, &request),
      sdmacc_request_wait(nullptr, 0),
      sdmacc_request_test(nullptr),
      sdmacc_query(nullptr, "status", nullptr, &text),
  };
  for (std::size_t i = 0; i < std::size(codes); ++i) EXPECT_EQ(codes[i], SDMACC_INVALID) << i;
  sdmacc_disconnect(nullptr);
  EXPECT_EQ(sdmacc_group_leave(nullptr), SDMACC_OK);
  EXPECT_EQ(sdmacc_tensor_free(nullptr), SDMACC_OK);
  sdmacc_request_free(nullptr);
  sdmacc_text_free(nullptr);
  EXPECT_EQ(sdmacc_tensor_data(nullptr), nullptr);
  EXPECT_EQ(sdmacc_tensor_bytes(nullptr), 0u);
  EXPECT_EQ(sdmacc_tensor_fd(nullptr), -1);
}

}  // namespace
}  // namespace sdmacc::client_test
