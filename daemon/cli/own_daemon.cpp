// SPDX-License-Identifier: MIT
// Implements own_daemon.hpp.
#include "daemon/cli/own_daemon.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "daemon/cli/client.hpp"

namespace sdmacc::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kStartTimeout{20}, kStopTimeout{5};
constexpr std::chrono::milliseconds kPause{5};

// What a signal handler may still do: the paths to remove.
constexpr std::size_t kPathBytes = 128;
char g_socket[kPathBytes], g_log[kPathBytes], g_folder[kPathBytes];

void clean_up_and_die(int signal) {
  ::unlink(g_socket);
  ::unlink(g_log);
  ::rmdir(g_folder);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void handle_signals(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, handler);
}

void remember(char (&to)[kPathBytes], const std::string& path) {
  std::strncpy(to, path.c_str(), kPathBytes - 1);
}

Result<std::string> make_folder() {
  // A socket's path has room for 107 bytes.
  const char* parent = std::getenv("TMPDIR");
  if (parent == nullptr || *parent != '/' || std::strlen(parent) > 70) parent = "/tmp";
  std::string folder = std::string(parent) + "/sdmacc-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return fail(Errc::System, Stage::None, kNoIndex, "{}: {}", folder, std::strerror(errno));
  return folder;
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> paths;
  if (const char* given = std::getenv("SDMACCD"); given != nullptr && *given != '\0')
    return {given};
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path above = here.parent_path();  // in a build folder: daemon/cli or selftests/digits
  for (const fs::path& folder : {here, above, above.parent_path() / "daemon", above / "sbin"})
    paths.push_back(folder / "sdmaccd");
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty()) paths.push_back(fs::path(folder) / "sdmaccd");
  }
  return paths;
}

Result<std::string> find_program() {
  const std::vector<fs::path> paths = candidates();
  for (const fs::path& path : paths) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(path.c_str(), X_OK) == 0)
      return path.string();
  }
  return fail(Errc::NotFound, Stage::None, kNoIndex,
              "sdmaccd is needed and neither beside this program nor in $PATH; {} was the first "
              "place looked at",
              paths.empty() ? "none" : paths.front().string());
}

}  // namespace

Result<std::unique_ptr<OwnDaemon>> OwnDaemon::start(const std::vector<std::string>& arguments) {
  SDMACC_TRY(const std::string program, find_program());
  std::unique_ptr<OwnDaemon> daemon(new OwnDaemon);
  SDMACC_TRY(daemon->folder_, make_folder());
  daemon->socket_ = daemon->folder_ + "/socket";
  daemon->log_ = daemon->folder_ + "/log";
  SDMACC_CHECK(daemon->launch(program, arguments));
  SDMACC_CHECK(daemon->wait_until_it_listens());
  return daemon;
}

Status OwnDaemon::launch(const std::string& program, const std::vector<std::string>& arguments) {
  remember(g_socket, socket_);
  remember(g_log, log_);
  remember(g_folder, folder_);
  handle_signals(clean_up_and_die);
  std::vector<std::string> words = {program, "--socket", socket_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) return fail(Errc::System, Stage::None, kNoIndex, "fork: {}", std::strerror(errno));
  if (pid_ > 0) return {};
  handle_signals(SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (log >= 0 && null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
  }
  ::execv(program.c_str(), argv.data());
  ::dprintf(STDERR_FILENO, "%s: %s\n", program.c_str(), std::strerror(errno));
  ::_exit(127);
}

Status OwnDaemon::wait_until_it_listens() {
  const auto deadline = Clock::now() + kStartTimeout;
  Error last;
  while (Clock::now() < deadline) {
    const auto connection = connect(socket_);
    if (connection) return {};
    last = connection.error();
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return fail(Errc::DaemonGone, Stage::None, kNoIndex, "sdmaccd ended at its start: {}", log());
    }
    std::this_thread::sleep_for(kPause);
  }
  return fail(Errc::Timeout, Stage::None, kNoIndex,
              "sdmaccd does not answer after {} s: {}; it wrote: {}", kStartTimeout.count(),
              last.context, log());
}

std::string OwnDaemon::log() const {
  std::ifstream file(log_);
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  while (!all.empty() && all.back() == '\n') all.pop_back();
  return all.empty() ? "it wrote nothing" : all.substr(all.size() > 2000 ? all.size() - 2000 : 0);
}

OwnDaemon::~OwnDaemon() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    const auto deadline = Clock::now() + kStopTimeout;
    while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (Clock::now() > deadline) ::kill(pid_, SIGKILL);
      std::this_thread::sleep_for(kPause);
    }
  }
  ::unlink(socket_.c_str());
  ::unlink(log_.c_str());
  ::rmdir(folder_.c_str());
  handle_signals(SIG_DFL);
}

Result<DaemonToUse> find_daemon(const std::string& socket,
                                const std::vector<std::string>& arguments) {
  DaemonToUse use{socket, nullptr};
  if (!socket.empty()) return use;
  if (arguments.empty()) {
    const auto connection = connect("");
    if (connection) {
      use.socket = sdmacc_default_path();
      return use;
    }
    if (connection.error().code != Errc::DaemonGone)
      return tl::unexpected<Error>(connection.error());
  }
  SDMACC_TRY(use.own, OwnDaemon::start(arguments));
  use.socket = use.own->socket();
  return use;
}

}  // namespace sdmacc::cli
