// SPDX-License-Identifier: MIT
// What all sub-commands share: errors, sizes, files.
#include "daemon/cli/command.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace sdmacc::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

tl::unexpected<Error> file_error(const std::string& path, int error) {
  return fail(error == ENOENT ? Errc::NotFound : Errc::System, Stage::None, kNoIndex, "{}: {}",
              path, std::strerror(error));
}

}  // namespace

bool is_usage(const Error& error) {
  return error.stage == Stage::Cli && error.code == Errc::Invalid;
}

std::string error_text(const Error& error) {
  return error.stage == Stage::Cli || error.stage == Stage::Client ? error.context : error.text();
}

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  static constexpr std::string_view kUnits[][3] = {
      {"", "B", ""}, {"k", "K", "KiB"}, {"m", "M", "MiB"}, {"g", "G", "GiB"}};
  for (unsigned power = 0; power < std::size(kUnits); ++power)
    for (const std::string_view name : kUnits[power])
      if (error == std::errc{} && unit == name && (unit.empty() ? power == 0 : true)) {
        if (value > ~std::uint64_t{0} >> 10 * power)
          return usage("{} is more than 64 bits hold", text);
        return value << 10 * power;
      }
  return usage("{} is no size; a number with k, M or G (powers of 1024) is", text);
}

Result<std::string> read_file(const std::string& path) {
  File file(path == "-" ? stdin : std::fopen(path.c_str(), "rbe"));
  if (!file) return file_error(path, errno);
  std::string bytes;
  char buffer[1 << 16];
  errno = 0;
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes.append(buffer, got);
  if (std::ferror(file.get()) != 0) return file_error(path, errno);
  return bytes;
}

Status write_file(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return file_error(path, errno);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int error = errno;
  if (std::fclose(file) != 0 || !written) return file_error(path, written ? errno : error);
  return {};
}

Status print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) return file_error("standard output", errno);
  return {};
}

}  // namespace sdmacc::cli
