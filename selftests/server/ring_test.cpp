// SPDX-License-Identifier: MIT
// The rings: their order and wake-ups, and entries of a hostile client, each refused by itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>
#include <vector>

#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using testing::HasSubstr;

TEST(RingEnds, PassEntriesInOrderAroundTheEnd) {
  std::vector<sdmacc_complete_entry> memory(4);
  wire::RingWriter<sdmacc_complete_entry> writer(memory.data(), 4);
  wire::RingReader<sdmacc_complete_entry> reader(memory.data(), 4);
  EXPECT_FALSE(reader.ready());
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (std::uint64_t k = 0; k <= i % 4; ++k) {
      sdmacc_complete_entry entry{};
      entry.request = i * 10 + k;
      writer.put(entry);
    }
    for (std::uint64_t k = 0; k <= i % 4; ++k) {
      ASSERT_TRUE(reader.ready());
      EXPECT_FALSE(reader.broken());
      EXPECT_EQ(reader.take().request, i * 10 + k);
    }
    ASSERT_FALSE(reader.ready());
    ASSERT_FALSE(reader.broken());
  }
  memory[reader.expected() % 4] = {};
  memory[(reader.expected() - 1) % 4].sequence = 17;
  EXPECT_TRUE(reader.broken());
}

TEST(RingEnds, ClientRefusesMemoryThatDoesNotHoldItsRings) {
  std::vector<std::byte> memory(wire::SessionMemory::bytes_for(8) + 64);
  auto* start = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
  const std::span<std::byte> bytes(start, wire::SessionMemory::bytes_for(8));
  wire::SessionMemory::create(bytes, 8);
  ASSERT_TRUE(wire::SessionMemory::open(bytes));
  EXPECT_FALSE(wire::SessionMemory::open(bytes.first(bytes.size() - 1)));
  EXPECT_FALSE(wire::SessionMemory::open(bytes.first(100)));
  auto& header = *reinterpret_cast<sdmacc_memory_header*>(start);
  const auto broken = [&](std::uint32_t& field, std::uint32_t value) {
    const std::uint32_t good = std::exchange(field, value);
    EXPECT_FALSE(wire::SessionMemory::open(bytes)) << value;
    field = good;
  };
  broken(header.magic, 1);
  broken(header.version, 2);
  broken(header.entries, 0);
  broken(header.entries, 7);
  broken(header.entries, 16);
  broken(header.entries, 1u << 31);
  broken(header.submit_offset, 1u << 30);
  broken(header.submit_offset, header.submit_offset + 8);
  broken(header.complete_offset, 0xffffffc0u);
}

// A client with rings, a group of its own with number 0, and tensor 0.
class Ring : public testing::Test {
 protected:
  Ring() : client_(daemon_) {
    client_.hello(true);
    EXPECT_EQ(client_.join_alone("alone"), 0u);
    EXPECT_EQ(client_.register_memory(memory_file(4096), 0, 4096).code(), Errc::Ok);
  }

  void refuses(const sdmacc_submit_entry& entry, Errc code, const std::string& text) {
    client_.submit(entry);
    const sdmacc_complete_entry end = client_.wait_for_entry();
    EXPECT_EQ(end.request, entry.request);
    EXPECT_EQ(end.code, static_cast<std::uint32_t>(code));
    EXPECT_EQ(end.flags, SDMACC_COMPLETE_TEXT);
    const auto frame = client_.receive();  // which was sent before the entry
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->message.header.request, entry.request);
    EXPECT_EQ(frame->code(), code);
    EXPECT_THAT(frame->text(), HasSubstr(text));
    works();
  }
  void works() {
    client_.submit(entry(4711, word(0, 0, 0, 4)));
    const sdmacc_complete_entry end = client_.wait_for_entry();
    EXPECT_EQ(end.request, 4711u);
    EXPECT_EQ(end.code, 0u);
    EXPECT_EQ(end.flags, 0u);
  }

  TestDaemon daemon_;
  RawClient client_;
};

