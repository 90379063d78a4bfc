// SPDX-License-Identifier: MIT
// Operation: the Instructions of all ranks of a group, in agreement. Made by match; knows nothing
// of algorithms.
#pragma once

#include <string>
#include <vector>

#include "daemon/decode/instruction.hpp"

namespace sdmacc {

struct RankOperands {
  TensorRange src, dst;
  float scale = 1.0f;
  std::uint64_t request = 0;  // the requester's own number, given back at completion
};

struct Operation {
  std::uint32_t group = 0;
  std::uint64_t sequence = 0;  // n-th operation of the group, from 0
  Collective collective = Collective::AllReduce;
  ReduceOp op = ReduceOp::Add;
  DType dtype = DType::Fp32;
  std::uint64_t count = 0;
  std::vector<RankOperands> ranks;  // by rank
};

std::string to_string(const Operation&);

}  // namespace sdmacc
