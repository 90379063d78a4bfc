// SPDX-License-Identifier: MIT
// Limits, each named by its error, and long runs that must leave memory and descriptors as they
// were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using testing::HasSubstr;

TEST(Limit, Clients) {
  Options options;
  options.limits.clients = 2;
  TestDaemon daemon(options);
  RawClient a(daemon), b(daemon);
  a.hello();
  b.hello();
  {
    RawClient c(daemon);
    const auto refused = c.receive();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), Errc::NoSpace);
    EXPECT_THAT(refused->text(), HasSubstr("limit of 2 clients reached"));
    EXPECT_FALSE(c.receive());
  }
  a.close();
  ASSERT_TRUE(daemon.eventually([](const View& view) { return view.sessions.size() == 1; }));
  RawClient d(daemon);
  d.hello();
}

TEST(Limit, Groups) {
  Options options;
  options.limits.groups = 2;
  TestDaemon daemon(options);
  RawClient client(daemon);
  client.hello();
  client.join_alone("a");
  client.join_alone("b");
  client.join(1, "c", 1, 0);
  const auto refused = client.receive();
  EXPECT_EQ(refused.value().code(), Errc::NoSpace);
  EXPECT_THAT(refused->text(), HasSubstr("limit of 2 groups reached"));
}

TEST(Limit, TensorsOfAClient) {
  Options options;
  options.limits.tensors_per_client = 2;
  TestDaemon daemon(options);
  RawClient a(daemon), b(daemon);
  a.hello();
  b.hello();
  const wire::UniqueFd memory = memory_file(4096);
  a.register_memory(memory, 0, 1);
  a.register_memory(memory, 0, 1);
  const Reply refused = a.register_memory(memory, 0, 1);
  EXPECT_EQ(refused.code(), Errc::NoSpace);
  EXPECT_THAT(refused.text(), HasSubstr("limit of 2 tensors a client reached"));
  EXPECT_EQ(b.register_memory(memory, 0, 1).code(), Errc::Ok);
  EXPECT_EQ(daemon.view().mapped_bytes, 3u * 4096);
}

TEST(Limit, MappedBytesOfAllClients) {
  Options options;
  options.limits.mapped_bytes = 8192;
  TestDaemon daemon(options);
  RawClient a(daemon), b(daemon);
  a.hello();
  b.hello();
  const wire::UniqueFd memory = memory_file(8192);
  EXPECT_EQ(a.register_memory(memory, 0, 4097).code(), Errc::Ok);
  EXPECT_EQ(b.register_memory(memory, 0, 1).code(), Errc::NoSpace);
  a.close();
  ASSERT_TRUE(daemon.eventually([](const View& view) { return view.mapped_bytes == 0; }));
  EXPECT_EQ(b.register_memory(memory, 0, 1).code(), Errc::Ok);
}

TEST(Limit, InFlightByTheSocket) {
  Options options;
  options.limits.in_flight_per_client = 2;
  TestDaemon daemon(options);
  RawClient client(daemon);
  client.hello();
  client.join_alone("g");
  client.register_memory(memory_file(4096), 0, 4096);
  daemon.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  const sdmacc_isa_c8 what = word(0, 0, 0, 0);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    client.send(wire::MessageWriter(SDMACC_FRAME_SUBMIT, 1, i)
                    .u32(SDMACC_FIELD_GROUP, 0)
                    .bytes(SDMACC_FIELD_WORDS, std::as_bytes(std::span(&what, 1))));
  }
  const auto refused = client.receive();
  EXPECT_EQ(refused.value().message.header.request, 3u);
  EXPECT_EQ(refused->code(), Errc::NoSpace);
  EXPECT_THAT(refused->text(), HasSubstr("limit of 2 requests in flight a client reached"));
  daemon.on_loop([](Server&, FakeBackend& backend) { backend.release(); });
}

