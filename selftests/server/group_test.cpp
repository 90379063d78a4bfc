// SPDX-License-Identifier: MIT
// Groups: forming, active, revoked, rebuilt; who is missing; who may join; what the Backend is
// told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/server/group.hpp"
#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::MessageWriter;

const Joiner kAlice{1, 11, 1000, 100};

std::string refusal(const Status& status) {
  return status ? "" : status.error().text();
}

TEST(Permission, UserAlwaysOthersByMode) {
  const Joiner same_group{2, 12, 1001, 100}, stranger{3, 13, 1002, 200}, again{4, 14, 1000, 200};
  for (const auto& [mode, group_may, all_may] :
       {std::tuple(0600u, false, false), std::tuple(0660u, true, false),
        std::tuple(0666u, true, true), std::tuple(0644u, false, false),
        std::tuple(0606u, false, true)}) {
    const Group group(1, "g", 2, mode, kAlice);
    EXPECT_TRUE(group.may_join(again, 2, 1)) << mode;
    EXPECT_EQ(group.may_join(same_group, 2, 1).has_value(), group_may) << mode;
    EXPECT_EQ(group.may_join(stranger, 2, 1).has_value(), all_may) << mode;
  }
  EXPECT_EQ(
      refusal(Group(1, "g", 2, 0640, kAlice).may_join(stranger, 2, 1)),
      "server: group 'g' belongs to user 1000 with mode 0640: user 1002 may not join (invalid)");
}

TEST(GroupState, SizeMustAgree) {
  EXPECT_EQ(refusal(Group(1, "g", 2, 0600, kAlice).may_join(kAlice, 3, 1)),
            "server: group 'g' has 2 ranks, rank 1 says 3 (mismatch)");
}

TEST(GroupState, RankMustExist) {
  EXPECT_EQ(refusal(Group(1, "g", 2, 0600, kAlice).may_join(kAlice, 2, 2)),
            "server: rank 2 is outside group 'g' of 2 ranks (out of range)");
}

TEST(GroupState, NamesAtMostSixteenMissingRanks) {
  Group group(1, "g", 40, 0600, kAlice);
  group.sit(kAlice, 1);
  EXPECT_EQ(
      group.missing_text(),
      "ranks 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 23 more of 40 are missing");
  Group two(1, "g", 2, 0600, kAlice);
  two.sit(kAlice, 0);
  EXPECT_EQ(two.missing_text(), "rank 1 of 2 is missing");
}

class Groups : public testing::Test {
 protected:
  explicit Groups(const Options& options = {}) : daemon_(options), a_(daemon_), b_(daemon_) {
    a_.hello();
    b_.hello();
  }

  // Both ranks of group "g"; its number is 0 for both.
  void join_both() {
    a_.join(1, "g", 2, 0);
    b_.join(1, "g", 2, 1);
    expect_joined(a_, 1);
    expect_joined(b_, 1);
  }
  void expect_joined(RawClient& client, std::uint32_t generation) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->code(), Errc::Ok) << reply->text();
    EXPECT_EQ(reply->message.u32(SDMACC_FIELD_GROUP, 99), 0u);
    EXPECT_EQ(reply->message.u32(SDMACC_FIELD_GENERATION), generation);
  }
  void expect_event(RawClient& client, std::uint32_t event, Errc code, const std::string& text) {
    const auto frame = client.receive();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->message.header.type, SDMACC_FRAME_GROUP_EVENT);
    EXPECT_EQ(frame->message.u32(SDMACC_FIELD_GROUP, 99), 0u);
    EXPECT_EQ(frame->message.u32(SDMACC_FIELD_EVENT), event);
    EXPECT_EQ(frame->code(), code);
    EXPECT_THAT(frame->text(), HasSubstr(text));
  }
  void expect_error(RawClient& client, Errc code, const std::string& text) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->message.header.type, SDMACC_FRAME_COMPLETE);
    EXPECT_EQ(reply->code(), code) << reply->text();
    EXPECT_THAT(reply->text(), HasSubstr(text));
  }
  MessageWriter submit_frame(std::uint64_t request, std::uint64_t count = 0) {
    const sdmacc_isa_c8 what = word(0, 0, 0, count);
    MessageWriter out(SDMACC_FRAME_SUBMIT, 1, request);
    out.u32(SDMACC_FIELD_GROUP, 0).bytes(SDMACC_FIELD_WORDS, std::as_bytes(std::span(&what, 1)));
    return out;
  }
  void give_tensors() {
    for (RawClient* client : {&a_, &b_}) {
      EXPECT_EQ(client->register_memory(memory_file(4096), 0, 4096).code(), Errc::Ok);
    }
  }

  TestDaemon daemon_;
  RawClient a_, b_;
};

