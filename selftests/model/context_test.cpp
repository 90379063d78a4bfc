// SPDX-License-Identifier: MIT
// Contexts: editing, what each refusal looks like from a queue, and rebinding memory under it.
#include <gtest/gtest.h>

#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr std::uint64_t kFrom = 0x400000, kTo = 0x500000;

std::uint64_t aperture(std::uint64_t offset) {
  return cayman().host_aperture + offset;
}

TEST(ContextTables, WindowsAreDisjointAndFew) {
  Context c(1);
  EXPECT_TRUE(c.add_window({0x1000, 0x1000, kRead}));
  EXPECT_EQ(c.add_window({0x1800, 0x10, kRead}).error().code, Errc::Busy);
  EXPECT_EQ(c.add_window({0x800, 0x801, kRead}).error().code, Errc::Busy);
  EXPECT_EQ(c.add_window({0x1fff, 1, kRead}).error().code, Errc::Busy);
  EXPECT_EQ(c.add_window({0x3000, 0, kRead}).error().code, Errc::Invalid);
  EXPECT_EQ(c.add_window({~0ull - 4, 16, kRead}).error().code, Errc::Range);
  EXPECT_TRUE(c.add_window({0x800, 0x800, kRead}));
  EXPECT_TRUE(c.add_window({0x2000, 1, kRead}));
  for (std::uint64_t i = 3; i < 64; ++i) EXPECT_TRUE(c.add_window({i << 20, 4, kRead})) << i;
  EXPECT_EQ(c.add_window({1ull << 40, 4, kRead}).error().code, Errc::NoSpace);
  EXPECT_EQ(c.remove_window(0x1001).error().code, Errc::NotFound);
  EXPECT_TRUE(c.remove_window(0x1000));
  EXPECT_TRUE(c.add_window({0x1000, 0x1000, kRead}));
  c.clear();
  EXPECT_TRUE(c.snapshot().table->windows.empty());
}

TEST(ContextTables, ExtentsAreDisjointInTheAperture) {
  Context c(1);
  std::byte memory[16];
  EXPECT_TRUE(c.add_extent(0x10, 16, memory, kRead));
  EXPECT_EQ(c.add_extent(0x1f, 16, memory, kRead).error().code, Errc::Busy);
  EXPECT_EQ(c.add_extent(0x8, 9, memory, kRead).error().code, Errc::Busy);
  EXPECT_EQ(c.add_extent((1ull << 40) - 15, 16, memory, kRead).error().code, Errc::Range);
  EXPECT_TRUE(c.add_extent((1ull << 40) - 16, 16, memory, kRead));
  EXPECT_EQ(c.rebind(0x11, memory).error().code, Errc::NotFound);
  EXPECT_EQ(c.remove_extent(0x11).error().code, Errc::NotFound);
  EXPECT_TRUE(c.remove_extent(0x10));
  EXPECT_EQ(c.rebind(0x10, memory).error().code, Errc::NotFound);
}

TEST(ContextTables, EachEditIsAnotherVersion) {
  Context c(1);
  const auto before = c.snapshot();
  ASSERT_TRUE(c.add_window({0, 16, kRead}));
  EXPECT_NE(c.version(), before.version);
  EXPECT_TRUE(before.table->windows.empty()) << "who has the old table keeps it";
  const auto version = c.version();
  EXPECT_FALSE(c.add_window({0, 16, kRead}));
  EXPECT_EQ(c.version(), version);
}

class Contexts : public testing::Test {
 protected:
  Contexts() {
    EXPECT_TRUE(context.add_window({rig.ring_address(Side::M2s), 4096, kRead}));
    device.soc.queue(rig.engine, rig.queue).set_context(context);
    *device.at<std::uint32_t>(kFrom) = 77;
  }
  void window(std::uint64_t base, std::uint64_t size, Rights rights) {
    const Status s = context.add_window({base, size, rights});
    EXPECT_TRUE(s) << s.error().text();
  }
  Code copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes = 16) {
    device.forget();
    rig.reset();
    rig.copy(from, to, bytes);
    rig.go();
    const auto errors = device.errors();
    last = errors.empty() ? ErrorRecord{} : errors[0];
    EXPECT_EQ(last.context, errors.empty() ? 0u : 5u);
    return device.code();
  }

  Device device;
  Rig rig{device, 9, 2};
  Context& context{device.soc.context(5)};
  ErrorRecord last;
};

TEST_F(Contexts, NothingIsAllowedBeforeItIsGranted) {
  EXPECT_EQ(copy(kFrom, kTo), Code::Window);
  EXPECT_EQ(last.side, Side::M2s);
  EXPECT_EQ(last.address, kFrom);
  window(kFrom, 16, kRead);
  EXPECT_EQ(copy(kFrom, kTo), Code::Window);
  EXPECT_EQ(last.side, Side::S2m);
  EXPECT_EQ(last.address, kTo);
  EXPECT_EQ(to_string(last),
            "engine 9 queue 2 s2m descriptor 0, context 5: address 0x500000 (16 bytes) is outside "
            "every window of the context (window)");
  window(kTo, 16, kWrite);
  EXPECT_EQ(copy(kFrom, kTo), Code::None);
  EXPECT_EQ(*device.at<std::uint32_t>(kTo), 77u);
}

