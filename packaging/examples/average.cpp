// SPDX-License-Identifier: MIT
// libsdmacc from C++: handles in unique_ptr, two operations in flight at once, and an average,
// which is a sum with the scale 1/n at each rank. Start it once per rank, beside a running daemon:
//   c++ average.cpp $(pkg-config --cflags --libs sdmacc) -o average
//   ./average 2 0 & ./average 2 1
#include <sdmacc.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>

namespace {

struct Free {
  void operator()(sdmacc_connection* handle) const { sdmacc_disconnect(handle); }
  void operator()(sdmacc_group* handle) const { sdmacc_group_leave(handle); }
  void operator()(sdmacc_tensor* handle) const { sdmacc_tensor_free(handle); }
  void operator()(sdmacc_request* handle) const { sdmacc_request_free(handle); }
};
template <typename T>
using Handle = std::unique_ptr<T, Free>;

void check(int code) {
  if (code != SDMACC_OK) throw std::runtime_error(sdmacc_last_error());
}

constexpr std::size_t kCount = 1000;

Handle<sdmacc_tensor> make_tensor(sdmacc_connection* connection, float value) {
  sdmacc_tensor* tensor = nullptr;
  check(sdmacc_tensor_alloc(connection, kCount * sizeof(float), &tensor));
  for (float& x : std::span(static_cast<float*>(sdmacc_tensor_data(tensor)), kCount)) x = value;
  return Handle<sdmacc_tensor>(tensor);
}

Handle<sdmacc_request> start(sdmacc_group* group, sdmacc_tensor* tensor, int op, float scale) {
  sdmacc_request* request = nullptr;
  check(sdmacc_all_reduce_async(group, tensor, tensor, 0, 0, kCount, SDMACC_FP32, op, scale,
                                &request));
  return Handle<sdmacc_request>(request);
}

void run(std::uint32_t ranks, std::uint32_t rank) {
  sdmacc_connection* connection = nullptr;
  check(sdmacc_connect(nullptr, &connection));
  const Handle<sdmacc_connection> keep_connection(connection);
  sdmacc_group* group = nullptr;
  check(sdmacc_group_join(connection, "average", ranks, rank, -1, &group));
  const Handle<sdmacc_group> keep_group(group);

  const auto mine = static_cast<float>(rank);
  const auto mean = make_tensor(connection, mine), largest = make_tensor(connection, mine);
  const auto first = start(group, mean.get(), SDMACC_FMA, 1.0f / static_cast<float>(ranks));
  const auto second = start(group, largest.get(), SDMACC_MAX, 1.0f);
  check(sdmacc_request_wait(first.get(), -1));
  check(sdmacc_request_wait(second.get(), -1));
  std::cout << "rank " << rank << " of " << ranks << ": mean "
            << *static_cast<float*>(sdmacc_tensor_data(mean.get())) << ", largest "
            << *static_cast<float*>(sdmacc_tensor_data(largest.get())) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " RANKS RANK\n";
    return 2;
  }
  try {
    run(static_cast<std::uint32_t>(std::atoi(argv[1])),
        static_cast<std::uint32_t>(std::atoi(argv[2])));
  } catch (const std::exception& error) {
    std::cerr << "average: " << error.what() << "\n";
    return 1;
  }
}
