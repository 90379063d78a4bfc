// SPDX-License-Identifier: MIT
// sdmacc-peer: the other process of the client tests.
//   sdmacc-peer serve PATH                   a daemon without stages, until it is killed
//   sdmacc-peer loop PATH NAME RANKS RANK    joins and reduces one element until something fails
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "daemon/server/server.hpp"
#include "libuapi/client/sdmacc.h"
#include "selftests/server/fake_backend.hpp"

namespace {

using namespace sdmacc::server;

int serve(const char* path) {
  auto loop = std::move(Loop::create().value());
  FakeBackend backend;
  Server server(*loop, backend, {});
  auto listener = Listener::bind(path, 0600);
  if (!listener || !server.listen(std::move(*listener))) return 1;
  loop->run();
  return 0;
}

int reduce_for_ever(char** arguments) {
  sdmacc_connection* connection = nullptr;
  sdmacc_group* group = nullptr;
  sdmacc_tensor* tensor = nullptr;
  const auto number = [](const char* text) { return static_cast<std::uint32_t>(std::atoi(text)); };
  int code = sdmacc_connect(arguments[0], &connection);
  if (code == SDMACC_OK) code = sdmacc_tensor_alloc(connection, sizeof(float), &tensor);
  if (code == SDMACC_OK) {
    code = sdmacc_group_join(connection, arguments[1], number(arguments[2]), number(arguments[3]),
                             -1, &group);
  }
  while (code == SDMACC_OK) {
    code = sdmacc_all_reduce(group, tensor, tensor, 0, 0, 1, SDMACC_FP32, SDMACC_ADD, 1);
  }
  std::fprintf(stderr, "sdmacc-peer: %s\n", sdmacc_last_error());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "serve") == 0) return serve(argv[2]);
  if (argc == 6 && std::strcmp(argv[1], "loop") == 0) return reduce_for_ever(argv + 2);
  std::fprintf(stderr, "usage: sdmacc-peer serve PATH | loop PATH NAME RANKS RANK\n");
  return 2;
}
