// SPDX-License-Identifier: MIT
// Implements world_file.hpp.
#include "daemon/cli/world_file.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "libuapi/abi/generation.h"

namespace sdmacc::cli {
namespace {

using nlohmann::json;
constexpr int kWorldVersion = 1;
constexpr std::uint64_t kAnySize = std::uint64_t{1} << 62;
constexpr std::uint64_t kOwnMemory = std::uint64_t{1}
                                     << 32;  // plus the id: no number that a file gives

// Reads the keys of one object, and complains about those that nobody asked for.
class Reader {
 public:
  Reader(const std::string& file, std::string path, const json& object)
      : file_(file), path_(std::move(path)), object_(object) {}

  template <typename T>
  Status number(const char* key, T& value, std::uint64_t most = std::numeric_limits<T>::max()) {
    const json* found = find(key);
    if (found == nullptr) return {};
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > most)
      return wrong(key, *found, fmt::format("a number from 0 to {}", most));
    value = static_cast<T>(found->get<std::uint64_t>());
    return {};
  }
  Status boolean(const char* key, bool& value) {
    const json* found = find(key);
    if (found == nullptr) return {};
    if (!found->is_boolean()) return wrong(key, *found, "true or false");
    value = found->get<bool>();
    return {};
  }
  Status string(const char* key, std::string& value) {
    const json* found = find(key);
    if (found == nullptr) return {};
    if (!found->is_string()) return wrong(key, *found, "a string");
    value = found->get<std::string>();
    return {};
  }
  // Calls each(Reader) for the objects of a list.
  template <typename Each>
  Status list(const char* key, Each each) {
    const json* found = find(key);
    if (found == nullptr) return {};
    if (!found->is_array()) return wrong(key, *found, "a list");
    for (std::size_t i = 0; i < found->size(); ++i) {
      Reader item(file_, fmt::format("{}{}[{}].", path_, key, i), (*found)[i]);
      SDMACC_CHECK(item.must_be_object());
      SDMACC_CHECK(each(item));
      SDMACC_CHECK(item.finish());
    }
    return {};
  }
  template <typename Read>
  Status object(const char* key, Read read) {
    const json* found = find(key);
    if (found == nullptr) return {};
    Reader item(file_, fmt::format("{}{}.", path_, key), *found);
    SDMACC_CHECK(item.must_be_object());
    SDMACC_CHECK(read(item));
    return item.finish();
  }
  Status must_be_object() const {
    if (object_.is_object()) return {};
    return fail(Errc::Invalid, Stage::None, kNoIndex, "{}: {} is no object", file_,
                path_.empty() ? "the world" : path_.substr(0, path_.size() - 1));
  }
  bool has(const char* key) const { return object_.contains(key); }
  Status finish() const {
    for (const auto& [key, value] : object_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        return fail(Errc::Invalid, Stage::None, kNoIndex, "{}: {}{} is no key of a world", file_,
                    path_, key);
    return {};
  }
  Status wrong(const char* key, const json& value, const std::string& wanted) const {
    return fail(Errc::Invalid, Stage::None, kNoIndex, "{}: {}{} is {}, must be {}", file_, path_,
                key, value.dump(), wanted);
  }

 private:
  const json* find(const char* key) {
    known_.push_back(key);
    const auto found = object_.find(key);
    return found != object_.end() ? &*found : nullptr;
  }
  const std::string& file_;
  const std::string path_;
  const json& object_;
  std::vector<std::string> known_;
};

Status read_tensors(Reader& world, WorldNames& names) {
  if (world.has("tensors")) names.tensors.emplace();
  return world.list("tensors", [&](Reader& item) -> Status {
    std::uint32_t id = 0;
    TensorInfo info;
    SDMACC_CHECK(item.number("id", id));
    info.memory = kOwnMemory + id;
    SDMACC_CHECK(item.number("bytes", info.bytes));
    SDMACC_CHECK(item.number("memory", info.memory, kOwnMemory - 1));
    SDMACC_CHECK(item.number("offset", info.offset));
    SDMACC_CHECK(item.boolean("writable", info.writable));
    (*names.tensors)[id] = info;
    return {};
  });
}

Status read_places(Reader& reader, const std::string& file, World& world) {
  if (!reader.has("places")) return {};
  const std::size_t ranks = world.places.size();
  world.places.clear();
  const Status read = reader.list("places", [&](Reader& item) -> Status {
    Place place;
    SDMACC_CHECK(item.number("device", place.device));
    SDMACC_CHECK(item.number("core", place.core, world.arch->cores - 1));
    SDMACC_CHECK(item.number("topsp", place.topsp, world.arch->topsps - 1));
    world.places.push_back(place);
    return {};
  });
  SDMACC_CHECK(read);
  if (world.places.size() == ranks) return {};
  return fail(Errc::Invalid, Stage::None, kNoIndex, "{}: places are {}, for {} ranks", file,
              world.places.size(), ranks);
}

Status read_policy(Reader& reader, Policy& policy) {
  return reader.object("policy", [&](Reader& item) -> Status {
    std::string name;
    SDMACC_CHECK(item.string("name", name));  // used before: it says which rules there are
    SDMACC_CHECK(item.number("engines", policy.engines, 16));
    SDMACC_CHECK(item.number("max_channels", policy.max_channels, SDMACC_RING_CHANNELS));
    SDMACC_CHECK(item.number("slice_bytes", policy.slice_bytes));
    SDMACC_CHECK(item.number("window_bytes", policy.window_bytes));
    return item.boolean("order_rank", policy.order_rank);
  });
}

}  // namespace

std::optional<TensorInfo> WorldNames::tensor(std::uint32_t id) const {
  if (!tensors) return TensorInfo{kAnySize, kOwnMemory + id, 0, true};
  const auto found = tensors->find(id);
  return found != tensors->end() ? std::optional(found->second) : std::nullopt;
}

std::optional<std::uint32_t> WorldNames::group_size(std::uint32_t id) const {
  return !group || id == *group ? std::optional(ranks) : std::nullopt;
}

Result<LowerWorld> derived_world(const TargetOptions& options, std::uint32_t ranks) {
  SDMACC_TRY(Target target, make_target(options));
  LowerWorld out;
  SDMACC_TRY(out.world, make_world(target, ranks));
  out.names.ranks = ranks;
  out.rules = std::move(target.rules);
  return out;
}

Result<LowerWorld> read_world(const TargetOptions& given, const std::string& file,
                              std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return fail(Errc::Invalid, Stage::None, kNoIndex, "{}: is not JSON", file);
  Reader reader(file, "", document);
  SDMACC_CHECK(reader.must_be_object());
  int version = 0;
  SDMACC_CHECK(reader.number("version", version));
  if (version != kWorldVersion)
    return fail(Errc::Unsupported, Stage::None, kNoIndex, "{}: version is {}, must be {}", file,
                version, kWorldVersion);
  TargetOptions options = given;
  SDMACC_CHECK(reader.string("arch", options.arch));
  if (reader.has("policy") && document["policy"].is_object() &&
      document["policy"].contains("name") && document["policy"]["name"].is_string())
    options.policy = document["policy"]["name"].get<std::string>();
  std::uint32_t ranks = 0;
  SDMACC_CHECK(reader.number("ranks", ranks));
  SDMACC_TRY(LowerWorld out, derived_world(options, ranks));
  std::uint32_t group = 0;
  SDMACC_CHECK(reader.number("group", group, 0xffff));
  if (reader.has("group")) out.names.group = group;
  SDMACC_CHECK(read_places(reader, file, out.world));
  SDMACC_CHECK(read_tensors(reader, out.names));
  SDMACC_CHECK(read_policy(reader, out.world.policy));
  SDMACC_CHECK(reader.finish());
  return out;
}

}  // namespace sdmacc::cli
