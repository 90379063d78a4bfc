// SPDX-License-Identifier: MIT
// Random frames from a fixed seed: through the parser, where what is accepted must be whole, and
// through a running server, which must answer or hang up and go on serving others.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <random>

#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using Random = std::mt19937_64;
using wire::MessageWriter;

constexpr std::uint64_t kSeed = 20240611;

std::uint64_t below(Random& random, std::uint64_t limit) {
  return random() % limit;
}

// Small numbers, edges, and anything.
std::uint64_t number(Random& random) {
  switch (below(random, 5)) {
    case 0:
      return below(random, 4);
    case 1:
      return std::uint64_t{1} << below(random, 64);
    case 2:
      return (std::uint64_t{1} << below(random, 64)) - 1;
    case 3:
      return below(random, 5000);
    default:
      return random();
  }
}

std::string text(Random& random) {
  static const std::string choices[] = {"g", "h", "echo", "long", "", "\xff", "a\nb", "é"};
  if (below(random, 10) == 0) return std::string(below(random, 5000), 'x');
  return choices[below(random, std::size(choices))];
}

constexpr std::uint16_t kFrames[] = {
    SDMACC_FRAME_HELLO,      SDMACC_FRAME_JOIN,   SDMACC_FRAME_LEAVE, SDMACC_FRAME_REGISTER,
    SDMACC_FRAME_UNREGISTER, SDMACC_FRAME_SUBMIT, SDMACC_FRAME_ABORT, SDMACC_FRAME_QUERY};

constexpr std::uint16_t kFieldsOf[][5] = {
    {SDMACC_FIELD_VERSION_MIN, SDMACC_FIELD_VERSION_MAX, SDMACC_FIELD_FEATURES,
     SDMACC_FIELD_CLIENT_NAME},
    {SDMACC_FIELD_NAME, SDMACC_FIELD_SIZE, SDMACC_FIELD_RANK, SDMACC_FIELD_MODE,
     SDMACC_FIELD_TIMEOUT},
    {SDMACC_FIELD_GROUP},
    {SDMACC_FIELD_OFFSET, SDMACC_FIELD_BYTES, SDMACC_FIELD_TENSOR, SDMACC_FIELD_ACCESS},
    {SDMACC_FIELD_TENSOR},
    {SDMACC_FIELD_GROUP, SDMACC_FIELD_WORDS, SDMACC_FIELD_SCALE, SDMACC_FIELD_TIMEOUT},
    {SDMACC_FIELD_GROUP, SDMACC_FIELD_TEXT},
    {SDMACC_FIELD_KIND, SDMACC_FIELD_ARGUMENTS}};

void add_field(Random& random, MessageWriter& out, std::uint16_t field) {
  switch (wire::field_info(field)->kind) {
    case wire::FieldKind::U32:
      out.u32(field, static_cast<std::uint32_t>(number(random)));
      return;
    case wire::FieldKind::U64:
      out.u64(field, number(random));
      return;
    case wire::FieldKind::F32:
      out.f32(field, static_cast<float>(number(random)));
      return;
    case wire::FieldKind::Text:
      out.text(field, text(random));
      return;
    case wire::FieldKind::Words: {
      sdmacc_isa_c8 words[2] = {
          word(static_cast<std::uint32_t>(below(random, 3)),
               static_cast<std::uint32_t>(below(random, 3)), 0, below(random, 100)),
          {}};
      if (below(random, 4) == 0) words[0].src_offset_elems = number(random);
      out.bytes(field, std::as_bytes(std::span(words)).first(64 * (1 + below(random, 2))));
      return;
    }
  }
}

// A frame that is mostly right.
std::vector<std::byte> plausible(Random& random) {
  const std::size_t which = below(random, std::size(kFrames));
  MessageWriter out(kFrames[which], below(random, 50) == 0 ? 2 : 1, number(random));
  for (const std::uint16_t field : kFieldsOf[which]) {
    if (field != 0 && below(random, 16) != 0) add_field(random, out, field);
  }
  if (below(random, 16) == 0) out.u32(static_cast<std::uint16_t>(random()), 0);
  return out.finish();
}

void damage(Random& random, std::vector<std::byte>& bytes) {
  for (std::uint64_t i = below(random, 4); i > 0 && !bytes.empty(); --i) {
    switch (below(random, 4)) {
      case 0:
        bytes[below(random, bytes.size())] ^= std::byte{1} << below(random, 8);
        break;
      case 1:
        bytes[below(random, bytes.size())] = static_cast<std::byte>(random());
        break;
      case 2:
        bytes.resize(below(random, bytes.size() + 1));
        break;
      default:
        bytes.resize(bytes.size() + 8 * below(random, 4));
        break;
    }
  }
}

