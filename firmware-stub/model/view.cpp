// SPDX-License-Identifier: MIT
// The slow path of a View: decode, ask the context, and remember the stretch around the address.
#include "firmware-stub/model/view.hpp"

#include <algorithm>

#include "firmware-stub/model/soc.hpp"

namespace sdmacc::model {

void View::reload() {
  Context::Snapshot now = context_->snapshot();
  table_ = std::move(now.table);
  version_ = now.version;
  std::fill(spans_.begin(), spans_.end(), Span{});
}

Code View::find(Span& span, std::uint64_t address, std::uint64_t size, Rights need, Reach* out) {
  const Target target = soc_.map().decode(address);
  out->memory = nullptr;
  out->target = target;
  if (target.block == Block::Remote || target.block == Block::Neighbour) return Code::Route;
  if (target.block == Block::None || size > target.left) return Code::Decode;

  // [begin, end) around the address, in the block, with the same rights all over.
  std::uint64_t begin = 0;
  std::uint64_t end = target.offset + target.left;
  Rights rights = kRead | kWrite;
  const std::atomic<std::byte*>* memory = nullptr;
  if (target.block == Block::Host) {
    const Extent* extent = table_->extent(target.offset);
    if (!extent || size > extent->offset + extent->size - target.offset) return Code::Aperture;
    begin = extent->offset;
    end = extent->offset + extent->size;
    rights = extent->rights;
    memory = extent->memory.get();
  } else {
    if (!context_->identity()) {
      const Window* window = table_->window(target.local);
      const std::uint64_t ahead = window ? window->base + window->size - target.local : 0;
      if (size > ahead) return Code::Window;
      begin = target.offset - std::min(target.offset, target.local - window->base);
      end = std::min(end, target.offset + ahead);
      rights = window->rights;
    }
    if (is_memory(target.block)) memory = &soc_.memory(target).pointer();
  }
  if ((rights & need) != need) return Code::Forbidden;
  if (!memory) {
    if (size != 4) return Code::RegisterSize;
    return address % 4 == 0 ? Code::None : Code::RegisterAlignment;
  }
  std::byte* base = memory->load(std::memory_order_acquire);
  if (!base) return Code::Unbound;
  const bool host = target.block == Block::Host;
  const std::uint64_t offset = host ? 0 : begin;
  span = {address - (target.offset - begin), end - begin, memory, offset, rights, host};
  out->memory = base + offset + (target.offset - begin);
  out->host = host;
  return Code::None;
}

}  // namespace sdmacc::model
