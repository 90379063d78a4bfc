// SPDX-License-Identifier: MIT
// List alone: words, repeats, CONTINUE, END, rewind, and each malformed list->
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "firmware-stub/ncfw/slot.hpp"
#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

constexpr std::uint32_t kList = 3;
constexpr std::uint64_t kEnd = 0x808280000000 + SDMACC_SEM_INC + 4 * 9;

// One TOP_SP whose SLOT section of `windows` windows lies at kMemoryBase.
class Slot : public testing::Test {
 protected:
  Slot() : world(cayman(), 1), ram(*world.topsps[0].port, cayman(), 0) {
    go_to(List::start(kList));
    world.memory.resize(8 * SDMACC_SLOT_WINDOW_BYTES);
    ram.store(field::kSlotBase, kMemoryBase);
    ram.store(field::kSlotBytes, 8 * SDMACC_SLOT_WINDOW_BYTES);
  }
  void go_to(const List::Cursor& cursor) { list.emplace(ram, kList, cursor); }
  void put(std::uint32_t window, std::uint32_t index, std::uint64_t word) {
    std::memcpy(&world.memory[window * SDMACC_SLOT_WINDOW_BYTES + 8 * index], &word, 8);
    if (window == kList) ram.store(field::slot_word(kList, index), word);
  }
  void put_continue(std::uint32_t window, std::uint32_t index, std::uint64_t offset) {
    put(window, index, SDMACC_SLOT_CONTINUE);
    put(window, index + 1, offset);
  }
  void expect_step(std::uint32_t m2s, std::uint32_t s2m) {
    const auto step = list->next();
    ASSERT_TRUE(step);
    EXPECT_EQ(step->m2s, m2s);
    EXPECT_EQ(step->s2m, s2m);
  }
  template <typename T>
  void expect_bad(const Checked<T>& result, std::uint32_t index, std::uint64_t value) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Code::BadSlot);
    EXPECT_EQ(result.error().address,
              world.ram_address(0, SDMACC_RAM_SLOT + kList * 1024 + 8 * index));
    EXPECT_EQ(result.error().value, value);
  }

  World world;
  Context ram;
  std::optional<List> list;
};

TEST_F(Slot, WordsAndRepeats) {
  put(kList, 0, sdmacc_slot_word(1, 2, 1));
  put(kList, 1, sdmacc_slot_word(SDMACC_SLOT_MAX_COUNT, 4, 3));
  put(kList, 2, sdmacc_slot_word(0, 0, 2));
  put(kList, 3, kEnd);
  expect_step(1, 2);
  EXPECT_EQ(list->cursor().index, 1u);
  for (std::uint32_t left : {2u, 1u, 0u}) {
    expect_step(SDMACC_SLOT_MAX_COUNT, 4);
    EXPECT_EQ(list->cursor().index, 2u);
    EXPECT_EQ(list->cursor().repeat, left);
    EXPECT_FALSE(list->at_end().value());
    go_to(List::Cursor(list->cursor()));  // the cursor is all that is needed
  }
  expect_step(0, 0);
  expect_step(0, 0);
  EXPECT_TRUE(list->at_end().value());
  const auto ends = list->ends();
  ASSERT_TRUE(ends);
  EXPECT_EQ(ends->count, 1u);
  EXPECT_EQ(ends->semaphore[0], kEnd - SDMACC_SEM_READ_TO_INC);
}

TEST_F(Slot, MostRepeats) {
  put(kList, 0, sdmacc_slot_word(1, 1, SDMACC_SLOT_MAX_TIMES));
  put(kList, 1, kEnd);
  for (std::uint32_t i = 0; i < SDMACC_SLOT_MAX_TIMES; ++i) ASSERT_TRUE(list->next());
  EXPECT_TRUE(list->at_end().value());
}

TEST_F(Slot, ContinueAndRewind) {
  put(kList, 0, sdmacc_slot_word(1, 1, 1));
  put_continue(kList, 126 - 125, 7 * 1024);
  put(7, 0, sdmacc_slot_word(2, 2, 1));
  put_continue(7, 1, 5 * 1024);
  for (std::uint32_t i = 0; i < 128; ++i) put(5, i, i < 124 ? sdmacc_slot_word(3, 3, 1) : kEnd);
  expect_step(1, 1);
  expect_step(2, 2);
  EXPECT_EQ(list->cursor().window, 7u);
  for (int i = 0; i < 124; ++i) expect_step(3, 3);
  EXPECT_EQ(list->cursor().window, 5u);
  EXPECT_TRUE(list->at_end().value());
  EXPECT_EQ(list->ends().value().count, 4u);
  ASSERT_TRUE(list->rewind());
  EXPECT_EQ(list->cursor().window, kList);
  expect_step(1, 1);
  expect_step(2, 2);
}