TEST_F(Groups, AreCompleteWhenTheLastRankJoins) {
  a_.join(1, "g", 2, 0);
  ASSERT_TRUE(daemon_.eventually([](const View& view) { return view.groups.size() == 1; }));
  const GroupView forming = daemon_.view().groups[0];
  EXPECT_EQ(forming.state, GroupState::Forming);
  EXPECT_EQ(forming.seats[0].state, SeatState::Waiting);
  EXPECT_EQ(forming.seats[0].pid, ::getpid());
  EXPECT_EQ(forming.seats[1].state, SeatState::Missing);
  b_.join(1, "g", 2, 1);
  expect_joined(a_, 1);
  expect_joined(b_, 1);
  EXPECT_EQ(daemon_.view().groups[0].state, GroupState::Active);
  EXPECT_THAT(daemon_.events(), ElementsAre("ready g 1"));
}

TEST_F(Groups, NumbersAreLowestFreeOfTheSession) {
  EXPECT_EQ(a_.join_alone("x"), 0u);
  EXPECT_EQ(a_.join_alone("y"), 1u);
  EXPECT_EQ(b_.join_alone("z"), 0u);
  EXPECT_EQ(a_.ask(MessageWriter(SDMACC_FRAME_LEAVE, 1, 5).u32(SDMACC_FIELD_GROUP, 0)).code(),
            Errc::Ok);
  EXPECT_EQ(a_.join_alone("v"), 0u);
}

TEST_F(Groups, OneClientMayHoldSeveralRanks) {
  a_.join(1, "g", 2, 0);
  a_.join(2, "g", 2, 1);
  EXPECT_EQ(a_.receive().value().message.u32(SDMACC_FIELD_GROUP, 99), 0u);
  EXPECT_EQ(a_.receive().value().message.u32(SDMACC_FIELD_GROUP, 99), 1u);
}

TEST_F(Groups, JoinTimeoutNamesWhoIsMissing) {
  a_.join(1, "g", 3, 1, 20'000'000);
  expect_error(a_, Errc::Timeout,
               "group 'g' is not complete after 20 ms: ranks 0 and 2 of 3 are missing");
  EXPECT_TRUE(daemon_.view().groups.empty());
  EXPECT_EQ(a_.join_alone("h"), 0u);  // the number was given back
}

TEST_F(Groups, TakenRankIsBusy) {
  a_.join(1, "g", 2, 0);
  daemon_.eventually([](const View& view) { return !view.groups.empty(); });
  b_.join(1, "g", 2, 0);
  expect_error(b_, Errc::Busy,
               fmt::format("rank 0 of group 'g' is taken by process {}", ::getpid()));
}

TEST_F(Groups, CompleteGroupIsBusy) {
  join_both();
  a_.join(2, "g", 2, 0);
  expect_error(a_, Errc::Busy, "group 'g' is complete");
}

TEST_F(Groups, SizeOfZeroOrOverTheLimit) {
  a_.join(1, "g", 0, 0);
  expect_error(a_, Errc::Range, "group of 0 ranks, must have 1 to 4096");
  a_.join(1, "g", 4097, 0);
  expect_error(a_, Errc::Range, "group of 4097 ranks, must have 1 to 4096");
  a_.join(1, "g", 2, 2);
  expect_error(a_, Errc::Range, "rank 2 is outside group 'g' of 2 ranks");
  EXPECT_TRUE(daemon_.view().groups.empty());
}

