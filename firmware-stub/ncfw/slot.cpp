// SPDX-License-Identifier: MIT
// List: words, repeats, CONTINUE and END of a SLOT list. Entry points: next(), ends().
#include "firmware-stub/ncfw/slot.hpp"

namespace sdmacc::ncfw {
namespace {

// An END word is an INC-window address; blocks are 8 KiB aligned.
bool is_inc_window(std::uint64_t word) {
  return (word & 0x1c03) == SDMACC_SEM_INC;
}

}  // namespace

Checked<bool> List::at_end() {
  if (cursor_.repeat != 0) return false;
  const auto at = word();
  if (!at) return tl::unexpected<Failure>(at.error());
  return sdmacc_slot_is_end(*at) != 0;
}

Checked<List::Step> List::next() {
  if (cursor_.repeat != 0) {
    if (cursor_.index == 0 || cursor_.index > SDMACC_SLOT_WINDOW_WORDS)
      return refuse(Code::BadSlot, address(0), cursor_.index, SDMACC_SLOT_WINDOW_WORDS);
    --cursor_.repeat;
    return counts(ram_.load(field::slot_word(list_, cursor_.index - 1)), cursor_.index - 1);
  }
  const auto at = word();
  if (!at) return tl::unexpected<Failure>(at.error());
  const auto step = counts(*at, cursor_.index);
  if (step) {
    ++cursor_.index;
    cursor_.repeat = sdmacc_slot_times(*at) - 1;
  }
  return step;
}

Checked<List::Step> List::counts(std::uint64_t word, std::uint32_t index) const {
  const Step step{sdmacc_slot_m2s(word), sdmacc_slot_s2m(word)};
  const std::uint32_t times = sdmacc_slot_times(word);
  const bool both_or_none = (step.m2s == 0) == (step.s2m == 0);
  if (!both_or_none || step.m2s > SDMACC_SLOT_MAX_COUNT || step.s2m > SDMACC_SLOT_MAX_COUNT ||
      times == 0 || times > SDMACC_SLOT_MAX_TIMES)
    return refuse(Code::BadSlot, address(index), word);
  return step;
}

Checked<List::Ends> List::ends() {
  Ends ends;
  if (cursor_.repeat != 0) return ends;
  while (cursor_.index < SDMACC_SLOT_WINDOW_WORDS) {
    const auto at = word();
    if (!at) return tl::unexpected<Failure>(at.error());
    if (!sdmacc_slot_is_end(*at)) break;
    if (!is_inc_window(*at))
      return refuse(Code::BadSlot, address(cursor_.index), *at, SDMACC_SEM_INC);
    if (ends.count == SDMACC_COMPLETION_ADDRESSES)
      return refuse(Code::BadSlot, address(cursor_.index), *at, SDMACC_COMPLETION_ADDRESSES);
    ends.semaphore[ends.count++] = *at - SDMACC_SEM_READ_TO_INC;
    ++cursor_.index;
  }
  return ends;
}

Checked<std::uint64_t> List::word() {
  for (bool refilled = false;; refilled = true) {
    if (cursor_.index >= SDMACC_SLOT_WINDOW_WORDS)  // runs past its window
      return refuse(Code::BadSlot, address(0), cursor_.index, SDMACC_SLOT_WINDOW_WORDS);
    const std::uint64_t at = ram_.load(field::slot_word(list_, cursor_.index));
    if (!sdmacc_slot_is_continue(at)) return at;
    const std::uint64_t named_at = address(cursor_.index + 1);
    if (refilled || at != SDMACC_SLOT_CONTINUE || cursor_.index + 1 == SDMACC_SLOT_WINDOW_WORDS)
      return refuse(Code::BadSlot, address(cursor_.index), at, cursor_.index);
    SDMACC_NCFW_CHECK(refill(ram_.load(field::slot_word(list_, cursor_.index + 1)), named_at));
    cursor_ = {cursor_.window, 0, 0};
  }
}

Checked<void> List::refill(std::uint64_t offset, std::uint64_t named_at) {
  const std::uint32_t section = ram_.load(field::kSlotBytes);
  if (offset % SDMACC_SLOT_WINDOW_BYTES != 0 || section < SDMACC_SLOT_WINDOW_BYTES ||
      offset > section - SDMACC_SLOT_WINDOW_BYTES || offset / SDMACC_SLOT_WINDOW_BYTES > 0xffff)
    return refuse(Code::BadSlot, named_at, offset, section);
  SDMACC_NCFW_CHECK(ram_.copy_in(Region::Slot, list_ * SDMACC_SLOT_WINDOW_BYTES,
                                 ram_.load(field::kSlotBase) + offset, SDMACC_SLOT_WINDOW_BYTES));
  cursor_.window = static_cast<std::uint32_t>(offset / SDMACC_SLOT_WINDOW_BYTES);
  return {};
}

Checked<void> List::rewind() {
  if (cursor_.window != list_)
    SDMACC_NCFW_CHECK(refill(std::uint64_t{list_} * SDMACC_SLOT_WINDOW_BYTES, address(0)));
  cursor_ = start(list_);
  return {};
}

}  // namespace sdmacc::ncfw
