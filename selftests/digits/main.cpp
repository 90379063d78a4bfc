// SPDX-License-Identifier: MIT
// sdmacc-digits: trains a classifier of handwritten digits on several processes that all-reduce
// their gradients, once as FP32 and once as BF16. Ends with 1 when the held-out accuracy is too low
// or the workers' weights are not the same bits.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "daemon/cli/own_daemon.hpp"
#include "daemon/cli/ranks.hpp"
#include "selftests/digits/worker.hpp"

namespace {

using namespace digits;
using sdmacc::Status;

constexpr double kWantedAccuracy = 0.93;

constexpr const char* kHelp =
    "usage: sdmacc-digits --data FILE.csv [--socket PATH] [--epochs N]\n\n"
    "Trains a classifier on handwritten digits with 4 processes, each of which has a quarter of "
    "the\n"
    "rows; every step they all-reduce their gradients through libsdmacc, in one training as FP32 "
    "and\n"
    "in another as BF16. Prints a line an epoch. Without --socket it starts a daemon of its own.\n"
    "Exit codes: 0 when the held-out accuracy is at least 0.93 and all weights are the same bits "
    "on\n"
    "every rank, 1 when not, 2 when it was called wrongly.\n";

struct Arguments {
  std::string data, socket;
  Setting setting;
};

bool parse(int argc, char** argv, Arguments& a) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (i + 1 == argc) return false;
    const char* value = argv[++i];
    if (word == "--data")
      a.data = value;
    else if (word == "--socket")
      a.socket = value;
    else if (word == "--epochs")
      a.setting.epochs = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    else
      return false;
  }
  return !a.data.empty() && a.setting.epochs > 0;
}

tl::unexpected<sdmacc::Error> failure(const std::string& text) {
  return tl::unexpected<sdmacc::Error>(
      sdmacc::Error{sdmacc::Errc::Internal, sdmacc::Stage::Client, sdmacc::kNoIndex, text});
}

Status train(const Arguments& a, const std::vector<Row>& rows, const std::string& socket,
             std::uint32_t rank) {
  const std::string group = "digits-" + std::to_string(::getppid());
  Worker worker(a.setting, rank, socket, group);
  if (!worker.error().empty()) return failure(worker.error());
  Status status;
  for (const Carry carry : {Carry::Fp32, Carry::Bf16}) {
    Worker::Outcome outcome;
    if (!worker.train(carry, rows, outcome)) return failure(worker.error());
    if (rank == 0)
      std::printf(
          "%s: held-out accuracy %.4f (at least %.2f wanted); weights of %u ranks: %s, digest "
          "%016llx\n",
          name(carry), outcome.accuracy, kWantedAccuracy, a.setting.ranks,
          outcome.same_everywhere ? "the same bits" : "NOT the same bits",
          static_cast<unsigned long long>(outcome.digest));
    if (!outcome.same_everywhere) status = failure("the ranks ended with different weights");
    if (outcome.accuracy < kWantedAccuracy) status = failure("the held-out accuracy is too low");
  }
  return status;
}

Status run(const Arguments& a) {
  std::string error;
  const std::vector<Row> rows = read_csv(a.data, error);
  if (rows.empty()) return failure(error);
  SDMACC_TRY(const sdmacc::cli::DaemonToUse daemon, sdmacc::cli::find_daemon(a.socket));
  std::printf("%zu rows of digits, %zu held out; %u workers of %zu rows, %zu parameters\n",
              rows.size(), held_out(rows).size(), a.setting.ranks,
              share_of(rows, 0, a.setting.ranks).size(), Model().size());
  return sdmacc::cli::run_ranks(
      a.setting.ranks, [&](std::uint32_t rank) { return train(a, rows, daemon.socket, rank); });
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fputs("sdmacc-digits: called wrongly; see sdmacc-digits --help\n", stderr);
    return 2;
  }
  const Status status = run(arguments);
  if (status) return 0;
  std::fprintf(stderr, "sdmacc-digits: %s\n", status.error().context.c_str());
  return 1;
}
