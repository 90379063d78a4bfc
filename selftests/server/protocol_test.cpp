// SPDX-License-Identifier: MIT
// Frames against a running server: versions, and one test for each way to be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using testing::HasSubstr;
using wire::MessageWriter;

MessageWriter hello_frame(std::uint32_t lowest, std::uint32_t highest) {
  MessageWriter out(SDMACC_FRAME_HELLO, 1, 1);
  out.u32(SDMACC_FIELD_VERSION_MIN, lowest)
      .u32(SDMACC_FIELD_VERSION_MAX, highest)
      .u64(SDMACC_FIELD_FEATURES, 0);
  return out;
}

std::vector<std::byte> query_bytes() {
  return MessageWriter(SDMACC_FRAME_QUERY, 1, 9).text(SDMACC_FIELD_KIND, "echo").finish();
}

// A client that has said HELLO. Each refused frame must leave it able to go on.
class Protocol : public testing::Test {
 protected:
  Protocol() : client_(daemon_) { client_.hello(); }

  void refuses(std::span<const std::byte> bytes, Errc code, const std::string& text,
               std::uint64_t request, std::span<const int> fds = {}) {
    ASSERT_TRUE(client_.send(bytes, fds));
    const auto reply = client_.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->code(), code) << reply->text();
    EXPECT_THAT(reply->text(), HasSubstr(text));
    EXPECT_EQ(reply->message.header.request, request);
    EXPECT_EQ(client_.ask(MessageWriter(SDMACC_FRAME_QUERY, 1, 77).text(SDMACC_FIELD_KIND, "echo"))
                  .code(),
              Errc::Ok);
  }
  void refuses(MessageWriter writer, Errc code, const std::string& text,
               std::span<const int> fds = {}) {
    const std::vector<std::byte> bytes = writer.finish();
    refuses(bytes, code, text, request_of(bytes), fds);
  }

  TestDaemon daemon_;
  RawClient client_;
};

TEST(Hello, AgreesOnTheHighestCommonVersion) {
  TestDaemon daemon;
  RawClient client(daemon);
  const Reply reply = client.ask(hello_frame(1, 99));
  EXPECT_EQ(reply.code(), Errc::Ok);
  EXPECT_EQ(reply.message.u32(SDMACC_FIELD_VERSION), 1u);
  EXPECT_EQ(reply.message.u64(SDMACC_FIELD_FEATURES, 7), 0u);
  EXPECT_EQ(reply.message.u32(SDMACC_FIELD_IN_FLIGHT_LIMIT), 64u);
  EXPECT_EQ(reply.message.u32(SDMACC_FIELD_FRAME_LIMIT), 65536u);
  EXPECT_TRUE(reply.fds.empty());
}

TEST(Hello, GivesRingsAndADoorbellWhenAsked) {
  TestDaemon daemon;
  RawClient client(daemon);
  const Reply reply = client.hello(true);
  EXPECT_EQ(reply.message.u64(SDMACC_FIELD_FEATURES), SDMACC_FEATURE_RINGS);
  EXPECT_EQ(client.rings.entries, 64u);
}

TEST(Hello, RefusesVersionsItDoesNotSpeakAndHangsUp) {
  TestDaemon daemon;
  for (const auto& [lowest, highest] : {std::pair(2u, 9u), std::pair(0u, 0u), std::pair(2u, 1u)}) {
    RawClient client(daemon);
    const Reply reply = client.ask(hello_frame(lowest, highest));
    EXPECT_EQ(reply.code(), Errc::Unsupported);
    EXPECT_THAT(reply.text(), HasSubstr(fmt::format("client speaks wire versions {} to {}, "
                                                    "this daemon 1 to 1",
                                                    lowest, highest)));
    EXPECT_FALSE(client.receive());
  }
}

TEST(Hello, MustComeFirst) {
  TestDaemon daemon;
  RawClient client(daemon);
  ASSERT_TRUE(client.send(query_bytes()));
  const auto reply = client.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code(), Errc::Protocol);
  EXPECT_THAT(reply->text(), HasSubstr("QUERY before HELLO"));
  EXPECT_FALSE(client.receive());
}

