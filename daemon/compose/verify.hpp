// SPDX-License-Identifier: MIT
// verify: proves a Schedule before it is emitted, by running it symbolically.
//
// Each rank's input element is a token; Reduce adds, Copy copies, per interval of elements. At the
// end every OUT element holds each rank's token exactly once; every wait is satisfied; every signal
// is back at its start value; two runs back to back verify as one; and any two accesses of which
// one writes and that touch the same elements are ordered by signals.
#pragma once

#include <optional>

#include "daemon/compose/schedule.hpp"

namespace sdmacc {

enum class FaultKind : std::uint8_t {
  WrongResult,    // an OUT element misses, doubles or has foreign contributions
  Deadlock,       // lanes that wait for ever; the text has the cycle or the missing post
  Race,           // two unordered accesses, both named
  Residue,        // a signal that does not end at zero
  Malformed,      // a range outside its space, a signal index, differing counts, an empty wait …
  UnwrittenRead,  // a read of TMP or OUT that nothing wrote before
};
std::string_view name(FaultKind);

struct Fault {
  FaultKind kind;
  Rank rank;
  std::uint32_t channel;
  std::uint32_t step;  // index in the lane; kNoIndex when of no step
  std::string text;    // says it whole, with names and values
};

struct VerifyOptions {
  bool in_place = false;  // IN and OUT of every rank are the same memory
  std::uint32_t runs = 2;
};

// All-reduce: OUT has all ranks' tokens of that element. Linear in steps.
Result<void> verify(const Schedule&, const VerifyOptions& = {});
// The same, with the fault as data (for the tests and `sdmacc lower`).
std::optional<Fault> find_fault(const Schedule&, const VerifyOptions& = {});

// Counted from the Schedule; the device's own counters must equal them for the same run.
struct Traffic {
  std::uint64_t steps = 0;  // steps that move at least one element
  std::uint64_t read_bytes = 0, written_bytes = 0;
  bool operator==(const Traffic&) const = default;
};
// By rank. With more destinations than `max_destinations` a Copy reads its source again for each
// further packet, and a Reduce writes as many as it can and copies from one of them to the others.
std::vector<Traffic> traffic(const Schedule&, std::uint32_t max_destinations = 8);

}  // namespace sdmacc
