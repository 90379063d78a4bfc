// SPDX-License-Identifier: MIT
// sdmacc bench allreduce: N client processes in one group time a loop of blocking all-reduces each.
// Every size's result is compared, bit by bit and on every rank, with a sum that the benchmark
// makes itself (pattern.hpp).
#include "daemon/cli/bench.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "daemon/cli/client.hpp"
#include "daemon/cli/command.hpp"
#include "daemon/cli/own_daemon.hpp"
#include "daemon/cli/pattern.hpp"
#include "daemon/cli/ranks.hpp"
#include "daemon/cli/target.hpp"

namespace sdmacc::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kDefaultTimeout = -1;  // the daemon's
constexpr std::uint32_t kMostRanks = 1024;
constexpr double kAutomaticSeconds = 0.25;  // of one size's loop
constexpr double kFewestRounds = 5, kMostRounds = 2000;

struct Options {
  BenchSetting setting;
  std::string op = "add", dtype = "fp32", bytes = "1k:16M:4", socket;
  std::uint32_t rounds = 0, warmup = 5, checks = 1;
  bool json = false;
};

// What the ranks share beside the group.
struct Shared {
  pthread_barrier_t barrier;
  std::uint32_t rounds;
  struct {
    double time_us;
    std::uint64_t wrong;
  } rank[kMostRanks];
};

class Bench {
 public:
  Bench(const Options& options, const std::vector<std::uint64_t>& sizes, Shared& shared,
        const std::string& socket)
      : o_(options),
        s_(options.setting),
        sizes_(sizes),
        shared_(shared),
        socket_(socket),
        pattern_(s_.op, s_.dtype, s_.ranks) {}

  Status run(std::uint32_t rank) {
    rank_ = rank;
    SDMACC_TRY(connection_, connect(socket_));
    const std::string name = fmt::format("sdmacc-bench-{}", ::getppid());
    SDMACC_TRY(group_, make<sdmacc_group>(sdmacc_group_join, connection_.get(), name.c_str(),
                                          s_.ranks, rank, kDefaultTimeout));
    const std::uint64_t most =
        std::max<std::uint64_t>(1, *std::max_element(sizes_.begin(), sizes_.end()));
    SDMACC_TRY(in_, make<sdmacc_tensor>(sdmacc_tensor_alloc, connection_.get(), most));
    if (!s_.in_place) {
      SDMACC_TRY(out_, make<sdmacc_tensor>(sdmacc_tensor_alloc, connection_.get(), most));
    }
    for (const std::uint64_t bytes : sizes_) SDMACC_CHECK(run_size(bytes));
    if (total_wrong_ == 0) return {};
    return fail(Errc::Internal, Stage::None, kNoIndex, "{} elements of the results are wrong",
                total_wrong_);
  }

 private:
  sdmacc_tensor* out() const { return s_.in_place ? in_.get() : out_.get(); }
  std::span<std::byte> memory(sdmacc_tensor* tensor, std::uint64_t bytes) const {
    return {static_cast<std::byte*>(sdmacc_tensor_data(tensor)), bytes};
  }
  void meet() { ::pthread_barrier_wait(&shared_.barrier); }
  Status reduce(std::uint64_t count) {
    return check(sdmacc_all_reduce(group_.get(), in_.get(), out(), 0, 0, count,
                                   static_cast<int>(s_.dtype), static_cast<int>(s_.op),
                                   pattern_.scale(rank_)));
  }

  Status run_size(std::uint64_t size) {
    BenchRow row;
    row.count = size / element_bytes(s_.dtype);
    row.bytes = row.count * element_bytes(s_.dtype);
    auto& mine = shared_.rank[rank_];
    SDMACC_TRY(mine.time_us, time_of(row));
    mine.wrong = 0;
    for (std::uint32_t i = 0; i < o_.checks; ++i) {
      SDMACC_TRY(const std::uint64_t wrong, wrong_of(row));
      mine.wrong += wrong;
    }
    meet();
    if (rank_ != 0) return {};
    for (std::uint32_t r = 0; r < s_.ranks; ++r) {
      row.time_us = std::max(row.time_us, shared_.rank[r].time_us);
      row.wrong += shared_.rank[r].wrong;
    }
    total_wrong_ += row.wrong;
    return print(o_.json ? bench_json(s_, row) : bench_line(s_, row));
  }