TEST(Hello, AfterARefusalNothingIsServed) {
  TestDaemon daemon;
  RawClient client(daemon);
  ASSERT_TRUE(client.send(query_bytes()));
  client.send(hello_frame(1, 1));
  EXPECT_EQ(client.receive().value().code(), Errc::Protocol);
  EXPECT_FALSE(client.receive());
}

TEST(Hello, IsNotWaitedForForever) {
  Options options;
  options.hello_timeout = std::chrono::milliseconds(20);
  TestDaemon daemon(options);
  RawClient client(daemon);
  const auto reply = client.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code(), Errc::Timeout);
  EXPECT_THAT(reply->text(), HasSubstr("no HELLO within 20 ms"));
  EXPECT_FALSE(client.receive());
}

TEST_F(Protocol, SecondHello) {
  refuses(hello_frame(1, 1), Errc::Protocol, "HELLO for the second time");
}

TEST_F(Protocol, EmptyMessageIsAHangup) {
  ASSERT_TRUE(client_.send(std::span<const std::byte>()));
  EXPECT_FALSE(client_.receive());
}

TEST_F(Protocol, FrameShorterThanItsHeader) {
  const std::byte bytes[12] = {};
  refuses(bytes, Errc::Protocol, "frame of 12 bytes is shorter than its header of 16", 0);
}

TEST_F(Protocol, FrameShorterThanItSays) {
  auto bytes = query_bytes();
  bytes.resize(bytes.size() - 8);
  refuses(bytes, Errc::Protocol, "frame says 32 bytes and has 24", 9);
}

TEST_F(Protocol, FrameThatIsNoMultipleOf8) {
  std::vector<std::byte> bytes(20);
  bytes[0] = std::byte{20};
  refuses(bytes, Errc::Protocol, "must be equal multiples of 8", 0);
}

