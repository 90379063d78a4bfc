// SPDX-License-Identifier: MIT
// Edits make a new table and publish it; readers keep the one they have until they see the version.
#include "firmware-stub/model/context.hpp"

#include <algorithm>

namespace sdmacc::model {
namespace {

std::uint64_t start(const Window& w) {
  return w.base;
}
std::uint64_t start(const Extent& e) {
  return e.offset;
}

// First entry that starts above `address`; the one before it is the only one that can hold it.
template <typename Entries>
auto after(Entries& entries, std::uint64_t address) {
  return std::upper_bound(entries.begin(), entries.end(), address,
                          [](std::uint64_t a, const auto& e) { return a < start(e); });
}

template <typename Entry>
const Entry* holder(const std::vector<Entry>& entries, std::uint64_t address) {
  auto it = after(entries, address);
  if (it == entries.begin()) return nullptr;
  --it;
  return address - start(*it) < it->size ? &*it : nullptr;
}

template <typename Entry>
Status insert(std::vector<Entry>& entries, Entry entry, std::uint64_t end_of_space,
              const char* what) {
  const std::uint64_t base = start(entry);
  if (entry.size == 0)
    return fail(Errc::Invalid, Stage::Device, kNoIndex, "{} at {:#x} is empty", what, base);
  if (base >= end_of_space || entry.size > end_of_space - base)
    return fail(Errc::Range, Stage::Device, kNoIndex, "{} at {:#x} of {:#x} bytes ends above {:#x}",
                what, base, entry.size, end_of_space);
  const auto next = after(entries, base);
  const bool clash = holder(entries, base) != nullptr ||
                     (next != entries.end() && start(*next) - base < entry.size);
  if (clash)
    return fail(Errc::Busy, Stage::Device, kNoIndex, "{} at {:#x} of {:#x} bytes overlaps another",
                what, base, entry.size);
  entries.insert(next, std::move(entry));
  return {};
}

template <typename Entry>
Status erase(std::vector<Entry>& entries, std::uint64_t base, const char* what) {
  const auto it = std::find_if(entries.begin(), entries.end(),
                               [&](const Entry& e) { return start(e) == base; });
  if (it == entries.end())
    return fail(Errc::NotFound, Stage::Device, kNoIndex, "no {} starts at {:#x}", what, base);
  entries.erase(it);
  return {};
}

constexpr std::uint64_t kEndOfAddresses = ~0ull;
constexpr std::uint64_t kEndOfAperture = 1ull << 40;

}  // namespace

const Window* ContextTable::window(std::uint64_t address) const {
  return holder(windows, address);
}
const Extent* ContextTable::extent(std::uint64_t offset) const {
  return holder(extents, offset);
}

template <typename Edit>
Status Context::edit(Edit&& edit) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<ContextTable>(*table_);
  SDMACC_CHECK(edit(*next));
  table_ = std::move(next);
  version_.fetch_add(1, std::memory_order_release);
  return {};
}

Status Context::add_window(const Window& window) {
  return edit([&](ContextTable& t) -> Status {
    if (t.windows.size() == kMaxWindows)
      return fail(Errc::NoSpace, Stage::Device, kNoIndex, "context {} has its {} windows already",
                  number_, kMaxWindows);
    return insert(t.windows, window, kEndOfAddresses, "window");
  });
}

Status Context::remove_window(std::uint64_t base) {
  return edit([&](ContextTable& t) { return erase(t.windows, base, "window"); });
}

Status Context::add_extent(std::uint64_t offset, std::uint64_t size, std::byte* memory,
                           Rights rights) {
  return edit([&](ContextTable& t) {
    Extent extent{offset, size, rights, std::make_shared<std::atomic<std::byte*>>(memory)};
    return insert(t.extents, std::move(extent), kEndOfAperture, "extent");
  });
}

Status Context::remove_extent(std::uint64_t offset) {
  return edit([&](ContextTable& t) { return erase(t.extents, offset, "extent"); });
}

Status Context::rebind(std::uint64_t offset, std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const Extent* extent = table_->extent(offset);
  if (!extent || extent->offset != offset)
    return fail(Errc::NotFound, Stage::Device, kNoIndex, "no extent starts at {:#x}", offset);
  extent->memory->store(memory, std::memory_order_release);
  return {};
}

void Context::clear() {
  const std::lock_guard lock(mutex_);
  table_ = std::make_shared<ContextTable>();
  version_.fetch_add(1, std::memory_order_release);
}

Context::Snapshot Context::snapshot() const {
  const std::lock_guard lock(mutex_);
  return {table_, version_.load(std::memory_order_relaxed)};
}

}  // namespace sdmacc::model