  // Average of this rank's loop, in µs. In place the values would grow without end, so they are 0.
  Result<double> time_of(const BenchRow& row) {
    if (s_.in_place)
      std::memset(sdmacc_tensor_data(in_.get()), 0, row.bytes);
    else
      pattern_.fill(rank_, memory(in_.get(), row.bytes));
    meet();
    double one = 0;  // the last, because the first ones also lower and map
    const std::uint32_t warmup = o_.rounds > 0 ? o_.warmup : std::max(o_.warmup, 1u);
    for (std::uint32_t i = 0; i < warmup; ++i) {
      const auto begin = Clock::now();
      SDMACC_CHECK(reduce(row.count));
      one = seconds_since(begin);
    }
    if (rank_ == 0) shared_.rounds = o_.rounds > 0 ? o_.rounds : rounds_for(one);
    meet();
    const std::uint32_t rounds = shared_.rounds;
    const auto start = Clock::now();
    for (std::uint32_t i = 0; i < rounds; ++i) SDMACC_CHECK(reduce(row.count));
    return seconds_since(start) / rounds * 1e6;
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  static std::uint32_t rounds_for(double one) {
    return static_cast<std::uint32_t>(
        std::clamp(kAutomaticSeconds / std::max(one, 1e-9), kFewestRounds, kMostRounds));
  }

  Result<std::uint64_t> wrong_of(const BenchRow& row) {
    pattern_.fill(rank_, memory(in_.get(), row.bytes));
    if (!s_.in_place) std::memset(sdmacc_tensor_data(out_.get()), 0xa5, row.bytes);
    SDMACC_CHECK(reduce(row.count));
    std::uint64_t wrong = pattern_.wrong(memory(out(), row.bytes));
    if (!s_.in_place) wrong += pattern_.changed(rank_, memory(in_.get(), row.bytes));
    return wrong;
  }

  const Options& o_;
  const BenchSetting& s_;
  const std::vector<std::uint64_t>& sizes_;
  Shared& shared_;
  const std::string& socket_;
  const Pattern pattern_;
  std::uint32_t rank_ = 0;
  std::uint64_t total_wrong_ = 0;  // rank 0
  Connection connection_;
  Group group_;
  Tensor in_, out_;
};

Result<SharedMemory> make_shared_state(std::uint32_t ranks) {
  SDMACC_TRY(SharedMemory memory, SharedMemory::make(sizeof(Shared)));
  pthread_barrierattr_t attributes;
  ::pthread_barrierattr_init(&attributes);
  ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_barrier_init(&memory.as<Shared>()->barrier, &attributes, ranks);
  ::pthread_barrierattr_destroy(&attributes);
  return memory;
}

Status run(Options o) {
  SDMACC_TRY(o.setting.op, parse_reduce_op(o.op));
  SDMACC_TRY(o.setting.dtype, parse_dtype(o.dtype));
  if (!reducible(o.setting.dtype))
    return usage("--dtype {} does not reduce; fp32, bf16, fp16, fp8e3, fp8e4 and fp8e5 do",
                 o.dtype);
  if (!o.setting.alg.empty() && !o.socket.empty())
    return usage("--alg starts a daemon of its own, which --socket does not go with");
  o.setting.checked = o.checks > 0;
  SDMACC_TRY(const std::vector<std::uint64_t> sizes, parse_sizes(o.bytes));
  std::vector<std::string> arguments;
  if (!o.setting.alg.empty()) arguments = {"--alg", o.setting.alg};
  SDMACC_TRY(const DaemonToUse daemon, find_daemon(o.socket, arguments));
  SDMACC_TRY(const SharedMemory memory, make_shared_state(o.setting.ranks));
  if (!o.json) SDMACC_CHECK(print(bench_head(o.setting)));
  return run_ranks(o.setting.ranks, [&](std::uint32_t rank) {
    return Bench(o, sizes, *memory.as<Shared>(), daemon.socket).run(rank);
  });
}

}  // namespace

void add_bench(CLI::App& app, Run& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* bench = app.add_subcommand("bench", "time a collective");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand(
      "allreduce",
      "time all-reduces of N processes and verify every result\n"
      "Each rank is a client process with tensors that it keeps. The ranks meet at a barrier, then "
      "each times its own loop of\n"
      "blocking all-reduces; the time of a size is the average of the slowest rank. After that one "
      "more all-reduce, of inputs\n"
      "whose sum is exact in any order, is compared on every rank, bit by bit, with a sum that the "
      "benchmark makes itself;\n"
      "#wrong counts the elements that differ. Exit code 1 when there are any.");
  command->add_option("--ranks", o->setting.ranks, "processes")
      ->check(CLI::Range(1u, kMostRanks))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--bytes", o->bytes,
                   "sizes of one rank's tensor: B, or B:E to double from B to E, or B:E:FACTOR; "
                   "lists with commas")
      ->check(checked_by(parse_sizes))
      ->type_name("B[:E[:F]]")
      ->capture_default_str();
  command->add_option("--dtype", o->dtype, "fp32, bf16, fp16, fp8e3, fp8e4, fp8e5")
      ->check(checked_by(parse_dtype))
      ->type_name("TYPE")
      ->capture_default_str();
  command->add_option("--op", o->op, "add, max, min, fma")
      ->check(checked_by(parse_reduce_op))
      ->type_name("OP")
      ->capture_default_str();
  command
      ->add_option(
          "--iters", o->rounds,
          "all-reduces that are timed; 0 for as many as take a quarter of a second, 5 to 2000")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--warmup", o->warmup, "all-reduces before that")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--check", o->checks, "times that each size's result is verified; 0 for never")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--in-place", o->setting.in_place, "the result replaces the input");
  command->add_flag(
      "--json", o->json,
      "one JSON object a line and size: bytes, count, time_us, algbw, busbw (GB/s), wrong, …");
  command
      ->add_option("--socket", o->socket,
                   "socket of the daemon; without it the default one, or when none listens there a "
                   "daemon of its own")
      ->type_name("PATH");
  add_alg_option(*command, o->setting.alg);
  command->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace sdmacc::cli
