// SPDX-License-Identifier: MIT
// sdmacc: the command line. Parses it, runs one sub-command, and ends with 0 (done), 1 (failed) or
// 2 (called wrongly).
#include <cstdio>
#include <string>

#include "daemon/cli/command.hpp"
#include "libuapi/client/sdmacc.h"

namespace {

bool knows(const CLI::App& app, const std::string& command) {
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : all)
    if (sub->get_name() == command) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sdmacc;
  CLI::App app(
      "sdmacc: all-reduce between processes of one host, through the whole path of a collective\n"
      "accelerator, and a look at each stage of it.",
      "sdmacc");
  app.set_version_flag("--version", std::string("sdmacc ") + sdmacc_version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 called wrongly. `sdmacc COMMAND --help` has the options of "
      "a command.");
  cli::Run run;
  cli::add_allreduce(app, run);
  cli::add_lower(app, run);
  cli::add_explain(app, run);
  cli::add_bench(app, run);
  cli::add_status(app, run);
  cli::add_dump(app, run);
  cli::add_version(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version
    const bool unknown = argc > 1 && argv[1][0] != '-' && !knows(app, argv[1]);
    const std::string what =
        unknown ? fmt::format("there is no command '{}'", argv[1]) : error.what();
    std::fprintf(stderr, "sdmacc: %s\nsdmacc: see sdmacc --help\n", what.c_str());
    return 2;
  }
  if (const Status status = run(); !status) {
    std::fprintf(stderr, "sdmacc: %s\n", cli::error_text(status.error()).c_str());
    return cli::is_usage(status.error()) ? 2 : 1;
  }
  return 0;
}