TEST_F(Slot, EndWordsGoOnOverAWindow) {
  put(kList, 0, kEnd);
  put_continue(kList, 1, 7 * 1024);
  put(7, 0, kEnd + 4);
  const auto ends = list->ends();
  ASSERT_TRUE(ends);
  EXPECT_EQ(ends->count, 2u);
  EXPECT_EQ(ends->semaphore[1], kEnd + 4 - SDMACC_SEM_READ_TO_INC);
}

TEST_F(Slot, BadWords) {
  for (const std::uint64_t word :
       {std::uint64_t{0}, sdmacc_slot_word(1, 0, 1), sdmacc_slot_word(1, 1, 0),
        sdmacc_slot_word(1, 1, 0x10000), sdmacc_slot_word(0, 0, 0x10000),
        sdmacc_slot_word(SDMACC_SLOT_MAX_COUNT + 1, 1, 1),
        sdmacc_slot_word(1, SDMACC_SLOT_MAX_COUNT + 1, 1), kEnd}) {
    put(kList, 0, word);
    expect_bad(list->next(), 0, word);
  }
}

TEST_F(Slot, BadEnds) {
  put(kList, 0, kEnd - 4);
  put(kList, 1, kEnd + 1);
  expect_bad(list->ends(), 1, kEnd + 1);
  go_to(List::start(kList));
  put(kList, 1, kEnd - SDMACC_SEM_READ_TO_INC);  // READ window
  expect_bad(list->ends(), 1, kEnd - SDMACC_SEM_READ_TO_INC);
  go_to(List::start(kList));
  for (std::uint32_t i = 0; i < 5; ++i) put(kList, i, kEnd + 4 * i);
  expect_bad(list->ends(), 4, kEnd + 16);
}

TEST_F(Slot, RunsPastItsWindow) {
  for (std::uint32_t i = 0; i < 128; ++i) put(kList, i, sdmacc_slot_word(1, 1, 1));
  for (std::uint32_t i = 0; i < 128; ++i) ASSERT_TRUE(list->next());
  expect_bad(list->next(), 0, 128);
  expect_bad(list->at_end(), 0, 128);
}

TEST_F(Slot, BadContinue) {
  for (const std::uint64_t offset : {std::uint64_t{7 * 1024 + 8}, std::uint64_t{8 * 1024},
                                     std::uint64_t{1} << 40, ~std::uint64_t{0} << 10}) {
    put(kList, 0, sdmacc_slot_word(1, 1, 1));
    put_continue(kList, 1, offset);
    go_to(List::start(kList));
    expect_step(1, 1);
    expect_bad(list->next(), 2, offset);
  }
  put(kList, 1, SDMACC_SLOT_CONTINUE | 1);  // the low half must be 0
  expect_bad(list->next(), 1, SDMACC_SLOT_CONTINUE | 1);
}

TEST_F(Slot, ContinueInTheLastWord) {
  for (std::uint32_t i = 0; i < 127; ++i) put(kList, i, sdmacc_slot_word(1, 1, 1));
  put(kList, 127, SDMACC_SLOT_CONTINUE);
  for (std::uint32_t i = 0; i < 127; ++i) ASSERT_TRUE(list->next());
  expect_bad(list->next(), 127, SDMACC_SLOT_CONTINUE);
}

TEST_F(Slot, ContinueToItselfWithoutAnItem) {
  put_continue(kList, 0, kList * 1024);
  expect_bad(list->next(), 0, SDMACC_SLOT_CONTINUE);
}

TEST_F(Slot, RefillIsRefused) {
  put(kList, 0, sdmacc_slot_word(1, 1, 1));
  put_continue(kList, 1, 7 * 1024);
  expect_step(1, 1);
  world.refused.insert(kMemoryBase + 7 * 1024);
  const auto step = list->next();
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, Code::Access);
  EXPECT_EQ(step.error().address, kMemoryBase + 7 * 1024);
}

TEST_F(Slot, CursorThatNoListHas) {
  go_to({kList, 0, 5});
  expect_bad(list->next(), 0, 0);
  go_to({kList, 200, 0});
  expect_bad(list->next(), 0, 200);
  go_to({kList, 200, 1});
  expect_bad(list->next(), 0, 200);
}

}  // namespace
}  // namespace sdmacc::ncfw
