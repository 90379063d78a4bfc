// SPDX-License-Identifier: MIT
// Schedule: per rank and channel the step primitives of the spec with element ranges, waits and
// posts. Made by compose, checked by verify.hpp; knows nothing of addresses or descriptors, and
// nothing in the type knows ring, mesh or level.
//
// Meaning. A step and the `joined` steps that follow it are one group: one handler step of a ring,
// one event of a mesh. A lane issues its groups in order. A group is issued when all waits of its
// first step hold (they are consumed then); its reads and writes happen between issue and
// completion, in no order among its steps; the posts of its last step happen when all of it is
// complete. Groups of one lane may overlap unless a signal orders them: a group that must follow
// the completion of an earlier one of its own lane waits for its post. Only lanes of a signal's
// owner wait for it, and at most one lane does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/world/types.hpp"

namespace sdmacc {

// Step primitives, in the runtime's vocabulary.
enum class Prim : std::uint8_t {
  Send,
  Recv,
  DirectSend,
  DirectRecv,
  DirectRecvSend,
  DirectCopySend,
  RecvCopySend,
  RecvReduceSend,
  RecvReduceCopy,
  RecvReduceCopySend,
  DirectReduceSendKangaring,
  PostSend,
  PostRecv,
  MarkStep,
  MarkComplete,
  ResetSendCredit,
  // mesh events
  LocalHandshake,
  GlobalHandshake,
  IntraGroupBroadcast,
  InterGroupBroadcast,
  ReduceCopy,
  ReduceWrite,
  InterGroupBroadcast2,
  SyncEvent,
};
std::string_view name(Prim);

enum class Space : std::uint8_t { In, Out, Tmp };
enum class Kind : std::uint8_t { Copy, Reduce, Sync };

// Elements [first, first + count) of one rank's IN, OUT or TMP `tmp`.
struct Range {
  Rank rank = 0;
  Space space = Space::In;
  std::uint32_t tmp = 0;
  std::uint64_t first = 0, count = 0;
  bool operator==(const Range&) const = default;
};

// What a signal is for; emit places it by this: the first five are fields of a ring channel, Event
// is a mesh semaphore.
enum class SignalRole : std::uint8_t { Recv, Credit, Done, Peer, Event };

struct Signal {
  Rank owner = 0;  // whose TOP_SP holds the counter
  SignalRole role = SignalRole::Event;
  std::uint32_t channel = 0;
  std::string name;  // short, for prints and status: "recv", "credit", "done", "peer", or the
                     // event's letter
};

struct Wait {
  std::uint32_t signal = 0;  // index in Schedule::signals
  std::uint32_t count = 1;   // consumed when value ≥ count; at least 1
  bool operator==(const Wait&) const = default;
};
struct Post {
  std::uint32_t signal = 0;
  std::uint32_t count = 1;
  bool operator==(const Post&) const = default;
};

// Copy: one src, one or more dst. Reduce: src in order of summation (a left fold in FP32, one
// rounding at each dst), one or more dst. Sync: neither. All ranges of a step have the same count;
// a step may be Copy or Reduce with count 0 (no data).
struct Step {
  Prim prim = Prim::MarkStep;
  Kind kind = Kind::Sync;
  std::vector<Range> src, dst;
  std::vector<Wait> waits;
  std::vector<Post> posts;
  std::uint32_t slice = 0;
  std::uint8_t half = 0;  // H0, H1
  bool joined = false;  // in the group of the step before it; then that step posts nothing and this
                        // one waits for nothing
};

struct Lane {
  Rank rank = 0;
  std::uint32_t channel = 0;
  std::vector<Step> steps;
};

struct Schedule {
  Alg alg = Alg::Invalid;
  MeshType mesh = MeshType::Invalid;
  std::uint8_t sub_type = 0;
  std::uint32_t secondaries = 0;
  Collective collective = Collective::AllReduce;
  ReduceOp op = ReduceOp::Add;
  DType dtype = DType::Fp32;
  std::uint32_t ranks = 0, channels = 1, slices = 0;
  std::uint64_t count = 0;                          // elements of the collective
  std::uint64_t in_elements = 0, out_elements = 0;  // of each rank's IN and OUT
  std::vector<std::uint64_t> tmp_elements;          // by TMP index; every rank has one of each
  std::vector<float>
      scales;  // FMA only: by rank; a rank's own IN meets its scale once, partials have 1
  std::vector<Signal> signals;
  std::vector<Lane> lanes;  // by rank, then channel
};

std::string to_string(const Schedule&);                          // the golden form: one line a step
std::string to_string(const Schedule&, const Step&);             // its line
std::string to_string(const Range&);                             // "r0.in[8+4]"
std::string signal_name(const Schedule&, std::uint32_t signal);  // "r0.c1.recv", "r2.Z"

}  // namespace sdmacc
