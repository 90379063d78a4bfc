// SPDX-License-Identifier: MIT
// The three packets, and what happens when memory goes away under one.
#include "firmware-stub/model/execute.hpp"

#include <algorithm>
#include <cstring>

#include "firmware-stub/model/guard.hpp"
#include "firmware-stub/model/soc.hpp"

namespace sdmacc::model {
namespace {

bool overlaps(const std::byte* a, const std::byte* b, std::uint32_t length) {
  const auto distance = reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b);
  return distance != 0 && (distance < length || -distance < length);
}

}  // namespace

const Operand& Executor::operand(const Packet& p, Place at) {
  return at.side == Side::M2s ? p.source[at.number] : p.destination[at.number];
}

bool Executor::refuse(const Packet& p, Place at, const Refusal& why) {
  const Operand& o = operand(p, at);
  fault_ = Fault{why, at.side, o.index, o.address};
  return false;
}

bool Executor::reach(const Packet& p, Place at, Reach* out) {
  const bool reads = at.side == Side::M2s;
  const std::size_t position = (reads ? kSourcePosition : kDestinationPosition) + at.number;
  const Rights need = reads ? kRead : kWrite;
  const Code code = view_.reach(position, operand(p, at).address, p.length, need, out);
  if (code != Code::None) [[unlikely]]
    return refuse(p, at, access_refusal(code, *out, p.length, need));
  may_fault_ |= out->host;
  return true;
}

bool Executor::reach_memory(const Packet& p, Place at, std::byte** out) {
  Reach r;
  if (!reach(p, at, &r)) return false;
  if (!r.memory) return refuse(p, at, {Code::NotMemory});
  *out = r.memory;
  return true;
}

// Runs what moves the bytes; from_ and to_ say what it touches, when it can fault.
template <typename Move>
bool Executor::move(const Packet& p, Move&& what) {
  if (!may_fault_) {
    what();
    return true;
  }
  const std::uintptr_t bad = guarded(what);
  if (bad == 0) return true;
  const auto holds = [&](const std::byte* start) {
    return bad - reinterpret_cast<std::uintptr_t>(start) < p.length;
  };
  const auto s = std::find_if(from_.begin(), from_.begin() + p.sources, holds) - from_.begin();
  const auto d = std::find_if(to_.begin(), to_.begin() + p.destinations, holds) - to_.begin();
  if (s < p.sources)
    return refuse(p, {Side::M2s, static_cast<std::uint32_t>(s)}, {Code::MemoryFault});
  return refuse(p, {Side::S2m, d < p.destinations ? static_cast<std::uint32_t>(d) : 0},
                {Code::MemoryFault});
}

bool Executor::run(const Packet& p) {
  may_fault_ = false;
  switch (p.kind) {
    case Packet::Kind::Copy:
      return copy(p);
    case Packet::Kind::Replicate:
      return replicate(p);
    case Packet::Kind::Compute:
      return compute(p);
  }
  return false;
}

bool Executor::copy(const Packet& p) {
  Reach from, to;
  if (!reach(p, {Side::M2s, 0}, &from) || !reach(p, {Side::S2m, 0}, &to)) return false;
  if (!from.memory || !to.memory) return copy_register(p, from, to);
  from_[0] = from.memory;
  to_[0] = to.memory;
  if (!move(p, [&] { std::memmove(to.memory, from.memory, p.length); })) return false;
  if (p.length == 4) {
    counters_.words.add(1);
  } else {
    counters_.bytes_read.add(p.length);
    counters_.bytes_written.add(p.length);
  }
  return true;
}

// One side is a register, so the length is 4.
bool Executor::copy_register(const Packet& p, const Reach& from, const Reach& to) {
  std::uint32_t word = 0;
  from_[0] = from.memory;
  to_[0] = to.memory;
  if (!from.memory) {
    if (const Refusal r = soc_.load(from.target, &word)) return refuse(p, {Side::M2s, 0}, r);
  } else if (!move(p, [&] { std::memcpy(&word, from.memory, 4); })) {
    return false;
  }
  if (to.memory) {
    counters_.words.add(1);
    return move(p, [&] { std::memcpy(to.memory, &word, 4); });
  }
  // Counted first: who sees the write sees the count.
  (to.target.block == Block::Semaphores ? counters_.semaphore_writes : counters_.register_writes)
      .add(1);
  if (const Refusal r = soc_.store(to.target, word, view_.context()))
    return refuse(p, {Side::S2m, 0}, r);
  return true;
}

bool Executor::replicate(const Packet& p) {
  if (!reach_memory(p, {Side::M2s, 0}, &from_[0])) return false;
  for (std::uint32_t i = 0; i < p.destinations; ++i)
    if (!reach_memory(p, {Side::S2m, i}, &to_[i])) return false;
  if (!apart(p)) return false;
  const bool moved = move(p, [&] {
    for (std::uint32_t i = 0; i < p.destinations; ++i)
      if (to_[i] != from_[0]) std::memcpy(to_[i], from_[0], p.length);
  });
  if (!moved) return false;
  counters_.bytes_read.add(p.length);
  counters_.bytes_written.add(std::uint64_t{p.length} * p.destinations);
  return true;
}

bool Executor::compute(const Packet& p) {
  for (std::uint32_t i = 0; i < p.sources; ++i)
    if (!reach_memory(p, {Side::M2s, i}, &from_[i])) return false;
  for (std::uint32_t i = 0; i < p.destinations; ++i)
    if (!reach_memory(p, {Side::S2m, i}, &to_[i])) return false;
  if (!apart(p)) return false;
  const bool moved = move(p, [&] {
    cce::reduce(p.op, p.acc, {from_.data(), p.sources}, {p.scale.data(), p.sources},
                {to_.data(), p.destinations}, p.length / p.element);
  });
  if (!moved) return false;
  counters_.bytes_read.add(std::uint64_t{p.length} * p.sources);
  counters_.bytes_written.add(std::uint64_t{p.length} * p.destinations);
  return true;
}

// A destination is a source or another destination, or has nothing in common with it.
bool Executor::apart(const Packet& p) {
  for (std::uint32_t d = 0; d < p.destinations; ++d) {
    for (std::uint32_t s = 0; s < p.sources; ++s)
      if (overlaps(to_[d], from_[s], p.length))
        return refuse(p, {Side::S2m, d}, {Code::Overlap, p.source[s].address});
    for (std::uint32_t e = 0; e < d; ++e)
      if (overlaps(to_[d], to_[e], p.length))
        return refuse(p, {Side::S2m, d}, {Code::Overlap, p.destination[e].address});
  }
  return true;
}

}  // namespace sdmacc::model