TEST_F(Ring, CarriesOperations) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    client_.submit(entry(i, word(0, 0, 0, 0)));
    ASSERT_EQ(client_.wait_for_entry().request, i);
  }
}

TEST_F(Ring, CarriesAsManyAsMayBeInFlight) {
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  for (std::uint64_t i = 0; i < 64; ++i) client_.submit(entry(i, word(0, 0, 0, 0)));
  ASSERT_TRUE(
      daemon_.eventually([](const View& view) { return view.sessions[0].in_flight == 64; }));
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.release(); });
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(client_.wait_for_entry().request, i);
}

TEST_F(Ring, CarriesScaleAndBothWords) {
  sdmacc_submit_entry two = entry(1, word(0, 0, 0, 1));
  two.word_count = 2;
  two.words[127] = 0x5a;
  two.flags = SDMACC_SUBMIT_SCALE;
  two.scale = 0.25f;
  client_.submit(two);
  EXPECT_EQ(client_.wait_for_entry().code, 0u);
  daemon_.on_loop([](Server&, FakeBackend& backend) {
    ASSERT_EQ(backend.last_words.size(), 128u);
    EXPECT_EQ(backend.last_words[127], std::byte{0x5a});
    EXPECT_EQ(backend.last_scale, 0.25f);
  });
}

// A sleeping client is woken by a frame, once, and only if it has said that it sleeps.
TEST_F(Ring, WakesWhoSleeps) {
  pollfd socket{client_.fd(), POLLIN, 0};
  client_.submit(entry(1, word(0, 0, 0, 0)));
  EXPECT_EQ(client_.wait_for_entry().request, 1u);
  daemon_.view();  // it has had time to do more
  EXPECT_EQ(::poll(&socket, 1, 0), 0);
  wire::store(client_.rings.header->client_waits, 1u);
  client_.submit(entry(2, word(0, 0, 0, 0)));
  EXPECT_EQ(::poll(&socket, 1, 60'000), 1);
  EXPECT_EQ(client_.wait_for_entry().request, 2u);
  EXPECT_EQ(wire::load(client_.rings.header->client_waits), 0u);
}

TEST_F(Ring, WordCountOfZeroOrThree) {
  for (const std::uint32_t count : {0u, 3u, 0xffffffffu}) {
    sdmacc_submit_entry bad = entry(5, word(0, 0, 0, 0));
    bad.word_count = count;
    refuses(bad, Errc::Protocol, fmt::format("submit entry has {} words, must have 1 or 2", count));
  }
}

TEST_F(Ring, UnknownFlags) {
  sdmacc_submit_entry bad = entry(5, word(0, 0, 0, 0));
  bad.flags = 6;
  refuses(bad, Errc::Protocol, "submit entry has unknown flags 0x6");
}

TEST_F(Ring, ReservedBytes) {
  sdmacc_submit_entry bad = entry(5, word(0, 0, 0, 0));
  bad.reserved[2] = 1;
  refuses(bad, Errc::Protocol, "submit entry has reserved bytes that are not 0");
}

TEST_F(Ring, UnknownGroup) {
  sdmacc_submit_entry bad = entry(5, word(0, 0, 0, 0));
  bad.group = 0xffffffffu;
  refuses(bad, Errc::NotFound, "this client has not joined a group 4294967295");
}

TEST_F(Ring, RequestThatIsInFlightAlready) {
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  client_.submit(entry(5, word(0, 0, 0, 0)));
  client_.submit(entry(5, word(0, 0, 0, 0)));
  const sdmacc_complete_entry refused = client_.wait_for_entry();
  EXPECT_EQ(refused.code, static_cast<std::uint32_t>(Errc::Invalid));
  EXPECT_THAT(client_.receive().value().text(), HasSubstr("request 5 is in flight already"));
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.release(); });
  EXPECT_EQ(client_.wait_for_entry().code, 0u);
}