TEST_F(Contexts, WindowsEndWhereTheyEnd) {
  window(kFrom, 32, kRead);
  window(kTo, 32, kWrite);
  EXPECT_EQ(copy(kFrom + 16, kTo + 16), Code::None);
  EXPECT_EQ(copy(kFrom + 17, kTo + 16), Code::Window);
  EXPECT_EQ(copy(kFrom - 1, kTo + 16), Code::Window);
  EXPECT_EQ(copy(kFrom, kTo - 1), Code::Window);
  EXPECT_EQ(copy(kFrom, kTo + 17), Code::Window);
  window(kFrom + 32, 32, kRead);
  EXPECT_EQ(copy(kFrom + 24, kTo), Code::Window) << "an access lies in one window";
}

TEST_F(Contexts, RightsOfAWindow) {
  window(kFrom, 64, kWrite);
  window(kTo, 64, kRead);
  EXPECT_EQ(copy(kFrom, kTo), Code::Forbidden);
  EXPECT_EQ(last.target, kRead);
  EXPECT_EQ(copy(kTo, kTo + 32), Code::Forbidden);
  EXPECT_EQ(last.target, kWrite);
  EXPECT_EQ(last.side, Side::S2m);
  EXPECT_EQ(copy(kTo, kFrom), Code::None);
}

TEST_F(Contexts, RightsAreNotRemembered) {
  // The ring and a source in one window with other rights than a destination beside it.
  window(kFrom, 4096, kRead | kWrite);
  EXPECT_EQ(copy(kFrom, kFrom + 64), Code::None);
  ASSERT_TRUE(context.remove_window(kFrom));
  window(kFrom, 4096, kRead);
  EXPECT_EQ(copy(kFrom, kFrom + 64), Code::Forbidden);
}

TEST_F(Contexts, TheRingFetchIsChecked) {
  window(kFrom, 64, kRead | kWrite);
  ASSERT_TRUE(context.remove_window(rig.ring_address(Side::M2s)));
  EXPECT_EQ(copy(kFrom, kFrom + 32), Code::Window);
  EXPECT_EQ(last.address, rig.ring_address(Side::M2s));
  window(rig.ring_address(Side::M2s), 2048, kRead);
  EXPECT_EQ(copy(kFrom, kFrom + 32), Code::Window);
  EXPECT_EQ(last.side, Side::S2m);
  EXPECT_EQ(last.address, rig.ring_address(Side::S2m));
  window(rig.ring_address(Side::S2m), 2048, kWrite);
  EXPECT_EQ(copy(kFrom, kFrom + 32), Code::Forbidden);
  EXPECT_EQ(last.side, Side::S2m);
}

TEST_F(Contexts, SemaphoresHaveWindowsOfFourBytes) {
  const auto sem = [](std::uint32_t id) {
    return sdmacc_soc_sem(&cayman(), 3, SDMACC_SEM_INC, id);
  };
  window(kFrom, 64, kRead);
  window(sem(10), 8, kWrite);
  EXPECT_EQ(copy(kFrom, sem(10), 4), Code::None);
  EXPECT_EQ(copy(kFrom, sem(11), 4), Code::None);
  EXPECT_EQ(copy(kFrom, sem(9), 4), Code::Window);
  EXPECT_EQ(copy(kFrom, sem(12), 4), Code::Window);
  EXPECT_EQ(copy(kFrom, sem(11) + 2, 4), Code::Window);
  EXPECT_EQ(copy(sem(10), kTo, 4), Code::Forbidden);
  EXPECT_EQ(copy(kFrom, sdmacc_soc_sem(&cayman(), 3, SDMACC_SEM_SET, 10), 4), Code::Window);
  EXPECT_EQ(device.soc.semaphores(8 + 3).value(10), 77u);
}

TEST_F(Contexts, DoorbellsNeedAWindow) {
  const std::uint64_t bell = queue_register_address(cayman(), 40, Side::M2s, 1, SDMACC_Q_TAIL_INC);
  window(kFrom, 64, kRead);
  EXPECT_EQ(copy(kFrom, bell, 4), Code::Window);
  window(bell, 4, kWrite);
  device.soc.queue(40, 1).set_context(context);
  EXPECT_EQ(copy(kFrom, bell, 4), Code::RingLength) << "reached: the other queue has no ring";
}

TEST_F(Contexts, WindowsAreOverLocalAddresses) {
  window(kFrom, 64, kRead);
  window(kTo, 64, kWrite);
  EXPECT_EQ(copy(kFrom | SDMACC_CHIP_VALID, kTo | 1ull << 53), Code::None);
  EXPECT_EQ(copy(kFrom | SDMACC_CHIP_VALID, (kTo + 64) | 1ull << 53), Code::Window);
}