TEST_F(Groups, ModeHasPermissionBitsOnly) {
  a_.send(MessageWriter(SDMACC_FRAME_JOIN, 1, 1)
              .text(SDMACC_FIELD_NAME, "g")
              .u32(SDMACC_FIELD_SIZE, 1)
              .u32(SDMACC_FIELD_RANK, 0)
              .u32(SDMACC_FIELD_MODE, 01777));
  expect_error(a_, Errc::Invalid, "mode 01777 has more than permission bits");
}

TEST_F(Groups, BackendMayRefuseThem) {
  daemon_.on_loop([](Server&, FakeBackend& backend) {
    backend.refuse_groups = fail(Errc::NoSpace, Stage::None, kNoIndex, "8 cores, 9 ranks");
  });
  a_.join(1, "g", 2, 0);
  b_.join(1, "g", 2, 1);
  expect_error(a_, Errc::NoSpace, "8 cores, 9 ranks");
  expect_error(b_, Errc::NoSpace, "8 cores, 9 ranks");
  EXPECT_TRUE(daemon_.view().groups.empty());
  EXPECT_TRUE(daemon_.events().empty());
}

TEST_F(Groups, LeavingRevokesForTheOthers) {
  join_both();
  EXPECT_EQ(a_.ask(MessageWriter(SDMACC_FRAME_LEAVE, 1, 5).u32(SDMACC_FIELD_GROUP, 0)).code(),
            Errc::Ok);
  const std::string cause = fmt::format("rank 0 of group 'g' (process {}) left", ::getpid());
  expect_event(b_, SDMACC_GROUP_REVOKED, Errc::PeerGone, cause);
  b_.send(submit_frame(7));
  expect_error(b_, Errc::Revoked, "group 'g' failed before: server: " + cause);
  EXPECT_EQ(b_.ask(MessageWriter(SDMACC_FRAME_LEAVE, 1, 5).u32(SDMACC_FIELD_GROUP, 0)).code(),
            Errc::Ok);
  EXPECT_TRUE(daemon_.eventually([](const View& view) { return view.groups.empty(); }));
  EXPECT_THAT(daemon_.events(),
              ElementsAre("ready g 1", "revoked g: server: " + cause + " (peer gone)", "gone g"));
}

TEST_F(Groups, LeavingBeforeItIsComplete) {
  a_.join(1, "g", 2, 0);
  a_.send(MessageWriter(SDMACC_FRAME_LEAVE, 1, 5).u32(SDMACC_FIELD_GROUP, 0));
  expect_error(a_, Errc::Cancelled, "left group 'g' before it was complete");
  EXPECT_EQ(a_.receive().value().code(), Errc::Ok);
  a_.join(2, "g", 1, 0);  // nothing is left of it, not even its size
  expect_joined(a_, 1);
}

TEST_F(Groups, OfAnotherSizeMayFollowAtOnce) {
  a_.join_alone("g");
  a_.send(MessageWriter(SDMACC_FRAME_LEAVE, 1, 5).u32(SDMACC_FIELD_GROUP, 0));
  a_.join(2, "g", 2, 0);
  b_.join(2, "g", 2, 1);
  EXPECT_EQ(a_.receive().value().code(), Errc::Ok);
  expect_joined(a_, 1);
}

TEST_F(Groups, UnknownNumber) {
  a_.send(MessageWriter(SDMACC_FRAME_LEAVE, 1, 5).u32(SDMACC_FIELD_GROUP, 4));
  expect_error(a_, Errc::NotFound, "this client has not joined a group 4");
}

TEST_F(Groups, SubmittingBeforeItIsComplete) {
  a_.join(1, "g", 2, 0);
  a_.send(submit_frame(7));
  expect_error(a_, Errc::Busy, "group 'g' is not complete: rank 1 of 2 is missing");
}