TEST_F(Protocol, FrameOverTheLimit) {
  std::vector<std::byte> bytes(70'000);
  bytes[8] = std::byte{5};
  refuses(bytes, Errc::Protocol, "frame of 70000 bytes is over the limit of 65536", 5);
}

TEST_F(Protocol, UnknownType) {
  refuses(MessageWriter(0x55, 1, 3), Errc::Protocol, "frame type 0x0055 is unknown");
}

TEST_F(Protocol, FrameOfTheDaemon) {
  refuses(MessageWriter(SDMACC_FRAME_COMPLETE, 1, 3), Errc::Protocol,
          "frame type 0x0081 is unknown");
}

TEST_F(Protocol, OtherVersion) {
  refuses(MessageWriter(SDMACC_FRAME_QUERY, 2, 3).text(SDMACC_FIELD_KIND, "echo"), Errc::Protocol,
          "QUERY in version 2, must be 1");
}

TEST_F(Protocol, FieldBeyondTheFrame) {
  auto bytes = query_bytes();
  bytes[20] = std::byte{200};  // the low byte of the first field's size
  refuses(bytes, Errc::Protocol, "field at byte 16 has 200 bytes, but the frame has only 8 left",
          9);
}

TEST_F(Protocol, FieldWithReservedBytes) {
  auto bytes = query_bytes();
  bytes[18] = std::byte{1};
  refuses(bytes, Errc::Protocol, "field at byte 16 has 0x0001 in its reserved bytes", 9);
}

TEST_F(Protocol, PaddingThatIsNotZero) {
  auto bytes = query_bytes();
  bytes.back() = std::byte{1};
  refuses(bytes, Errc::Protocol, "padding at byte 31 is not 0", 9);
}

TEST_F(Protocol, FieldOfTheWrongSize) {
  refuses(MessageWriter(SDMACC_FRAME_LEAVE, 1, 3).u64(SDMACC_FIELD_GROUP, 0), Errc::Protocol,
          "field GROUP has 8 bytes, must have 4");
}

TEST_F(Protocol, WordsOfTheWrongSize) {
  const std::byte words[65] = {};
  refuses(MessageWriter(SDMACC_FRAME_SUBMIT, 1, 3)
              .u32(SDMACC_FIELD_GROUP, 0)
              .bytes(SDMACC_FIELD_WORDS, words),
          Errc::Protocol, "field WORDS has 65 bytes, must have 64 or 128");
}

TEST_F(Protocol, FieldTwice) {
  refuses(
      MessageWriter(SDMACC_FRAME_LEAVE, 1, 3).u32(SDMACC_FIELD_GROUP, 0).u32(SDMACC_FIELD_GROUP, 0),
      Errc::Protocol, "field GROUP is there twice");
}

TEST_F(Protocol, MissingField) {
  refuses(
      MessageWriter(SDMACC_FRAME_JOIN, 1, 3).text(SDMACC_FIELD_NAME, "g").u32(SDMACC_FIELD_SIZE, 1),
      Errc::Protocol, "JOIN without RANK");
}

TEST_F(Protocol, FieldOfAnotherFrame) {
  refuses(
      MessageWriter(SDMACC_FRAME_LEAVE, 1, 3).u32(SDMACC_FIELD_GROUP, 0).u32(SDMACC_FIELD_RANK, 0),
      Errc::Protocol, "LEAVE has no field RANK");
}

TEST_F(Protocol, UnknownFieldThatMustBeUnderstood) {
  refuses(MessageWriter(SDMACC_FRAME_QUERY, 1, 3).text(SDMACC_FIELD_KIND, "echo").u32(0x8123, 0),
          Errc::Protocol, "field 0x8123 at byte 32 must be understood, but is unknown");
}

TEST_F(Protocol, OtherUnknownFieldsAreSkipped) {
  const Reply reply = client_.ask(MessageWriter(SDMACC_FRAME_QUERY, 1, 3)
                                      .u64(0x123, 1)
                                      .text(SDMACC_FIELD_KIND, "echo")
                                      .u64(0x123, 1));
  EXPECT_EQ(reply.code(), Errc::Ok) << reply.text();
}

TEST_F(Protocol, DescriptorWhereThereIsNone) {
  const wire::UniqueFd memory = memory_file(4096);
  const int fd = memory.get();
  refuses(MessageWriter(SDMACC_FRAME_QUERY, 1, 3).text(SDMACC_FIELD_KIND, "echo"), Errc::Protocol,
          "QUERY with 1 file descriptors, must be 0", std::span(&fd, 1));
}

TEST_F(Protocol, RegisterWithoutDescriptor) {
  refuses(MessageWriter(SDMACC_FRAME_REGISTER, 1, 3)
              .u64(SDMACC_FIELD_OFFSET, 0)
              .u64(SDMACC_FIELD_BYTES, 4),
          Errc::Protocol, "REGISTER with 0 file descriptors, must be 1");
}

TEST_F(Protocol, RefusedDescriptorsAreClosed) {
  const wire::UniqueFd memory = memory_file(4096);
  const int fds[4] = {memory.get(), memory.get(), memory.get(), memory.get()};
  const std::size_t before = open_files();
  for (int i = 0; i < 50; ++i) {
    refuses(MessageWriter(SDMACC_FRAME_REGISTER, 1, 3)
                .u64(SDMACC_FIELD_OFFSET, 0)
                .u64(SDMACC_FIELD_BYTES, 4),
            Errc::Protocol, "REGISTER with 4 file descriptors, must be 1", fds);
  }
  daemon_.view();  // when this is done, so is the last frame
  EXPECT_EQ(open_files(), before);
}

TEST_F(Protocol, TextThatIsNotUtf8) {
  refuses(MessageWriter(SDMACC_FRAME_JOIN, 1, 3)
              .text(SDMACC_FIELD_NAME, "a\xc0\x80")
              .u32(SDMACC_FIELD_SIZE, 1)
              .u32(SDMACC_FIELD_RANK, 0),
          Errc::Invalid, "group name has byte 0xc0 at 1, which is not UTF-8");
}

TEST_F(Protocol, NameWithControlCharacter) {
  refuses(MessageWriter(SDMACC_FRAME_JOIN, 1, 3)
              .text(SDMACC_FIELD_NAME, "a\n")
              .u32(SDMACC_FIELD_SIZE, 1)
              .u32(SDMACC_FIELD_RANK, 0),
          Errc::Invalid, "group name has the control character 0x0a at 1");
}

TEST_F(Protocol, NameOfTheWrongLength) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{129}}) {
    refuses(MessageWriter(SDMACC_FRAME_JOIN, 1, 3)
                .text(SDMACC_FIELD_NAME, std::string(length, 'a'))
                .u32(SDMACC_FIELD_SIZE, 1)
                .u32(SDMACC_FIELD_RANK, 0),
            Errc::Invalid, fmt::format("group name has {} bytes, must have 1 to 128", length));
  }
}

