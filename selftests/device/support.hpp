// SPDX-License-Identifier: MIT
// A device with a hand-made Program on it, and tensors to run it on.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "daemon/device/embedded.hpp"
#include "selftests/core/builder.hpp"

namespace sdmacc::test {

inline std::vector<Place> places(std::uint32_t ranks, std::uint32_t first = 0) {
  std::vector<Place> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.push_back({0, first + r, 2 * (first + r)});
  return all;
}

inline std::unique_ptr<device::EmbeddedDevice> make_device(const EmbeddedOptions& options = {
                                                               .workers = 0}) {
  auto made = make_embedded_device(options);
  EXPECT_TRUE(made) << made.error().text();
  return std::unique_ptr<device::EmbeddedDevice>(
      dynamic_cast<device::EmbeddedDevice*>(made->release()));
}

// IN and OUT of every rank, FP32; rank r's element i is r · 1000 + i, so sums are exact.
struct Tensors {
  std::vector<std::vector<float>> in, out;
  Tensors(std::uint32_t ranks, std::uint64_t count) : in(ranks), out(ranks) {
    for (std::uint32_t r = 0; r < ranks; ++r)
      for (std::uint64_t i = 0; i < count; ++i) in[r].push_back(static_cast<float>(r * 1000 + i));
    clear();
  }
  void clear() {
    for (std::size_t r = 0; r < in.size(); ++r) out[r].assign(in[r].size(), -1.0f);
  }
  std::vector<Binding> bindings() {
    std::vector<Binding> all;
    for (std::uint32_t r = 0; r < in.size(); ++r) {
      all.push_back({r << 1, reinterpret_cast<std::byte*>(in[r].data()), in[r].size() * 4});
      all.push_back({r << 1 | 1, reinterpret_cast<std::byte*>(out[r].data()), out[r].size() * 4});
    }
    return all;
  }
  // Number of elements that are not the sum; `fma`: rank r counts r + 1 times.
  std::uint64_t wrong(bool fma = false) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      float sum = 0;
      for (std::size_t r = 0; r < in.size(); ++r)
        sum += in[r][i] * (fma ? static_cast<float>(r + 1) : 1.0f);
      for (const auto& o : out) count += o[i] != sum;
    }
    return count;
  }
};

// Pumps, or waits for the completion descriptor, until the next completion; none when the device
// has nothing more to do.
inline std::vector<Completion> wait_for(Device& device, LoadedId id, bool pumped) {
  if (pumped) {
    device.pump(id);
    return device.reap();
  }
  pollfd fd{device.completion_fd(), POLLIN, 0};
  return ::poll(&fd, 1, 60'000) == 1 ? device.reap() : std::vector<Completion>{};
}

// Loads a Program and binds tensors; expects that to work.
inline LoadedId load(Device& device, const Program& program, const std::vector<Place>& where,
                     Tensors& tensors) {
  const auto id = device.load(program, where);
  EXPECT_TRUE(id) << id.error().text();
  if (!id) return 0;
  const Status bound = device.bind(*id, tensors.bindings());
  EXPECT_TRUE(bound) << bound.error().text();
  return *id;
}

// One run; expects its completion and returns its status.
inline Status run(Device& device, LoadedId id, Ticket ticket = 1, bool pumped = true) {
  if (Status started = device.run(id, ticket); !started) return started;
  const auto done = wait_for(device, id, pumped);
  EXPECT_EQ(done.size(), 1u);
  if (done.size() != 1) return fail(Errc::Timeout, Stage::Device, kNoIndex, "no completion");
  EXPECT_EQ(done[0].loaded, id);
  EXPECT_EQ(done[0].ticket, ticket);
  return done[0].status;
}

}  // namespace sdmacc::test
