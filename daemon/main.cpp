// SPDX-License-Identifier: MIT
// sdmaccd: parses options, builds device, pipeline and server, and runs the loop until a signal.
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "daemon/compose/compose.hpp"
#include "daemon/pipeline.hpp"
#include "daemon/server/listener.hpp"
#include "daemon/server/server.hpp"
#include "libuapi/abi/generation.h"

namespace sdmacc {
namespace {

struct Options {
  std::string socket;
  std::string arch = "cayman";
  std::string policy = "host";
  std::string alg;
  std::uint64_t hbm_mib = 256;
  unsigned workers = 2;
  double operation_timeout = 30, join_timeout = 30;
  bool order_rank = false;
  std::string log_level = "info";
  mode_t mode = 0600;
  server::Options server;
};

void describe(CLI::App& app, Options& o) {
  app.set_version_flag("--version", SDMACC_VERSION);
  app.add_option(
      "--socket", o.socket,
      "path of the Unix socket; default $SDMACC_SOCKET, else the user's runtime directory");
  app.add_option_function<std::string>(
         "--mode",
         [&o](const std::string& text) {
           o.mode = static_cast<mode_t>(std::stoul(text, nullptr, 8));
         },
         "permission bits of the socket, octal (default 0600: this user only)")
      ->check([](const std::string& text) {
        return !text.empty() && text.size() <= 4 &&
                       text.find_first_not_of("01234567") == std::string::npos
                   ? ""
                   : "not an octal mode";
      });
  app.add_option("--arch", o.arch, "device generation: sunda, cayman, mariana, mariana+")
      ->capture_default_str();
  app.add_option("--policy", o.policy, "selection rules: host, neuron, or a rule file")
      ->capture_default_str();
  app.add_option("--alg", o.alg,
                 "force this algorithm for every operation: ring, kangaring, mesh-t0, mesh-t2, "
                 "single-step-mesh");
  app.add_flag("--order-rank", o.order_rank,
               "only algorithms that sum every element in ascending rank, in one step");
  app.add_option("--hbm", o.hbm_mib, "MiB of each memory stack, sparse")
      ->check(CLI::Range(16, 65536))
      ->capture_default_str();
  app.add_option("--workers", o.workers, "threads that work for the device; 1 gives a fixed order")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--timeout", o.operation_timeout,
                 "seconds an operation may take before its group fails")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--join-timeout", o.join_timeout, "seconds to wait for all ranks of a group")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-clients", o.server.limits.clients)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-groups", o.server.limits.groups)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-tensors", o.server.limits.tensors_per_client, "of a client")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-in-flight", o.server.limits.in_flight_per_client, "operations of a client")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--log", o.log_level, "trace, debug, info, warn, error")->capture_default_str();
}

std::chrono::nanoseconds seconds(double s) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(s * 1e9));
}

Result<const sdmacc_generation*> find_arch(const std::string& name) {
  for (std::uint32_t i = 0; i < SDMACC_GENERATIONS; ++i)
    if (name == sdmacc_generation_at(i)->name) return sdmacc_generation_at(i);
  return fail(Errc::NotFound, Stage::None, kNoIndex,
              "generation '{}' is unknown; known are sunda, cayman, mariana, mariana+", name);
}

Result<Rules> find_rules(const std::string& policy) {
  if (policy == "host" || policy == "neuron") return builtin_rules(policy);
  std::ifstream file(policy);
  if (!file)
    return fail(Errc::NotFound, Stage::Select, kNoIndex,
                "policy '{}' is neither host nor neuron nor a readable rule file", policy);
  std::stringstream text;
  text << file.rdbuf();
  return parse_rules(policy, text.str());
}

Status force(Policy& policy, const std::string& id) {
  if (id.empty()) return {};
  for (const AlgorithmInfo& info : algorithms())
    if (info.id == id) {
      policy.force_alg = info.alg;
      if (info.alg == Alg::Mesh) policy.force_mesh = info.sub_type;
      return {};
    }
  return fail(Errc::NotFound, Stage::Select, kNoIndex, "algorithm '{}' is unknown", id);
}

// Stops the loop at SIGINT and SIGTERM.
Status stop_on_signals(server::Loop& loop) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return fail(Errc::System, Stage::None, kNoIndex, "signalfd: errno {}", errno);
  SDMACC_TRY([[maybe_unused]] const auto watch,
             loop.watch(fd, EPOLLIN, [&loop](std::uint32_t) { loop.stop(); }));
  return {};
}

// The sockets that a service manager passed on, else our own.
Status listen(server::Server& server, const Options& o) {
  SDMACC_TRY(auto listeners, server::Listener::inherited());
  if (listeners.empty()) {
    SDMACC_TRY(server::Listener own,
               server::Listener::bind(o.socket.empty() ? server::default_socket_path() : o.socket,
                                      o.mode));
    listeners.push_back(std::move(own));
  }
  for (server::Listener& listener : listeners) {
    spdlog::info("listening on {}",
                 listener.path().empty() ? "an inherited socket" : listener.path());
    SDMACC_CHECK(server.listen(std::move(listener)));
  }
  return {};
}

Status run(const Options& o) {
  Pipeline::Options pipeline_options;
  SDMACC_TRY(const sdmacc_generation* arch, find_arch(o.arch));
  SDMACC_TRY(pipeline_options.rules, find_rules(o.policy));
  pipeline_options.policy.name = o.policy;
  pipeline_options.policy.engines = o.policy == "neuron" ? arch->engines_per_core : 1;
  pipeline_options.policy.max_channels = SDMACC_RING_CHANNELS;
  pipeline_options.policy.order_rank = o.order_rank;
  SDMACC_CHECK(force(pipeline_options.policy, o.alg));

  SDMACC_TRY(const auto device, make_embedded_device({arch, o.hbm_mib << 20, o.workers}));
  SDMACC_TRY(const auto loop, server::Loop::create());
  SDMACC_TRY(const auto pipeline, Pipeline::create(*loop, *device, std::move(pipeline_options)));
  server::Options server_options = o.server;
  server_options.operation_timeout = seconds(o.operation_timeout);
  server_options.join_timeout = seconds(o.join_timeout);
  server::Server server(*loop, *pipeline, server_options);
  SDMACC_CHECK(listen(server, o));
  spdlog::info("{}", device->describe());
  SDMACC_CHECK(stop_on_signals(*loop));
  loop->run();
  spdlog::info("stopped");
  return {};
}

}  // namespace
}  // namespace sdmacc

int main(int argc, char** argv) {
  CLI::App app(
      "sdmaccd: the collective daemon. It lowers collectives and runs them on its own model of the "
      "device.",
      "sdmaccd");
  sdmacc::Options options;
  sdmacc::describe(app, options);
  CLI11_PARSE(app, argc, argv);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("sdmaccd"));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  // Before any thread exists, so that only the signal descriptor takes them.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  if (const auto status = sdmacc::run(options); !status) {
    std::cerr << "sdmaccd: " << status.error().text() << '\n';
    return 1;
  }
  return 0;
}
