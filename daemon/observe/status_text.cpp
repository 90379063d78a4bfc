// SPDX-License-Identifier: MIT
// Makes the text of status_json()'s JSON: one group a block, who is missing in the first line of
// it.
#include <fmt/format.h>

#include <iterator>

#include "daemon/observe/status.hpp"

namespace sdmacc {
namespace {

using nlohmann::ordered_json;

// A value of the wanted type, or the default when it is absent or another: a text is better than
// none.
template <typename T>
T get(const ordered_json& object, const char* key, T otherwise = {}) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!found->is_boolean()) return otherwise;
  } else {
    if (!found->is_number()) return otherwise;
  }
  return found->template get<T>();
}
std::uint64_t number(const ordered_json& object, const char* key) {
  return get<std::uint64_t>(object, key);
}
std::string string(const ordered_json& object, const char* key) {
  return get<std::string>(object, key);
}
const ordered_json& child(const ordered_json& object, const char* key) {
  static const ordered_json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found != object.end() ? *found : none;
}

std::string ranks(const ordered_json& list) {
  std::vector<Rank> values;
  for (const ordered_json& rank : list)
    if (rank.is_number_unsigned()) values.push_back(rank.get<Rank>());
  return fmt::format("{} {}", values.size() == 1 ? "rank" : "ranks", ranks_text(values));
}

std::string seconds(std::uint64_t milliseconds) {
  return fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
}

class Writer {
 public:
  std::string run(const ordered_json& status) {
    line("device: {}", string(status, "device"));
    const ordered_json& groups = child(status, "groups");
    if (groups.empty()) line("no groups");
    for (const ordered_json& group : groups) write_group(group);
    const ordered_json& clients = child(status, "clients");
    if (!clients.empty()) line("\nclients");
    for (const ordered_json& client : clients) write_client(client);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  void write_group(const ordered_json& group) {
    line("\ngroup \"{}\": {}, generation {}, {} ranks", string(group, "name"),
         string(group, "state"), number(group, "generation"), number(group, "ranks"));
    for (const ordered_json& rank : child(group, "missing")) write_missing(group, rank);
    if (const std::string cause = string(group, "cause"); !cause.empty())
      line("  failed: {}", cause);
    const ordered_json& operation = child(group, "operation");
    if (!operation.is_null()) write_operation(operation);
    if (number(group, "lowering") + number(group, "queued") > 0)
      line("  complete operations: {} being lowered, {} waiting for the device",
           number(group, "lowering"), number(group, "queued"));
    const ordered_json& running = child(group, "running");
    if (!running.is_null()) write_running(running);
    for (const ordered_json& seat : child(group, "seats")) write_seat(seat);
  }

  void write_missing(const ordered_json& group, const ordered_json& rank) {
    const ordered_json& seats = child(group, "seats");
    const std::size_t index = rank.is_number_unsigned() ? rank.get<std::size_t>() : seats.size();
    if (index >= seats.size()) return;
    const ordered_json& seat = seats[index];
    if (string(seat, "state") == "missing") {
      line("  MISSING: rank {}: no process has joined as this rank", index);
      return;
    }
    std::string last = "it has submitted nothing yet";
    if (const ordered_json& ms = child(seat, "last_submission_ms"); ms.is_number())
      last = fmt::format("its last submission, number {}, was {} ago", number(seat, "submitted"),
                         seconds(ms.get<std::uint64_t>()));
    line("  MISSING: rank {} (pid {}): {}", index, number(seat, "pid"), last);
  }

  void write_operation(const ordered_json& operation) {
    line("  operation {}: {} {} {} {} elements: waits {} for {}; here: {}",
         number(operation, "sequence"), string(operation, "collective"), string(operation, "op"),
         string(operation, "dtype"), number(operation, "count"),
         seconds(number(operation, "waiting_ms")), ranks(child(operation, "missing")),
         ranks(child(operation, "arrived")));
  }

  void write_running(const ordered_json& running) {
    line("  on the device: {}, {}, window {} of {}: {}", string(running, "algorithm"),
         get<bool>(running, "active", true) ? "running" : "waiting for its next run",
         number(running, "window"), number(running, "windows"), string(running, "program"));
    for (const ordered_json& wait : child(running, "waits"))
      line("    rank {} TOP_SP {} {} waits for semaphore {}: value {}, target {}",
           number(wait, "rank"), number(wait, "topsp"), string(wait, "unit"),
           number(child(wait, "semaphore"), "id"), number(wait, "value"), number(wait, "target"));
    for (const ordered_json& queue : child(running, "queues")) write_queue(queue);
  }

  void write_queue(const ordered_json& queue) {
    const ordered_json &m2s = child(queue, "m2s"), &s2m = child(queue, "s2m"),
                       &step = child(queue, "step");
    std::string where = step.is_null()
                            ? "before its first step"
                            : fmt::format("step {} of {}, slice {}", number(step, "step"),
                                          number(step, "steps"), number(step, "slice"));
    line(
        "    engine {} queue {}: M2S head {} tail {}, S2M head {} tail {}, length {}; rank {} "
        "channel {}: {}",
        number(queue, "engine"), number(queue, "queue"), number(m2s, "head"), number(m2s, "tail"),
        number(s2m, "head"), number(s2m, "tail"), number(queue, "length"), number(queue, "rank"),
        number(queue, "channel"), where);
  }

  void write_seat(const ordered_json& seat) {
    if (string(seat, "state") == "missing") return;
    std::string place;
    if (!child(seat, "topsp").is_null())
      place = fmt::format(", device {} core {} TOP_SP {}", number(seat, "device"),
                          number(seat, "core"), number(seat, "topsp"));
    line("  rank {}: {}, pid {}, {} submitted, {} in flight{}", number(seat, "rank"),
         string(seat, "state"), number(seat, "pid"), number(seat, "submitted"),
         number(seat, "in_flight"), place);
  }

  void write_client(const ordered_json& client) {
    line("  {} pid {} uid {}{}: {} groups, {} tensors of {} bytes, {} in flight{}",
         number(client, "id"), number(client, "pid"), number(client, "uid"),
         string(client, "name").empty() ? "" : fmt::format(" \"{}\"", string(client, "name")),
         number(client, "groups"), number(client, "tensors"), number(client, "mapped_bytes"),
         number(client, "in_flight"), get<bool>(client, "connected", true) ? "" : ", gone");
  }

  std::string out_;
};

}  // namespace

Result<std::string> status_text(const ordered_json& status) {
  if (const ordered_json& version = child(status, "version"); version != kStatusVersion)
    return fail(Errc::Unsupported, Stage::None, kNoIndex,
                "the daemon's status has version {}, this program reads {}", version.dump(),
                kStatusVersion);
  return Writer().run(status);
}

}  // namespace sdmacc
