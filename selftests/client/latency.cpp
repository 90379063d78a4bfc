// SPDX-License-Identifier: MIT
// sdmacc-latency: round trips of small all-reduces through a server without stages, so what socket,
// rings and waiting cost by themselves. A measurement, not a test: sdmacc-latency [ELEMENTS…].
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "daemon/server/server.hpp"
#include "libuapi/client/sdmacc.h"
#include "selftests/server/fake_backend.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using namespace sdmacc::server;

constexpr int kOperations = 20'000;
constexpr int kBatches = 40;

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "sdmacc-latency: %s: %s\n", what, sdmacc_last_error());
  std::exit(1);
}

[[noreturn]] void serve(const std::string& path) {
  auto loop = std::move(Loop::create().value());
  FakeBackend backend;
  Server server(*loop, backend, {});
  auto listener = Listener::bind(path, 0600);
  if (!listener || !server.listen(std::move(*listener))) die("listen");
  loop->run();
  std::exit(0);
}

sdmacc_connection* connect_when_it_listens(const std::string& path) {
  sdmacc_connection* connection = nullptr;
  for (int i = 0; i < 1000; ++i) {
    if (sdmacc_connect(path.c_str(), &connection) == SDMACC_OK) return connection;
    ::usleep(10'000);
  }
  die("connect");
}

void run_rank(const std::string& path, unsigned ranks, unsigned rank, std::uint64_t count) {
  sdmacc_connection* connection = connect_when_it_listens(path);
  sdmacc_group* group = nullptr;
  sdmacc_tensor* tensor = nullptr;
  const std::string name = "g" + std::to_string(ranks) + "-" + std::to_string(count);
  if (sdmacc_group_join(connection, name.c_str(), ranks, rank, -1, &group) != SDMACC_OK) {
    die("join");
  }
  if (sdmacc_tensor_alloc(connection, std::max<std::uint64_t>(count, 1) * 4, &tensor) !=
      SDMACC_OK) {
    die("tensor");
  }
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kOperations / kBatches; ++i) {
      if (sdmacc_all_reduce(group, tensor, tensor, 0, 0, count, SDMACC_FP32, SDMACC_ADD, 1) !=
          SDMACC_OK) {
        die("all_reduce");
      }
    }
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    batches.push_back(time.count() / (kOperations / kBatches));
  }
  if (rank == 0) {
    std::sort(batches.begin(), batches.end());
    std::printf("%5u %10llu %12.2f %12.2f %12.2f\n", ranks, static_cast<unsigned long long>(count),
                batches.front(), batches[kBatches / 2], batches.back());
    std::fflush(stdout);
  }
  sdmacc_tensor_free(tensor);
  sdmacc_group_leave(group);
  sdmacc_disconnect(connection);
}

}  // namespace

int main(int argc, char** argv) {
  char folder[] = "/tmp/sdmaccXXXXXX";
  if (::mkdtemp(folder) == nullptr) die("mkdtemp");
  const std::string path = std::string(folder) + "/s";
  std::vector<std::uint64_t> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::strtoull(argv[i], nullptr, 10));
  if (counts.empty()) counts = {0, 256};

  const pid_t daemon = ::fork();
  if (daemon == 0) serve(path);
  std::printf("%5s %10s %12s %12s %12s\n", "ranks", "count", "best us", "median us", "worst us");
  std::fflush(stdout);
  for (const std::uint64_t count : counts) {
    for (const unsigned ranks : {1u, 2u, 4u, 8u}) {
      for (unsigned rank = 0; rank < ranks; ++rank) {
        if (::fork() == 0) {
          run_rank(path, ranks, rank, count);
          std::exit(0);
        }
      }
      for (unsigned rank = 0; rank < ranks; ++rank) ::wait(nullptr);
    }
  }
  ::kill(daemon, SIGTERM);
  ::waitpid(daemon, nullptr, 0);
  ::unlink(path.c_str());
  ::rmdir(folder);
}
