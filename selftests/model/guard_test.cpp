// SPDX-License-Identifier: MIT
// Host memory that goes away: a file truncated under its mapping is an error of the queue, not the
// end of the process.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "firmware-stub/model/guard.hpp"
#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr std::size_t kPage = 4096, kPages = 4;
constexpr std::uint64_t kFrom = 0x400000, kTo = 0x500000;

class File {
 public:
  File() : fd_(memfd_create("model-test", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, kPage * kPages), 0);
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, kPage * kPages, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~File() {
    munmap(memory_, kPage * kPages);
    close(fd_);
  }
  void keep(std::size_t pages) { EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(pages * kPage)), 0); }
  std::byte* memory() const { return memory_; }

 private:
  int fd_;
  std::byte* memory_;
};

class Guards : public testing::Test {
 protected:
  Guards() {
    EXPECT_TRUE(device.soc.context(0).add_extent(0, kPage * kPages, file.memory(), kRead | kWrite));
  }
  ErrorRecord go() {
    rig.go();
    const auto errors = device.errors();
    device.forget();
    rig.reset();
    return errors.empty() ? ErrorRecord{} : errors[0];
  }

  const std::uint64_t aperture = cayman().host_aperture;
  File file;
  Device device;
  Rig rig{device};
};

TEST_F(Guards, ATruncatedSourceOrDestination) {
  rig.copy(aperture, kTo, kPage);
  rig.copy(aperture + 3 * kPage, kTo, kPage);
  EXPECT_EQ(go().code, Code::None);
  file.keep(2);
  rig.copy(aperture, kTo, kPage);
  rig.copy(aperture + 2 * kPage, kTo, kPage);
  ErrorRecord e = go();
  EXPECT_EQ(e.code, Code::MemoryFault);
  EXPECT_EQ(e.side, Side::M2s);
  EXPECT_EQ(e.index, 1u);
  EXPECT_EQ(e.address, aperture + 2 * kPage);
  rig.copy(kFrom, aperture + 3 * kPage, kPage);
  e = go();
  EXPECT_EQ(e.code, Code::MemoryFault);
  EXPECT_EQ(e.side, Side::S2m);
  EXPECT_EQ(to_string(e), fmt::format("engine 0 queue 0 s2m descriptor 0, context 0: memory behind "
                                      "{:#x} cannot be reached (memory_fault)",
                                      aperture + 3 * kPage));
  file.keep(kPages);
  rig.copy(kFrom, aperture + 3 * kPage, kPage);
  EXPECT_EQ(go().code, Code::None) << "the queue works again after a reset";
}

TEST_F(Guards, InAReduction) {
  file.keep(1);
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_BF16, {kFrom, aperture, aperture + kPage}, {kTo}, kPage);
  ErrorRecord e = go();
  EXPECT_EQ(e.code, Code::MemoryFault);
  EXPECT_EQ(e.side, Side::M2s);
  EXPECT_EQ(e.index, 3u);
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kFrom}, {kTo, aperture + kPage}, kPage);
  e = go();
  EXPECT_EQ(e.side, Side::S2m);
  EXPECT_EQ(e.index, 1u);
}

TEST_F(Guards, InAWordAndInTheRing) {
  file.keep(1);
  rig.copy(aperture + kPage, sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_INC, 9), 4);
  EXPECT_EQ(go().code, Code::MemoryFault);
  rig.copy(sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_READ, 9), aperture + kPage, 4);
  EXPECT_EQ(go().code, Code::MemoryFault);
  rig.copy(kFrom, kTo, 4);
  rig.write(Side::M2s, SDMACC_Q_BASE_LO, kPage);
  rig.write(Side::M2s, SDMACC_Q_BASE_HI, static_cast<std::uint32_t>(aperture >> 32));
  const ErrorRecord e = go();
  EXPECT_EQ(e.code, Code::MemoryFault);
  EXPECT_EQ(e.address, aperture + kPage);
}

TEST_F(Guards, ForTheHostToo) {
  file.keep(1);
  std::uint32_t word = 0;
  EXPECT_TRUE(device.soc.read(aperture, &word, 4));
  const Status s = device.soc.read(aperture + kPage, &word, 4);
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().text().find("memory_fault"), std::string::npos);
}

TEST_F(Guards, OnEveryThread) {
  file.keep(1);
  std::vector<std::thread> threads;
  std::atomic<int> caught = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        std::byte* at = file.memory() + kPage * (i % 2) + 64 * t;
        auto touch = [&] { std::memset(at, 1, 64); };
        if (guarded(touch) == reinterpret_cast<std::uintptr_t>(at)) ++caught;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(caught, 400);
}

TEST_F(Guards, ElsewhereTheSignalGoesItsWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  file.keep(1);
  EXPECT_DEATH(file.memory()[kPage] = std::byte{1}, "");
}

}  // namespace
}  // namespace sdmacc::model::test