TEST_F(Protocol, UnknownQuery) {
  refuses(MessageWriter(SDMACC_FRAME_QUERY, 1, 3).text(SDMACC_FIELD_KIND, "weather"),
          Errc::NotFound, "no query is called 'weather'");
}

TEST_F(Protocol, QueryAnswersInTheFrame) {
  const Reply reply = client_.ask(MessageWriter(SDMACC_FRAME_QUERY, 1, 3)
                                      .text(SDMACC_FIELD_KIND, "echo")
                                      .text(SDMACC_FIELD_ARGUMENTS, "hé"));
  EXPECT_EQ(reply.message.text(SDMACC_FIELD_JSON), "\"hé\"");
}

TEST_F(Protocol, LargeQueryAnswersInASealedFile) {
  const Reply reply =
      client_.ask(MessageWriter(SDMACC_FRAME_QUERY, 1, 3).text(SDMACC_FIELD_KIND, "long"));
  ASSERT_EQ(reply.fds.size(), 1u);
  EXPECT_EQ(reply.message.u64(SDMACC_FIELD_BYTES), 1u << 20);
  char last = 0;
  EXPECT_EQ(::pread(reply.fds[0].get(), &last, 1, (1 << 20) - 1), 1);
  EXPECT_EQ(last, 'x');
  EXPECT_LT(::pwrite(reply.fds[0].get(), &last, 1, 0), 0);
}

TEST_F(Protocol, FramesArePrinted) {
  const auto bytes = MessageWriter(SDMACC_FRAME_JOIN, 1, 7)
                         .text(SDMACC_FIELD_NAME, "g\"\n")
                         .u32(SDMACC_FIELD_SIZE, 4)
                         .u32(SDMACC_FIELD_RANK, 1)
                         .finish();
  const auto frame = parse_frame(bytes, {}, 1);
  ASSERT_TRUE(frame) << frame.error().text();
  EXPECT_EQ(to_string(*frame), "JOIN request 7: NAME \"g\\\"\\n\", SIZE 4, RANK 1");
}

// A client that asks and never reads must not make the daemon keep its answers.
TEST_F(Protocol, NobodyNeedReadForOthersToBeServed) {
  RawClient deaf(daemon_);
  deaf.hello();
  const auto bytes = query_bytes();
  int sent = 0;
  for (; sent < 100'000; ++sent) {
    if (wire::send(deaf.fd(), bytes, {}, false) == wire::Io::WouldBlock) break;
  }
  EXPECT_LT(sent, 100'000);
  EXPECT_EQ(
      client_.ask(MessageWriter(SDMACC_FRAME_QUERY, 1, 77).text(SDMACC_FIELD_KIND, "echo")).code(),
      Errc::Ok);
  for (int i = 0; i < sent; ++i) ASSERT_TRUE(deaf.receive()) << i;  // and then all is answered
}

}  // namespace
}  // namespace sdmacc::server
