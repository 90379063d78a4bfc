// SPDX-License-Identifier: MIT
// View: the address space as one queue, firmware or host sees it, through a context. It turns a SoC
// address into host memory or a register, with every check of docs/device.md §1, and remembers the
// last answer at each of its positions, so that a stream through one buffer costs a comparison.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "firmware-stub/model/context.hpp"
#include "firmware-stub/model/decode.hpp"
#include "firmware-stub/model/error.hpp"

namespace sdmacc::model {

class Soc;

// A stretch of addresses that is one stretch of memory with the same rights all over.
struct Span {
  std::uint64_t base = 0;  // as the accessor writes it
  std::uint64_t size = 0;
  const std::atomic<std::byte*>* memory = nullptr;
  std::uint64_t offset = 0;  // of `base` in memory
  Rights rights = 0;
  bool host = false;  // may fault
};

// A reachable access: memory when `memory` is set, else the register `target`.
struct Reach {
  std::byte* memory = nullptr;
  bool host = false;
  Target target;
};

class View {
 public:
  // `spans` is the caller's, one element a position. One thread uses a view at a time.
  View(Soc& soc, std::span<Span> spans) : soc_(soc), spans_(spans) {}

  void set_context(const Context& context) {
    context_ = &context;
    version_ = 0;
  }
  bool has_context(const Context& context) const { return context_ == &context; }
  const Context& context() const { return *context_; }

  // Takes over edits of the context. To be called before a run of accesses, whose memory stays
  // valid because whoever removes an extent first stops its users.
  void refresh() {
    if (version_ != context_->version()) [[unlikely]]
      reload();
  }

  // Code::None, and where the `size` bytes are; or why not.
  Code reach(std::size_t position, std::uint64_t address, std::uint64_t size, Rights need,
             Reach* out) {
    const Span& s = spans_[position];
    const std::uint64_t at = address - s.base;
    if (at < s.size && size <= s.size - at && (s.rights & need) == need) [[likely]] {
      if (std::byte* memory = s.memory->load(std::memory_order_acquire)) [[likely]] {
        out->memory = memory + s.offset + at;
        out->host = s.host;
        return Code::None;
      }
    }
    return find(spans_[position], address, size, need, out);
  }

 private:
  void reload();
  Code find(Span& span, std::uint64_t address, std::uint64_t size, Rights need, Reach* out);

  Soc& soc_;
  std::span<Span> spans_;
  const Context* context_ = nullptr;
  std::shared_ptr<const ContextTable> table_;
  std::uint64_t version_ = 0;
};

}  // namespace sdmacc::model