TEST_F(Groups, AbortEndsWhatIsInFlight) {
  join_both();
  give_tensors();
  a_.send(submit_frame(7));
  ASSERT_TRUE(daemon_.eventually([](const View& view) { return view.sessions[0].in_flight == 1; }));
  b_.send(MessageWriter(SDMACC_FRAME_ABORT, 1, 5)
              .u32(SDMACC_FIELD_GROUP, 0)
              .text(SDMACC_FIELD_TEXT, "loss is NaN"));
  const std::string cause =
      fmt::format("rank 1 of group 'g' (process {}) aborted: loss is NaN", ::getpid());
  expect_event(a_, SDMACC_GROUP_REVOKED, Errc::Cancelled, cause);
  expect_error(a_, Errc::Cancelled, cause);
}

TEST_F(Groups, AbortWithAnUnprintableReason) {
  join_both();
  a_.send(MessageWriter(SDMACC_FRAME_ABORT, 1, 5)
              .u32(SDMACC_FIELD_GROUP, 0)
              .text(SDMACC_FIELD_TEXT, "\x1b[2J"));
  expect_error(a_, Errc::Invalid, "reason has the control character 0x1b at 0");
}

TEST_F(Groups, DeathOfARankEndsTheOthersOperation) {
  join_both();
  give_tensors();
  a_.send(submit_frame(7));
  ASSERT_TRUE(daemon_.eventually([](const View& view) { return view.sessions[0].in_flight == 1; }));
  b_.close();
  const std::string cause =
      fmt::format("rank 1 of group 'g' (process {}) disconnected", ::getpid());
  expect_event(a_, SDMACC_GROUP_REVOKED, Errc::PeerGone, cause);
  expect_error(a_, Errc::PeerGone, cause);
  EXPECT_TRUE(daemon_.eventually([](const View& view) { return view.sessions.size() == 1; }));
  EXPECT_THAT(daemon_.events(), testing::Contains("tensor gone 4096"));
}

TEST_F(Groups, AreRebuiltWhenAllJoinAgain) {
  join_both();
  give_tensors();
  b_.close();
  expect_event(a_, SDMACC_GROUP_REVOKED, Errc::PeerGone, "disconnected");
  a_.join(2, "g", 2, 0);
  ASSERT_TRUE(daemon_.eventually(
      [](const View& view) { return view.groups[0].seats[0].state == SeatState::Waiting; }));
  EXPECT_EQ(daemon_.view().groups[0].state, GroupState::Revoked);
  a_.send(submit_frame(7));
  expect_error(a_, Errc::Revoked, "failed before");  // not before all are there
  RawClient c(daemon_);
  c.hello();
  c.join(1, "g", 2, 1);
  expect_event(a_, SDMACC_GROUP_REBUILT, Errc::Ok, "");
  expect_joined(a_, 2);
  expect_event(c, SDMACC_GROUP_REBUILT, Errc::Ok, "");
  expect_joined(c, 2);
  EXPECT_EQ(c.register_memory(memory_file(4096), 0, 4096).code(), Errc::Ok);
  a_.send(submit_frame(8));
  c.send(submit_frame(8));
  EXPECT_EQ(a_.receive().value().code(), Errc::Ok);
  EXPECT_EQ(c.receive().value().code(), Errc::Ok);
}

TEST_F(Groups, RebuildTimeoutKeepsTheMember) {
  join_both();
  b_.close();
  expect_event(a_, SDMACC_GROUP_REVOKED, Errc::PeerGone, "disconnected");
  a_.join(2, "g", 2, 0, 10'000'000);
  expect_error(a_, Errc::Timeout, "rank 1 of 2 is missing");
  EXPECT_EQ(daemon_.view().groups[0].seats[0].state, SeatState::Member);
  a_.send(submit_frame(7));
  expect_error(a_, Errc::Revoked, "disconnected");
}

