// SPDX-License-Identifier: MIT
// Implements worker.hpp: FP32 gradients are averaged by an FMA with factor 1/n on every rank, BF16
// ones are added and then divided.
#include "selftests/digits/worker.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace digits {
namespace {

constexpr int kDefaultTimeout = -1;
constexpr std::size_t kNumbers = 8;

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >>
                                    16);  // nearest even; no NaN comes here
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace

const char* name(Carry carry) {
  return carry == Carry::Fp32 ? "fp32" : "bf16";
}

Worker::Worker(const Setting& setting, std::uint32_t rank, const std::string& socket,
               const std::string& group)
    : setting_(setting), rank_(rank) {
  const std::size_t bytes = Model().size() * sizeof(float);
  ok(sdmacc_connect(socket.c_str(), &connection_)) &&
      ok(sdmacc_group_join(connection_, group.c_str(), setting.ranks, rank, kDefaultTimeout,
                           &group_)) &&
      ok(sdmacc_tensor_alloc(connection_, bytes, &tensor_)) &&
      ok(sdmacc_tensor_alloc(connection_, kNumbers * sizeof(float), &numbers_));
}

Worker::~Worker() {
  sdmacc_tensor_free(numbers_);
  sdmacc_tensor_free(tensor_);
  sdmacc_group_leave(group_);
  sdmacc_disconnect(connection_);
}

bool Worker::ok(int code) {
  if (code != SDMACC_OK) error_ = sdmacc_last_error();
  return code == SDMACC_OK;
}

bool Worker::average(std::span<float> gradient, Carry carry) {
  const float share = 1.0f / static_cast<float>(setting_.ranks);
  void* data = sdmacc_tensor_data(tensor_);
  if (carry == Carry::Fp32) {
    std::memcpy(data, gradient.data(), gradient.size_bytes());
    if (!ok(sdmacc_all_reduce(group_, tensor_, tensor_, 0, 0, gradient.size(), SDMACC_FP32,
                              SDMACC_FMA, share)))
      return false;
    std::memcpy(gradient.data(), data, gradient.size_bytes());
    return true;
  }
  auto* words = static_cast<std::uint16_t*>(data);
  std::transform(gradient.begin(), gradient.end(), words, to_bf16);
  if (!ok(sdmacc_all_reduce(group_, tensor_, tensor_, 0, 0, gradient.size(), SDMACC_BF16,
                            SDMACC_ADD, 1)))
    return false;
  std::transform(words, words + gradient.size(), gradient.begin(),
                 [share](std::uint16_t bits) { return share * from_bf16(bits); });
  return true;
}

bool Worker::combine(std::span<float> values, int op) {
  void* data = sdmacc_tensor_data(numbers_);
  std::memcpy(data, values.data(), values.size_bytes());
  if (!ok(sdmacc_all_reduce(group_, numbers_, numbers_, 0, 0, values.size(), SDMACC_FP32, op, 1)))
    return false;
  std::memcpy(values.data(), data, values.size_bytes());
  return true;
}

// Every worker makes the same number of steps, that of the smallest share.
bool Worker::epoch(Model& model, std::span<const Row> rows, Carry carry, double& loss) {
  float fewest = static_cast<float>(rows.size());
  if (!combine({&fewest, 1}, SDMACC_MIN)) return false;
  const auto usable = static_cast<std::size_t>(fewest);
  std::vector<float> gradient(model.size());
  float sums[2] = {};  // losses, rows
  for (std::size_t at = 0; at < usable; at += setting_.batch) {
    const std::span<const Row> batch =
        rows.subspan(at, std::min<std::size_t>(setting_.batch, usable - at));
    sums[0] += static_cast<float>(model.gradient(batch, gradient));
    sums[1] += static_cast<float>(batch.size());
    if (!average(gradient, carry)) return false;
    model.step(gradient, setting_.rate);
  }
  if (!combine(sums, SDMACC_ADD)) return false;
  loss = sums[0] / sums[1];
  return true;
}

// Each worker classifies its share of the rows.
bool Worker::accuracy(const Model& model, std::span<const Row> rows, double& result) {
  float counts[2] = {};  // right ones, all
  for (std::size_t i = rank_; i < rows.size(); i += setting_.ranks) {
    counts[0] += model.classify(rows[i]) == rows[i].label ? 1.0f : 0.0f;
    counts[1] += 1;
  }
  if (!combine(counts, SDMACC_ADD)) return false;
  result = counts[0] / counts[1];
  return true;
}

// The digest's quarters are whole numbers, so the largest and the smallest are equal only if all
// are.
bool Worker::compare(const Model& model, bool& same) {
  float largest[4], smallest[4];
  for (int i = 0; i < 4; ++i)
    largest[i] = smallest[i] = static_cast<float>(model.digest() >> 16 * i & 0xffff);
  if (!combine(largest, SDMACC_MAX) || !combine(smallest, SDMACC_MIN)) return false;
  same = std::equal(largest, largest + 4, smallest);
  return true;
}

bool Worker::train(Carry carry, std::span<const Row> all_rows, Outcome& outcome) {
  const std::vector<Row> rows = share_of(all_rows, rank_, setting_.ranks),
                         test = held_out(all_rows);
  Model model;
  for (std::uint32_t e = 1; e <= setting_.epochs; ++e) {
    double loss = 0;
    if (!epoch(model, rows, carry, loss) || !accuracy(model, test, outcome.accuracy)) return false;
    if (rank_ != 0) continue;
    std::printf("%s epoch %2u of %u: loss %.4f, held-out accuracy %.4f\n", name(carry), e,
                setting_.epochs, loss, outcome.accuracy);
    std::fflush(stdout);
  }
  outcome.digest = model.digest();
  return compare(model, outcome.same_everywhere);
}

}  // namespace digits
