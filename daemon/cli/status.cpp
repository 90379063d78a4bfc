// SPDX-License-Identifier: MIT
// sdmacc status, dump and version: what a running daemon says about itself.
#include <memory>
#include <nlohmann/json.hpp>

#include "daemon/cli/client.hpp"
#include "daemon/cli/command.hpp"
#include "daemon/observe/status.hpp"

namespace sdmacc::cli {
namespace {

struct Options {
  std::string socket, group;
  bool json = false;
};

Result<nlohmann::ordered_json> query(const Options& o, const char* kind) {
  SDMACC_TRY(const Connection connection, connect(o.socket));
  char* answer = nullptr;
  SDMACC_CHECK(check(sdmacc_query(connection.get(), kind, o.group.c_str(), &answer)));
  const std::unique_ptr<char, FreeHandle> text(answer);
  auto json = nlohmann::ordered_json::parse(text.get(), nullptr, false);
  if (json.is_discarded())
    return fail(Errc::Protocol, Stage::None, kNoIndex, "the daemon's answer is not JSON");
  return json;
}

Status status(const Options& o) {
  SDMACC_TRY(const nlohmann::ordered_json json, query(o, "status"));
  if (o.json) return print(json.dump(2) + "\n");
  SDMACC_TRY(const std::string text, status_text(json));
  return print(text);
}

Status dump(const Options& o) {
  SDMACC_TRY(const nlohmann::ordered_json json, query(o, "dump"));
  return print(json.dump(2) + "\n");
}

void add_socket(CLI::App& command, Options& o) {
  command
      .add_option("--socket", o.socket,
                  "the daemon's socket; default $SDMACC_SOCKET, else the user's runtime directory")
      ->type_name("PATH");
}

}  // namespace

void add_status(CLI::App& app, Run& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("status",
                                         "groups and clients of a daemon: missing ranks first, "
                                         "what waits for what, where the rings are");
  add_socket(*command, *o);
  command->add_flag("--json", o->json, "as JSON");
  command->callback([o, &chosen] { chosen = [o] { return status(*o); }; });
}

void add_dump(CLI::App& app, Run& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "dump", "the loaded program of a group as it lies in the device's memory, as JSON");
  command
      ->add_option("group", o->group, "name of the group; without it the first that has a program")
      ->type_name("GROUP");
  add_socket(*command, *o);
  command->add_flag("--json", o->json, "as JSON, which it always is");
  command->callback([o, &chosen] { chosen = [o] { return dump(*o); }; });
}

void add_version(CLI::App& app, Run& chosen) {
  app.add_subcommand("version", "the version of sdmacc")->callback([&chosen] {
    chosen = [] { return print(fmt::format("sdmacc {}\n", sdmacc_version())); };
  });
}

}  // namespace sdmacc::cli