TEST_F(Groups, RebuildWaitsForTheOldRequests) {
  join_both();
  give_tensors();
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  a_.send(submit_frame(7));
  ASSERT_TRUE(daemon_.eventually([](const View& view) { return view.sessions[0].in_flight == 1; }));
  b_.send(MessageWriter(SDMACC_FRAME_ABORT, 1, 5).u32(SDMACC_FIELD_GROUP, 0));
  expect_event(a_, SDMACC_GROUP_REVOKED, Errc::Cancelled, "aborted");
  expect_event(b_, SDMACC_GROUP_REVOKED, Errc::Cancelled, "aborted");
  EXPECT_EQ(b_.receive().value().code(), Errc::Ok);
  a_.join(2, "g", 2, 0);
  b_.join(2, "g", 2, 1, 10'000'000);
  expect_error(b_, Errc::Timeout, "requests of its last generation are still in flight");
  b_.join(3, "g", 2, 1);
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.release(); });
  expect_error(a_, Errc::Cancelled, "aborted");
  expect_event(a_, SDMACC_GROUP_REBUILT, Errc::Ok, "");
  expect_joined(a_, 2);
}

TEST_F(Groups, AreKeptForTheRequestsOfTheDead) {
  join_both();
  give_tensors();
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  a_.send(submit_frame(7));
  ASSERT_TRUE(daemon_.eventually([](const View& view) { return view.sessions[0].in_flight == 1; }));
  a_.close();
  b_.close();
  ASSERT_TRUE(daemon_.eventually([](const View& view) { return view.sessions.size() == 1; }));
  const View view = daemon_.view();
  EXPECT_FALSE(view.sessions[0].connected);
  ASSERT_EQ(view.groups.size(), 1u);
  EXPECT_EQ(view.mapped_bytes, 4096u);  // the operation still has the tensor
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.release(); });
  EXPECT_TRUE(daemon_.eventually(
      [](const View& v) { return v.sessions.empty() && v.groups.empty() && v.mapped_bytes == 0; }));
  EXPECT_EQ(daemon_.events().back(), "gone g");
}

TEST_F(Groups, RanksThatDisagreeAllHearIt) {
  join_both();
  give_tensors();
  a_.send(submit_frame(7, 1));
  b_.send(submit_frame(7, 2));
  for (RawClient* client : {&a_, &b_}) {
    const std::string text = "rank 0 has op 4 dtype 10 count 1, rank 1 has op 4 dtype 10 count 2";
    expect_event(*client, SDMACC_GROUP_REVOKED, Errc::Mismatch, text);
    expect_error(*client, Errc::Mismatch, text);
  }
}

TEST_F(Groups, OperationTimeoutReachesTheBackend) {
  join_both();
  give_tensors();
  a_.send(submit_frame(7).u64(SDMACC_FIELD_TIMEOUT, 20'000'000));
  expect_event(a_, SDMACC_GROUP_REVOKED, Errc::Timeout, "request 7 waits for ranks 1");
  expect_error(a_, Errc::Timeout, "request 7 waits for ranks 1");
}

// The timer is set for the earliest deadline and must find the later ones by itself.
TEST_F(Groups, EachDeadlineIsKept) {
  EXPECT_EQ(a_.join_alone("x"), 0u);
  EXPECT_EQ(a_.register_memory(memory_file(4096), 0, 4096).code(), Errc::Ok);
  daemon_.on_loop([](Server&, FakeBackend& backend) { backend.hold = true; });
  a_.send(submit_frame(1).u64(SDMACC_FIELD_TIMEOUT, 60'000'000));
  a_.send(submit_frame(2).u64(SDMACC_FIELD_TIMEOUT, 5'000'000));
  a_.send(submit_frame(3).u64(SDMACC_FIELD_TIMEOUT, 30'000'000));
  ASSERT_TRUE(daemon_.eventually([&](const View&) {
    std::size_t expired = 0;
    daemon_.on_loop(
        [&](Server&, FakeBackend& backend) { expired = backend.expired_requests.size(); });
    return expired == 3;
  }));
  daemon_.on_loop([](Server&, FakeBackend& backend) {
    EXPECT_THAT(backend.expired_requests, ElementsAre(2, 3, 1));
    backend.release();
  });
}

}  // namespace
}  // namespace sdmacc::server
