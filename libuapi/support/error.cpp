// SPDX-License-Identifier: MIT
// Names of error codes and stages, and the one text form of an Error.
#include <cstdio>
#include <cstdlib>

#include "libuapi/support/result.hpp"

namespace sdmacc {

std::string_view name(Errc code) {
  switch (code) {
    case Errc::Ok:
      return "ok";
    case Errc::Invalid:
      return "invalid";
    case Errc::Unsupported:
      return "unsupported";
    case Errc::NotFound:
      return "not found";
    case Errc::Range:
      return "out of range";
    case Errc::Mismatch:
      return "mismatch";
    case Errc::PeerGone:
      return "peer gone";
    case Errc::Timeout:
      return "timeout";
    case Errc::Cancelled:
      return "cancelled";
    case Errc::Revoked:
      return "revoked";
    case Errc::NoSpace:
      return "no space";
    case Errc::DeviceError:
      return "device error";
    case Errc::MemoryFault:
      return "memory fault";
    case Errc::Protocol:
      return "protocol";
    case Errc::Busy:
      return "busy";
    case Errc::System:
      return "system";
    case Errc::DaemonGone:
      return "daemon gone";
    case Errc::Internal:
      return "internal";
  }
  return "unknown";
}

std::string_view name(Stage stage) {
  switch (stage) {
    case Stage::None:
      return "";
    case Stage::Server:
      return "server";
    case Stage::Decode:
      return "decode";
    case Stage::Match:
      return "match";
    case Stage::Select:
      return "select";
    case Stage::Compose:
      return "compose";
    case Stage::Emit:
      return "emit";
    case Stage::Load:
      return "load";
    case Stage::Device:
      return "device";
    case Stage::Client:
      return "client";
    case Stage::Cli:
      return "sdmacc";
  }
  return "unknown";
}

std::string Error::text() const {
  std::string out;
  if (stage != Stage::None) out += fmt::format("{}: ", name(stage));
  if (index != kNoIndex) {
    switch (stage) {
      case Stage::Decode:
        out += fmt::format("word {}: ", index);
        break;
      case Stage::Match:
        out += fmt::format("rank {}: ", index);
        break;
      case Stage::Compose:
        out += fmt::format("step {}: ", index);
        break;
      case Stage::Load:
        out += fmt::format("section {}: ", index);
        break;
      default:
        out += fmt::format("[{}]: ", index);
        break;
    }
  }
  return out + fmt::format("{} ({})", context, name(code));
}

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s\n", file, line, expression);
  std::abort();
}

}  // namespace sdmacc
