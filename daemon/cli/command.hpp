// SPDX-License-Identifier: MIT
// The sub-commands of `sdmacc`. Each declares its options and says what runs when it is the one
// that was called; main() turns the result into text and an exit code: 0 done, 1 failed, 2 called
// wrongly.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "libuapi/support/result.hpp"

namespace sdmacc::cli {

using Run = std::function<Status()>;

void add_allreduce(CLI::App& app, Run& run);
void add_lower(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_bench(CLI::App& app, Run& run);
void add_status(CLI::App& app, Run& run);
void add_dump(CLI::App& app, Run& run);
void add_version(CLI::App& app, Run& run);

// A command that was called wrongly: exit code 2.
template <typename... Args>
tl::unexpected<Error> usage(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Errc::Invalid, Stage::Cli, kNoIndex, format, std::forward<Args>(args)...);
}
bool is_usage(const Error& error);

// What follows "sdmacc: " on standard error. An error of the client library already is a whole
// text.
std::string error_text(const Error& error);

// "64", "4k", "16MiB": units are powers of 1024.
Result<std::uint64_t> parse_size(std::string_view text);

// A validator for options that are read by such a function; it names the value and what would be
// right.
template <typename Parse>
auto checked_by(Parse parse) {
  return [parse](const std::string& text) -> std::string {
    const auto value = parse(text);
    return value ? std::string() : value.error().context;
  };
}

Result<std::string> read_file(const std::string& path);  // "-" is standard input
Status write_file(const std::string& path, std::string_view bytes);
Status print(std::string_view text);  // to standard output

}  // namespace sdmacc::cli
