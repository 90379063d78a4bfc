// SPDX-License-Identifier: MIT
// List: reads one SLOT list through its 128-word window in the TOP_SP's RAM. A CONTINUE word
// refills the window from the SLOT section of the image; rewind() puts the first window back, which
// the next entry that runs the list needs.
//
// The cursor is what must be kept in memory: with it a new List goes on where the old one was. A
// list always makes progress: a refilled window that begins with CONTINUE is an error.
#pragma once

#include <array>
#include <cstdint>

#include "firmware-stub/ncfw/context.hpp"
#include "libuapi/abi/program.h"

namespace sdmacc::ncfw {

class List {
 public:
  struct Cursor {
    std::uint32_t window = 0;  // which one is in RAM, in 1024-byte units of the SLOT section
    std::uint32_t index = 0;   // next word
    std::uint32_t repeat = 0;  // repeats left of the word before it
  };
  struct Step {
    std::uint32_t m2s = 0, s2m = 0;  // both 0: a step that only waits
  };
  struct Ends {
    std::uint32_t count = 0;
    std::array<std::uint64_t, SDMACC_COMPLETION_ADDRESSES> semaphore{};  // READ window
  };

  List(Context& ram, std::uint32_t list, Cursor at) : ram_(ram), list_(list), cursor_(at) {}
  static Cursor start(std::uint32_t list) { return {list, 0, 0}; }

  const Cursor& cursor() const { return cursor_; }
  Checked<bool> at_end();
  Checked<Step> next();
  // The END words at the cursor, 0 … 4, which is moved behind them.
  Checked<Ends> ends();
  Checked<void> rewind();

 private:
  // The word at the cursor, which is not CONTINUE.
  Checked<std::uint64_t> word();
  Checked<void> refill(std::uint64_t offset, std::uint64_t named_at);
  Checked<Step> counts(std::uint64_t word, std::uint32_t index) const;
  std::uint64_t address(std::uint32_t index) const {
    return ram_.address(field::slot_word(list_, index));
  }

  Context& ram_;
  std::uint32_t list_;
  Cursor cursor_;
};

}  // namespace sdmacc::ncfw