TEST_F(Ring, MoreInFlightThanAllowed) {
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  for (std::uint64_t i = 0; i < 64; ++i) client_.submit(entry(i, word(0, 0, 0, 0)));
  ASSERT_TRUE(
      daemon_.eventually([](const View& view) { return view.sessions[0].in_flight == 64; }));
  client_.submit(entry(64, word(0, 0, 0, 0)));
  EXPECT_EQ(client_.wait_for_entry().code, static_cast<std::uint32_t>(Errc::NoSpace));
  EXPECT_THAT(client_.receive().value().text(),
              HasSubstr("limit of 64 requests in flight a client reached"));
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.release(); });
}

TEST_F(Ring, SequenceOutOfOrderEndsTheSession) {
  for (std::uint64_t i = 0; i < 3; ++i) client_.submit(entry(i, word(0, 0, 0, 0)));
  for (int i = 0; i < 3; ++i) client_.wait_for_entry();
  wire::store(client_.rings.submits[3].sequence, std::uint64_t{99});
  client_.ring_doorbell();
  const auto frame = client_.receive();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->code(), Errc::Protocol);
  EXPECT_THAT(frame->text(), HasSubstr("submit ring has sequence 99 in place of 4"));
  EXPECT_FALSE(client_.receive());
}

TEST_F(Ring, TheSizeOfItsMemoryIsSealed) {
  RawClient other(daemon_);
  const Reply reply = other.hello(true);
  const int memory = reply.fds[0].get();
  EXPECT_NE(::ftruncate(memory, 0), 0);
  EXPECT_NE(::ftruncate(memory, 1 << 20), 0);
  EXPECT_EQ(::fcntl(memory, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

// The client shares the flags of the doorbell; the daemon must never block on it.
TEST_F(Ring, DoorbellThatBlocks) {
  ASSERT_EQ(::fcntl(client_.doorbell(), F_SETFL, 0), 0);
  for (int i = 0; i < 100; ++i) client_.ring_doorbell();
  works();
}

// Whatever a client writes into its own memory, only it can suffer.
TEST_F(Ring, RandomMemory) {
  RawClient victim(daemon_);
  victim.hello(true);
  victim.join_alone("victim");
  std::uint64_t state = 1;
  for (int round = 0; round < thinned(200); ++round) {
    RawClient hostile(daemon_);
    hostile.hello(true);
    auto* bytes = reinterpret_cast<std::byte*>(hostile.rings.header);
    for (std::size_t i = 0; i < wire::SessionMemory::bytes_for(hostile.rings.entries); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bytes[i] = static_cast<std::byte>(state >> 56);
    }
    if (round % 2 == 0) wire::store(hostile.rings.submits[0].sequence, std::uint64_t{1});
    hostile.ring_doorbell();
    if (round % 3 == 0) hostile.receive();
  }
  victim.submit(entry(1, word(0, 0, 0, 0)));
  EXPECT_EQ(victim.wait_for_entry().code,
            static_cast<std::uint32_t>(Errc::NotFound));  // its tensor
}

// A client that makes errors and reads no texts must not make the daemon collect them.
TEST_F(Ring, NobodyNeedReadForOthersToBeServed) {
  RawClient deaf(daemon_);
  deaf.hello(true);
  sdmacc_submit_entry bad = entry(1, word(0, 0, 0, 0));
  bad.word_count = 9;
  int served = 0;
  const auto answered = [&] {
    for (int i = 0; i < 5000 && !deaf.completes.ready(); ++i) ::usleep(100);
    return deaf.completes.ready();
  };
  for (; served < 20'000; ++served) {
    deaf.submit(bad);
    if (!answered()) break;
    deaf.completes.take();
  }
  EXPECT_LT(served, 20'000);
  works();
  for (int i = 0; i < served; ++i) ASSERT_TRUE(deaf.receive());
  EXPECT_EQ(deaf.wait_for_entry().request, 1u);  // and then it goes on
}

}  // namespace
}  // namespace sdmacc::server
