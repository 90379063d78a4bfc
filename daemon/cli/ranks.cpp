// SPDX-License-Identifier: MIT
// Implements ranks.hpp with fork and pidfds; a rank leaves how it ended in shared memory.
#include "daemon/cli/ranks.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "libuapi/client/unique_fd.hpp"

// glibc 2.36 declares it for C only.
extern "C" {
#include <sys/pidfd.h>
}

namespace sdmacc::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kGrace{2};

struct Report {
  bool ended;  // body returned
  Errc code;
  Stage stage;
  std::uint32_t index;
  char text[2000];
};

void leave_report(Report& report, const Status& status) {
  if (!status) {
    const Error& e = status.error();
    report.code = e.code;
    report.stage = e.stage;
    report.index = e.index;
    std::strncpy(report.text, e.context.c_str(), sizeof report.text - 1);
  }
  report.ended = true;
}

struct Process {
  pid_t pid = -1;
  wire::UniqueFd fd;
  std::optional<Error> error;
};

[[noreturn]] void be_rank(pid_t parent, Report& report,
                          const std::function<Status(std::uint32_t)>& body, std::uint32_t rank) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  leave_report(report, body(rank));
  std::fflush(nullptr);
  ::_exit(0);
}

std::optional<Error> end_of(const Report& report, int status, bool killed) {
  if (killed)
    return Error{Errc::Cancelled, Stage::None, kNoIndex,
                 "did not end after another rank had failed"};
  if (WIFSIGNALED(status))
    return Error{Errc::PeerGone, Stage::None, kNoIndex,
                 fmt::format("was ended by signal {}", WTERMSIG(status))};
  if (!report.ended)
    return Error{Errc::Internal, Stage::None, kNoIndex,
                 fmt::format("ended with code {}", WEXITSTATUS(status))};
  if (report.code == Errc::Ok) return std::nullopt;
  return Error{report.code, report.stage, report.index, report.text};
}

// A consequence of another rank's failure.
bool is_consequence(const Error& e) {
  return e.code == Errc::PeerGone || e.code == Errc::Revoked || e.code == Errc::Cancelled;
}

Status first_cause(const std::vector<Process>& processes) {
  const Error* cause = nullptr;
  for (const Process& p : processes)
    if (p.error && (cause == nullptr || (is_consequence(*cause) && !is_consequence(*p.error))))
      cause = &*p.error;
  if (cause == nullptr) return {};
  std::string who;
  for (std::size_t rank = 0; rank < processes.size(); ++rank)
    if (const auto& e = processes[rank].error; e && e->context == cause->context)
      who += fmt::format("{}{}", who.empty() ? "rank " : ", ", rank);
  Error error = *cause;
  error.context = fmt::format("{}: {}", who, cause->context);
  return tl::unexpected<Error>(std::move(error));
}

// Waits for all of them; kills those that outlive a failed one by too much.
void wait_for_all(std::vector<Process>& processes, const Report* reports) {
  std::optional<Clock::time_point> deadline;
  bool killed = false;
  for (std::size_t left = processes.size(); left > 0;) {
    std::vector<pollfd> polls;
    for (const Process& p : processes) polls.push_back({p.fd ? p.fd.get() : -1, POLLIN, 0});
    int timeout = -1;
    if (deadline && !killed)
      timeout = static_cast<int>(std::max<std::int64_t>(
          0,
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count()));
    if (::poll(polls.data(), polls.size(), timeout) == 0) {
      for (const Process& p : processes)
        if (p.fd) ::kill(p.pid, SIGKILL);
      killed = true;
      continue;
    }
    for (std::size_t rank = 0; rank < processes.size(); ++rank) {
      if ((polls[rank].revents & POLLIN) == 0) continue;
      Process& p = processes[rank];
      int status = 0;
      ::waitpid(p.pid, &status, 0);
      p.fd.reset();
      --left;
      p.error = end_of(reports[rank], status, killed && WIFSIGNALED(status));
      if (p.error && !deadline) deadline = Clock::now() + kGrace;
    }
  }
}

}  // namespace

Status run_ranks(std::uint32_t ranks, const std::function<Status(std::uint32_t)>& body) {
  SDMACC_TRY(const SharedMemory memory, SharedMemory::make(ranks * sizeof(Report)));
  auto* reports = memory.as<Report>();
  std::vector<Process> processes(ranks);
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  Status failed;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Process& p = processes[rank];
    p.pid = ::fork();
    if (p.pid == 0) be_rank(parent, reports[rank], body, rank);
    if (p.pid > 0) p.fd = wire::UniqueFd(::pidfd_open(p.pid, 0));
    if (p.fd) continue;
    failed =
        fail(Errc::System, Stage::None, rank, "cannot make a process: {}", std::strerror(errno));
    if (p.pid > 0) ::kill(p.pid, SIGKILL);
    if (p.pid > 0) ::waitpid(p.pid, nullptr, 0);
    for (const Process& earlier : processes)
      if (earlier.fd) ::kill(earlier.pid, SIGKILL);
    processes.resize(rank);
    break;
  }
  wait_for_all(processes, reports);
  return failed ? first_cause(processes) : failed;
}

Result<SharedMemory> SharedMemory::make(std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return fail(Errc::System, Stage::None, kNoIndex, "cannot map {} bytes: {}", bytes,
                std::strerror(errno));
  return SharedMemory(static_cast<std::byte*>(data), bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace sdmacc::cli
