// SPDX-License-Identifier: MIT
// Handles of libsdmacc for tests: made or the test fails, freed by themselves.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>

#include "libuapi/client/sdmacc.h"

namespace sdmacc::client_test {

struct Free {
  void operator()(sdmacc_connection* handle) const { sdmacc_disconnect(handle); }
  void operator()(sdmacc_group* handle) const { sdmacc_group_leave(handle); }
  void operator()(sdmacc_tensor* handle) const { sdmacc_tensor_free(handle); }
  void operator()(sdmacc_request* handle) const { sdmacc_request_free(handle); }
};
using Connection = std::unique_ptr<sdmacc_connection, Free>;
using Group = std::unique_ptr<sdmacc_group, Free>;
using Tensor = std::unique_ptr<sdmacc_tensor, Free>;
using Request = std::unique_ptr<sdmacc_request, Free>;

#define SDMACC_EXPECT_OK(call) EXPECT_EQ(call, SDMACC_OK) << sdmacc_last_error()

inline Connection connect(const std::string& path) {
  sdmacc_connection* out = nullptr;
  SDMACC_EXPECT_OK(sdmacc_connect(path.c_str(), &out));
  return Connection(out);
}

inline Group join(const Connection& connection, const std::string& name, std::uint32_t ranks,
                  std::uint32_t rank) {
  sdmacc_group* out = nullptr;
  SDMACC_EXPECT_OK(sdmacc_group_join(connection.get(), name.c_str(), ranks, rank, -1, &out));
  return Group(out);
}

inline Tensor make_tensor(const Connection& connection, std::uint64_t floats) {
  sdmacc_tensor* out = nullptr;
  SDMACC_EXPECT_OK(sdmacc_tensor_alloc(connection.get(), floats * sizeof(float), &out));
  return Tensor(out);
}

inline std::span<float> floats(const Tensor& tensor) {
  return {static_cast<float*>(sdmacc_tensor_data(tensor.get())),
          sdmacc_tensor_bytes(tensor.get()) / sizeof(float)};
}

inline int add(const Group& group, const Tensor& tensor, std::uint64_t count) {
  return sdmacc_all_reduce(group.get(), tensor.get(), tensor.get(), 0, 0, count, SDMACC_FP32,
                           SDMACC_ADD, 1);
}

inline Request add_async(const Group& group, const Tensor& tensor, std::uint64_t count) {
  sdmacc_request* out = nullptr;
  SDMACC_EXPECT_OK(sdmacc_all_reduce_async(group.get(), tensor.get(), tensor.get(), 0, 0, count,
                                           SDMACC_FP32, SDMACC_ADD, 1, &out));
  return Request(out);
}

}  // namespace sdmacc::client_test