TEST_F(Contexts, ExtentsOfTheAperture) {
  std::array<std::byte, 64> in{}, out{};
  in[0] = std::byte{42};
  EXPECT_EQ(copy(aperture(0), aperture(0x1000)), Code::Aperture);
  ASSERT_TRUE(context.add_extent(0, 64, in.data(), kRead));
  ASSERT_TRUE(context.add_extent(0x1000, 64, nullptr, kWrite));
  EXPECT_EQ(copy(aperture(0), aperture(0x1000)), Code::Unbound);
  EXPECT_EQ(last.address, aperture(0x1000));
  ASSERT_TRUE(context.rebind(0x1000, out.data()));
  EXPECT_EQ(copy(aperture(0), aperture(0x1000)), Code::None);
  EXPECT_EQ(out[0], in[0]);
  EXPECT_EQ(copy(aperture(48), aperture(0x1000 + 48)), Code::None);
  EXPECT_EQ(copy(aperture(49), aperture(0x1000)), Code::Aperture);
  EXPECT_EQ(copy(aperture(0), aperture(0x1000 + 49)), Code::Aperture);
  EXPECT_EQ(copy(aperture(0), aperture(0)), Code::Forbidden);
  EXPECT_EQ(copy(aperture(0x1000), aperture(0x1000)), Code::Forbidden);
  ASSERT_TRUE(context.remove_extent(0));
  EXPECT_EQ(copy(aperture(0), aperture(0x1000)), Code::Aperture);
}

TEST_F(Contexts, AnotherTensorNeedsNoNewBytes) {
  std::array<std::uint32_t, 4> tensors[3] = {{1}, {2}, {3}};
  ASSERT_TRUE(context.add_extent(0, 16, nullptr, kRead));
  window(kTo, 64, kWrite);
  for (auto& t : tensors) {
    ASSERT_TRUE(context.rebind(0, reinterpret_cast<std::byte*>(t.data())));
    rig.copy(aperture(0), kTo, 16);
    rig.go();
    EXPECT_EQ(*device.at<std::uint32_t>(kTo), t[0]);
  }
  ASSERT_TRUE(context.rebind(0, nullptr));
  EXPECT_EQ(copy(aperture(0), kTo), Code::Unbound);
}

TEST_F(Contexts, EachContextHasItsOwnAperture) {
  std::array<std::byte, 16> mine{}, others{};
  mine[0] = std::byte{1};
  others[0] = std::byte{2};
  ASSERT_TRUE(context.add_extent(0, 16, mine.data(), kRead));
  ASSERT_TRUE(device.soc.context(6).add_extent(0, 16, others.data(), kRead));
  window(kTo, 16, kWrite);
  EXPECT_EQ(copy(aperture(0), kTo), Code::None);
  EXPECT_EQ(*device.at<std::byte>(kTo), std::byte{1});
  // The queue changes hands.
  ASSERT_TRUE(device.soc.context(6).add_window({0, 64 << 20, kRead | kWrite}));
  device.soc.queue(rig.engine, rig.queue).set_context(device.soc.context(6));
  rig.reset();
  rig.copy(aperture(0), kTo, 16);
  rig.go();
  EXPECT_EQ(*device.at<std::byte>(kTo), std::byte{2});
}

TEST(HostView, ReadsAndWrites) {
  Device device;
  std::vector<std::uint8_t> sent(1000), got(1000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint8_t>(i * 7);
  for (const std::uint64_t base : {cayman().hbm_base[2] + 3, cayman().core_base[3] + 1,
                                   sdmacc_soc_topsp(&cayman(), 15) + SDMACC_TOPSP_RAM + 7}) {
    ASSERT_TRUE(device.soc.write(base, sent.data(), sent.size()));
    ASSERT_TRUE(device.soc.read(base, got.data(), got.size()));
    EXPECT_EQ(sent, got);
  }
  device.poke(0x100, 0x12345678);
  EXPECT_EQ(device.peek(0x100), 0x12345678u);
  EXPECT_EQ(*device.at<std::uint32_t>(0x100), 0x12345678u);
  EXPECT_EQ(device.soc.hbm((64 << 20) - 8, 8), device.soc.hbm(0, 1) + (64 << 20) - 8);
  EXPECT_EQ(device.soc.hbm((64 << 20) - 8, 9), nullptr);
  EXPECT_EQ(device.soc.hbm(cayman().core_base[0], 1), nullptr);
}

TEST(HostView, ErrorsAreReturned) {
  Device device;
  const std::uint64_t sem = sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_DEC, 8);
  EXPECT_EQ(device.soc.read32(0x90000000000).error().text(),
            "device: host, context 0: no block of the device has address 0x90000000000 (4 bytes) "
            "(decode) (device error)");
  EXPECT_NE(device.soc.write32(sem, 1).error().text().find("semaphore_wrap"), std::string::npos);
  EXPECT_NE(device.soc.write32(sem + 1, 1).error().text().find("register_alignment"),
            std::string::npos);
  std::uint64_t two = 0;
  EXPECT_NE(device.soc.write(sem, &two, 8).error().text().find("register_size"), std::string::npos);
  EXPECT_NE(device.soc.read32(aperture(0)).error().text().find("aperture"), std::string::npos);
  EXPECT_TRUE(device.errors().empty()) << "the host has its answer, nothing is posted";
}

}  // namespace
}  // namespace sdmacc::model::test