// Half of the damaged frames get their size put right, to come past the first check.
void repair_size(Random& random, std::vector<std::byte>& bytes) {
  if (bytes.size() < 4 || below(random, 2) == 0) return;
  bytes.resize(bytes.size() / 8 * 8);
  for (std::size_t i = 0; i < 4 && i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(bytes.size() >> (8 * i));
  }
}

TEST(FrameFuzz, WhatTheParserAcceptsIsWhole) {
  Random random(kSeed);
  int accepted = 0, refused = 0;
  for (int i = 0; i < thinned(300'000); ++i) {
    std::vector<std::byte> bytes = plausible(random);
    if (below(random, 3) != 0) {
      damage(random, bytes);
      repair_size(random, bytes);
    }
    std::vector<wire::UniqueFd> fds(below(random, 2));
    const std::uint32_t version = below(random, 8) == 0 ? 0 : 1;
    // An exact copy on the heap, so that a sanitizer sees a read beyond it.
    const std::vector<std::byte> exact(bytes.begin(), bytes.end());
    const auto frame = parse_frame(exact, std::move(fds), version);
    if (!frame) {
      ++refused;
      ASSERT_EQ(frame.error().code, Errc::Protocol);
      ASSERT_FALSE(frame.error().context.empty());
      continue;
    }
    ++accepted;
    ASSERT_EQ(frame->message.header.size, exact.size());
    ASSERT_EQ(frame->type() == SDMACC_FRAME_HELLO, version == 0);
    ASSERT_EQ(frame->fds.size(), frame->type() == SDMACC_FRAME_REGISTER ? 1u : 0u);
    for (const wire::Field& field : frame->message.fields) {
      ASSERT_GE(field.value.data(), exact.data() + sizeof(sdmacc_frame_header));
      ASSERT_LE(field.value.data() + field.value.size(), exact.data() + exact.size());
    }
    ASSERT_FALSE(to_string(*frame).empty());
  }
  EXPECT_GT(accepted, refused / 20);  // else the frames are too bad to be a test
  EXPECT_GT(refused, accepted / 20);
}

TEST(FrameFuzz, TheServerServesOn) {
  Options options;
  options.join_timeout = std::chrono::milliseconds(5);
  options.operation_timeout = std::chrono::milliseconds(5);
  TestDaemon daemon(options);
  RawClient good(daemon);
  good.hello();
  good.join_alone("good");
  ASSERT_EQ(good.register_memory(memory_file(4096), 0, 4096).code(), Errc::Ok);
  const wire::UniqueFd memory = memory_file(8192), unsealed = memory_file(4096, false);
  Random random(kSeed + 1);
  for (int session = 0; session < thinned(400); ++session) {
    RawClient client(daemon);
    if (below(random, 8) != 0) client.hello(below(random, 2) == 0);
    for (std::uint64_t i = below(random, 60); i > 0; --i) {
      std::vector<std::byte> bytes = plausible(random);
      if (below(random, 3) == 0) {
        damage(random, bytes);
        repair_size(random, bytes);
      }
      const int fds[2] = {below(random, 4) == 0 ? unsealed.get() : memory.get(), memory.get()};
      const bool is_register = bytes.size() > 4 && bytes[4] == std::byte{SDMACC_FRAME_REGISTER};
      const std::size_t count = is_register ? 1 : below(random, 16) == 0 ? 2 : 0;
      if (!bytes.empty() && !client.send(bytes, std::span(fds, count))) break;  // it hung up
      char drop[1 << 17];
      while (::recv(client.fd(), drop, sizeof(drop), MSG_DONTWAIT) > 0) {
      }
    }
  }
  const sdmacc_isa_c8 what = word(0, 0, 0, 8);
  const Reply reply = good.ask(MessageWriter(SDMACC_FRAME_SUBMIT, 1, 5)
                                   .u32(SDMACC_FIELD_GROUP, 0)
                                   .bytes(SDMACC_FIELD_WORDS, std::as_bytes(std::span(&what, 1))));
  EXPECT_EQ(reply.code(), Errc::Ok) << reply.text();
  EXPECT_TRUE(daemon.eventually([](const View& view) {
    return view.sessions.size() == 1 && view.groups.size() == 1 && view.mapped_bytes == 4096;
  }));
}

}  // namespace
}  // namespace sdmacc::server
