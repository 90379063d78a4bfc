// SPDX-License-Identifier: MIT
// Worker: one rank of the training, a client of the daemon through the C functions of libsdmacc and
// nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libuapi/client/sdmacc.h"
#include "selftests/digits/data.hpp"
#include "selftests/digits/model.hpp"

namespace digits {

enum class Carry : std::uint8_t { Fp32, Bf16 };  // what gradients travel as
const char* name(Carry carry);

struct Setting {
  std::uint32_t ranks = 4;
  std::uint32_t epochs = 20;
  std::uint32_t batch = 16;  // rows of each worker a step
  float rate = 0.05f;
};

class Worker {
 public:
  // Joins `group` on the daemon at `socket`. A failure is in error(), and then nothing else is
  // called.
  Worker(const Setting& setting, std::uint32_t rank, const std::string& socket,
         const std::string& group);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  struct Outcome {
    double accuracy = 0;           // of the held-out rows
    bool same_everywhere = false;  // all ranks ended with the same bits
    std::uint64_t digest = 0;
  };
  // Trains a new model; rank 0 prints a line an epoch. False with error().
  bool train(Carry carry, std::span<const Row> all_rows, Outcome& outcome);
  const std::string& error() const { return error_; }

 private:
  bool ok(int code);  // false keeps the error's text
  // The mean of the ranks' gradients, in place.
  bool average(std::span<float> gradient, Carry carry);
  // Sum, or smallest or largest, over the ranks, of a few numbers.
  bool combine(std::span<float> values, int op);
  bool epoch(Model& model, std::span<const Row> rows, Carry carry, double& loss);
  bool accuracy(const Model& model, std::span<const Row> rows, double& result);
  bool compare(const Model& model, bool& same);

  const Setting& setting_;
  const std::uint32_t rank_;
  std::string error_;
  sdmacc_connection* connection_ = nullptr;
  sdmacc_group* group_ = nullptr;
  sdmacc_tensor* tensor_ = nullptr;   // of the gradient
  sdmacc_tensor* numbers_ = nullptr;  // of combine()
};

}  // namespace digits
