// SPDX-License-Identifier: MIT
// memory: the symbolic contents of all cells, and who read and wrote each last. A value is the
// wraparound sum of the random tokens that went into it; up to 64 ranks it also keeps the sets, so
// that a fault can say whose.
#pragma once

#include "daemon/compose/verify/clock.hpp"
#include "daemon/compose/verify/geometry.hpp"

namespace sdmacc::verifying {

struct Value {
  std::uint64_t sum = 0;
  std::uint64_t ranks = 0, doubled = 0;    // whose tokens are in it; more than once
  std::uint64_t scaled = 0, rescaled = 0;  // FMA: whose have met a scale; more than once
  std::uint64_t shift = 0;  // index of the input element minus index in this memory, modulo 2^64
  bool written = false;
};

// A step in time: `group` counts on over the runs of a lane.
struct Access {
  std::uint32_t lane = kNoIndex, group = 0, step = 0;
  bool operator==(const Access&) const = default;
};

// Tokens and scales of the ranks; the same in every check, so that a fault repeats.
struct Tokens {
  explicit Tokens(const Schedule& schedule);
  std::vector<std::uint64_t> token, scale;
  // Sum in each OUT element after `runs`: each run sums its IN, which in place is the OUT before.
  std::uint64_t expected(bool in_place, std::uint32_t runs) const;
};

class Memory {
 public:
  Memory(const Geometry& geometry, const Tokens& tokens);

  const Value& value(std::uint32_t cell) const { return values_[cell]; }

  // Computes a step's values and writes them. The first fault it meets is kept in `fault`, and it
  // goes on, because a later race explains more.
  void move(const DataStep& step, std::uint32_t lane, std::optional<Fault>& fault);

  // Notes the accesses of a step that is issued. The text of a conflict with one that `clock` does
  // not know, or empty.
  std::string touch(const DataStep& step, const Access& access, const ClockWord* clock);

  // What is wrong with a result, in words; empty when only the sum can tell.
  std::string explain(const Value& value) const;

 private:
  struct Reader {
    Access access;
    std::uint32_t next = kNoIndex;
  };
  struct History {
    Access writer;
    std::uint32_t readers =
        kNoIndex;  // since the last write; those known to a later one are left out
  };
  std::string conflict(const Access& now, bool writes, const Access& before, bool wrote,
                       std::uint32_t cell) const;
  std::string read(std::uint32_t cell, const Access& access, const ClockWord* clock);
  std::string write(std::uint32_t cell, const Access& access, const ClockWord* clock);
  void take(Value& sum, const Value& more, const Ref& source) const;
  std::string explain_sum(std::uint64_t sum) const;
  std::uint32_t drop(std::uint32_t reader);

  const Geometry& g_;
  const Tokens& tokens_;
  std::vector<Value> values_;
  std::vector<History> history_;
  std::vector<Reader> readers_;
  std::uint32_t free_readers_ = kNoIndex;
};

}  // namespace sdmacc::verifying