TEST(Limit, FrameSize) {
  Options options;
  options.limits.frame_bytes = 4096;
  TestDaemon daemon(options);
  RawClient client(daemon);
  EXPECT_EQ(client.hello().message.u32(SDMACC_FIELD_FRAME_LIMIT), 4096u);
  const auto query = [&](std::size_t bytes) {
    return client.ask(wire::MessageWriter(SDMACC_FRAME_QUERY, 1, 3)
                          .text(SDMACC_FIELD_KIND, "echo")
                          .text(SDMACC_FIELD_ARGUMENTS, std::string(bytes, 'a')));
  };
  EXPECT_EQ(query(4000).code(), Errc::Ok);
  const Reply refused = query(4097);
  EXPECT_EQ(refused.code(), Errc::Protocol);
  EXPECT_THAT(refused.text(), HasSubstr("is over the limit of 4096"));
  // An answer that does not fit comes in a file.
  const Reply filed = query(4056);
  EXPECT_EQ(filed.code(), Errc::Ok) << filed.text();
  EXPECT_EQ(filed.fds.size(), 1u);
  EXPECT_EQ(filed.message.u64(SDMACC_FIELD_BYTES), 4058u);
}

// When descriptors run out, the daemon tells its clients and goes on when there are some again.
TEST(Limit, DescriptorsOfTheDaemon) {
  TestDaemon daemon;
  RawClient client(daemon);
  client.hello();
  const wire::UniqueFd memory = memory_file(4096);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(open_files()), before.rlim_max};
  std::vector<wire::UniqueFd> fillers;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int fd; (fd = ::dup(0)) >= 0;) fillers.emplace_back(fd);
  const Reply refused = client.register_memory(memory, 0, 4096);
  EXPECT_EQ(refused.code(), Errc::Protocol) << refused.text();
  fillers.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.register_memory(memory, 0, 4096).code(), Errc::Ok);
}

// The long runs: a warm-up, then many rounds, after which there must be no more than before.
void stays_flat(int rounds, const std::function<void()>& round) {
  for (int i = 0; i < rounds / 10 + 10; ++i) round();
  const std::size_t files = open_files(), bytes = resident_bytes();
  for (int i = 0; i < rounds; ++i) round();
  EXPECT_EQ(open_files(), files);
  if (!sanitized()) {
    EXPECT_LT(resident_bytes(), bytes + (1 << 20));
  }
}

TEST(Flat, TenThousandGroups) {
  TestDaemon daemon;
  RawClient a(daemon), b(daemon);
  a.hello(true);
  b.hello(true);
  stays_flat(thinned(10'000), [&] {
    a.join(1, "group", 2, 0);
    b.join(1, "group", 2, 1);
    ASSERT_EQ(a.receive().value().code(), Errc::Ok);
    ASSERT_EQ(b.receive().value().code(), Errc::Ok);
    wire::MessageWriter leave(SDMACC_FRAME_LEAVE, 1, 2);
    leave.u32(SDMACC_FIELD_GROUP, 0);
    const auto frame = leave.finish();
    ASSERT_TRUE(a.send(frame));
    ASSERT_EQ(a.receive().value().code(), Errc::Ok);
    ASSERT_EQ(b.receive().value().message.header.type, SDMACC_FRAME_GROUP_EVENT);
    ASSERT_TRUE(b.send(frame));
    ASSERT_EQ(b.receive().value().code(), Errc::Ok);
    daemon.on_loop([](Server&, FakeBackend& backend) { backend.events.clear(); });
  });
  EXPECT_TRUE(daemon.view().groups.empty());
}

TEST(Flat, ThousandsOfClientsAndTensors) {
  TestDaemon daemon;
  const wire::UniqueFd memory = memory_file(1 << 16);
  stays_flat(thinned(2000), [&] {
    RawClient client(daemon);
    client.hello(true);
    client.join_alone("g");
    ASSERT_EQ(client.register_memory(memory, 0, 1 << 16).code(), Errc::Ok);
    client.submit(entry(1, word(0, 0, 0, 16)));
    ASSERT_EQ(client.wait_for_entry().code, 0u);
    client.close();
    ASSERT_TRUE(daemon.eventually([](const View& view) { return view.sessions.empty(); }));
    daemon.on_loop([](Server&, FakeBackend& backend) { backend.events.clear(); });
  });
  EXPECT_EQ(daemon.view().mapped_bytes, 0u);
}

}  // namespace
}  // namespace sdmacc::server
