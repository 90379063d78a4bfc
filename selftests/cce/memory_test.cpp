// SPDX-License-Identifier: MIT
// Where reduce() may touch memory and what it may depend on: nothing beside the buffers, in place,
// count 0, the caller's floating-point mode, threads, and the choice of a target.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "selftests/cce/support.hpp"

namespace sdmacc::cce {
namespace {

// One accessible page between two that are not.
class FencedPage {
 public:
  FencedPage() : size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* base = mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return;
    base_ = static_cast<std::byte*>(base);
    usable_ = mprotect(base_ + size_, size_, PROT_READ | PROT_WRITE) == 0;
  }
  ~FencedPage() {
    if (base_ != nullptr) munmap(base_, 3 * size_);
  }
  FencedPage(const FencedPage&) = delete;
  FencedPage& operator=(const FencedPage&) = delete;

  bool usable() const { return usable_; }
  // `bytes` bytes that end, or start, at the fence.
  std::byte* last(size_t bytes) const { return base_ + 2 * size_ - bytes; }
  std::byte* first() const { return base_ + size_; }

 private:
  size_t size_;
  std::byte* base_ = nullptr;
  bool usable_ = false;
};

TEST(Memory, NothingOutsideTheBuffersIsTouched) {
  constexpr size_t kSources = 3;
  const FencedPage pages[kSources + 1];
  for (const auto& page : pages) ASSERT_TRUE(page.usable());
  std::mt19937 random(7);
  for (Op op : kOps) {
    for (Acc acc : kAccs) {
      for (size_t count = 0; count <= 257; count += thin()) {
        const Case c = random_case(op, acc, kSources, count, random);
        const auto want = c.expected();
        const size_t bytes = count * element_size(acc);
        for (bool at_end : {true, false}) {
          std::byte* at[kSources + 1];
          for (size_t i = 0; i <= kSources; ++i) {
            at[i] = at_end ? pages[i].last(bytes) : pages[i].first();
          }
          for (size_t s = 0; s < kSources; ++s) {
            for (size_t i = 0; i < count; ++i) put(at[s], acc, i, c.codes[s][i]);
          }
          for (const auto& target : targets()) {
            const ForcedTarget forced(target);
            std::byte* to[] = {at[kSources]};
            std::fill_n(to[0], bytes, std::byte{0x5A});
            reduce(op, acc, std::vector<const std::byte*>(at, at + kSources), c.scales, to, count);
            for (size_t i = 0; i < count; ++i) ASSERT_EQ(get(to[0], acc, i), want[i]) << target;
          }
        }
      }
    }
  }
}

TEST(Memory, ADestinationMayBeAnySource) {
  constexpr size_t kSources = 4;
  std::mt19937 random(8);
  for (Acc acc : kAccs) {
    for (Op op : kOps) {
      for (size_t count : {1u, 63u, 64u, 65u, 257u, 1000u}) {
        const Case c = random_case(op, acc, kSources, count, random);
        const auto want = c.expected();
        const size_t bytes = count * element_size(acc);
        for (const auto& target : targets()) {
          const ForcedTarget forced(target);
          for (size_t in_place = 0; in_place < kSources; ++in_place) {
            std::vector<GuardedBuffer> buffers;
            std::vector<const std::byte*> from;
            for (size_t s = 0; s < kSources; ++s) buffers.emplace_back(bytes, s);
            for (size_t s = 0; s < kSources; ++s) {
              for (size_t i = 0; i < count; ++i) put(buffers[s].data(), acc, i, c.codes[s][i]);
              from.push_back(buffers[s].data());
            }
            // Two sources at once are destinations too.
            const size_t other = (in_place + 1) % kSources;
            std::byte* to[] = {buffers[in_place].data(), buffers[other].data()};
            reduce(op, acc, from, c.scales, to, count);
            for (size_t i = 0; i < count; ++i) {
              ASSERT_EQ(get(to[0], acc, i), want[i]) << target << " source " << in_place;
              ASSERT_EQ(get(to[1], acc, i), want[i]) << target << " source " << other;
            }
            for (const auto& buffer : buffers) ASSERT_TRUE(buffer.guards_intact());
          }
        }
      }
    }
  }
}

TEST(Memory, CountZeroTakesAnyPointers) {
  const std::byte* from[] = {nullptr, nullptr};
  std::byte* to[] = {nullptr};
  const float scales[] = {1.0f, 1.0f};
  for (Op op : kOps) {
    for (Acc acc : kAccs) reduce(op, acc, from, scales, to, 0);
  }
}

TEST(Memory, ElementSizes) {
  EXPECT_EQ(element_size(Acc::Bf16), 2u);
  EXPECT_EQ(element_size(Acc::Fp16), 2u);
  EXPECT_EQ(element_size(Acc::Fp32r), 4u);
  EXPECT_EQ(element_size(Acc::Fp8e3), 1u);
  EXPECT_EQ(element_size(Acc::Fp8e4), 1u);
  EXPECT_EQ(element_size(Acc::Fp8e5), 1u);
  EXPECT_EQ(element_size(static_cast<Acc>(0xA)), 0u);
}

#if defined(__SSE__)
TEST(Mode, FlushToZeroAndRoundingOfTheCallerDoNotMatter) {
  std::mt19937 random(9);
  for (unsigned control : {0x9FC0u, 0x5F80u, 0x3F80u, 0x7F80u}) {  // FTZ + DAZ, up, down, to zero
    for (Acc acc : kAccs) {
      for (Op op : kOps) {
        Case c = random_case(op, acc, 4, 257, random);
        c.codes[0] = special_codes(acc);
        for (auto& source : c.codes) source.resize(c.codes[0].size());
        const auto want = c.expected();
        for (const auto& target : targets()) {
          const ForcedTarget forced(target);
          const unsigned before = _mm_getcsr();
          _mm_setcsr(control);
          const std::string text = c.run(want);
          const unsigned after = _mm_getcsr();
          _mm_setcsr(before);
          ASSERT_EQ(text, "");
          ASSERT_EQ(after & 0xFFC0u, control);
        }
      }
    }
  }
}
#endif

TEST(Target, ForcingATargetRunsIt) {
  const auto all = targets();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(active_target(), all.front());
  for (const auto& target : all) {
    const ForcedTarget forced(target);
    EXPECT_TRUE(forced.ok());
    EXPECT_EQ(active_target(), target);
  }
  EXPECT_EQ(active_target(), all.front());
  EXPECT_FALSE(force_target("no such target"));
  EXPECT_EQ(active_target(), all.front());
}

TEST(Target, ManyThreadsGetTheSameBits) {
  std::mt19937 random(10);
  const Case c = random_case(Op::Add, Acc::Bf16, 4, 10'000, random);
  const auto want = c.expected();
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (auto& text : texts) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10 && text.empty(); ++i) text = c.run(want);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& text : texts) EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace sdmacc::cce
