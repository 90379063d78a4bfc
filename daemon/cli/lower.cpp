// SPDX-License-Identifier: MIT
// sdmacc lower: what each stage makes of a file of instruction words. Entry: lower_text(). Tested
// by selftests/cli.
#include "daemon/cli/lower.hpp"

#include <memory>

#include "daemon/compose/compose.hpp"
#include "daemon/compose/verify.hpp"
#include "daemon/emit/emit.hpp"
#include "daemon/match/match.hpp"
#include "daemon/select/select.hpp"
#include "libuapi/abi/opcodes.h"

namespace sdmacc::cli {
namespace {

constexpr std::string_view kStages[] = {"decode", "match", "select", "compose", "emit"};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string kept_text(std::uint32_t word, std::byte opcode) {
  const char* name = sdmacc_name_op(static_cast<unsigned>(opcode));
  return fmt::format("word {} {:#04x} {}: kept, it is no collective\n", word,
                     static_cast<unsigned>(opcode), name != nullptr ? name : "without a name");
}

// One collective through the stages after decode.
class Lowering {
 public:
  Lowering(const LowerWorld& world, StopAfter stop_after)
      : world_(world), stop_after_(stop_after) {}

  Result<std::string> run(const Operation& operation) const {
    if (stop_after_ == StopAfter::Match) return to_string(operation);
    SDMACC_TRY(const Choice choice, select(operation, world_.world, world_.rules));
    if (stop_after_ == StopAfter::Select) return note(operation) + to_string(choice);
    if (operation.count == 0) return note(operation);
    const std::uint64_t window = std::min(choice.window_elements, operation.count);
    const std::uint64_t windows = operation.count / window, rest = operation.count % window;
    SDMACC_TRY(std::string text, run_window(operation, choice, window));
    if (windows == 1 && rest == 0) return text;
    text = fmt::format("{} windows of {} elements, each:\n", windows, window) + text;
    if (rest == 0) return text;
    SDMACC_TRY(const std::string last, run_window(operation, choice, rest));
    return text + fmt::format("and a last one of {} elements:\n", rest) + last;
  }

 private:
  static std::string note(const Operation& operation) {
    if (operation.count != 0) return "";
    return fmt::format(
        "operation {}: 0 elements: nothing moves and no program is made; it is done when all ranks "
        "have "
        "arrived\n",
        operation.sequence);
  }

  Result<std::string> run_window(const Operation& operation, const Choice& choice,
                                 std::uint64_t count) const {
    SDMACC_TRY(const Schedule schedule, compose(operation, choice, world_.world, count));
    for (const bool in_place : {false, true})
      SDMACC_CHECK(verify(schedule, {.in_place = in_place}));
    if (stop_after_ == StopAfter::Compose) return to_string(schedule);
    SDMACC_TRY(const Program program, emit(schedule, world_.world));
    return to_string(program);
  }

  const LowerWorld& world_;
  const StopAfter stop_after_;
};

}  // namespace

Result<StopAfter> parse_stop_after(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kStages); ++i)
    if (kStages[i] == text) return static_cast<StopAfter>(i);
  return usage("{} is no stage; it can be decode, match, select, compose, emit", text);
}

Result<std::string> lower_text(std::string_view words, const LowerWorld& world,
                               StopAfter stop_after, const std::vector<float>& scales) {
  const std::uint32_t ranks = world.world.size();
  if (!scales.empty() && scales.size() != ranks)
    return usage("--scale has {} factors for {} ranks", scales.size(), ranks);
  if (words.size() % kWordBytes != 0)
    return fail(Errc::Invalid, Stage::Decode, kNoIndex,
                "{} bytes are no whole number of {}-byte words", words.size(), kWordBytes);
  std::string out;
  Matcher matcher;
  std::vector<bool> open(0x10000);  // groups of the words
  const Lowering lowering(world, stop_after);
  std::uint64_t request = 0;
  for (std::uint32_t at = 0; at < words.size() / kWordBytes;) {
    const auto opcode = static_cast<std::byte>(words[at * kWordBytes]);
    if (!is_collective(opcode) && opcode != std::byte{SDMACC_OP_EXTENSION}) {
      out += kept_text(at++, opcode);
      continue;
    }
    std::optional<Operation> operation;
    std::uint32_t taken = 1;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto scale = scales.empty() ? std::nullopt : std::optional(scales[rank]);
      SDMACC_TRY(const Decoded decoded, decode(bytes_of(words), at, world.names, scale));
      const Instruction& i = decoded.instruction;
      taken = decoded.words;
      if (stop_after == StopAfter::Decode) {
        if (rank == 0 || !scales.empty())
          out += (scales.empty() ? "" : fmt::format("rank {}: ", rank)) + to_string(i) + "\n";
        continue;
      }
      if (!open[i.group]) matcher.open(i.group, ranks);
      open[i.group] = true;
      SDMACC_TRY(operation, matcher.add(i.group, rank, i, request++));
    }
    at += taken;
    if (!operation) continue;
    SDMACC_TRY(const std::string text, lowering.run(*operation));
    out += text;
  }
  return out;
}

namespace {

struct Options {
  TargetOptions target;
  std::string file, world, stop_after = "emit";
  std::uint32_t ranks = 0;
  std::vector<float> scales;
};

Status run(const Options& o) {
  SDMACC_TRY(const StopAfter stop_after, parse_stop_after(o.stop_after));
  Result<LowerWorld> world = LowerWorld{};
  if (o.world.empty()) {
    world = derived_world(o.target, o.ranks);
  } else {
    SDMACC_TRY(const std::string text, read_file(o.world));
    world = read_world(o.target, o.world, text);
  }
  SDMACC_CHECK(world);
  SDMACC_TRY(const std::string words, read_file(o.file));
  SDMACC_TRY(const std::string text, lower_text(words, *world, stop_after, o.scales));
  return print(text);
}

}  // namespace

void add_lower(CLI::App& app, Run& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("lower",
                         "print what a stage makes of a file of instruction words\n"
                         "FILE holds 64-byte words (- is standard input). Words that are no "
                         "collective are listed as kept; every rank runs the\n"
                         "same words. With --ranks the tensors follow from the words: every id "
                         "exists and is large enough, and every group has\n"
                         "that many ranks. A world file says it all:\n"
                         "  {\"version\": 1, \"ranks\": 2, \"arch\": \"cayman\", \"group\": 0,\n"
                         "   \"places\": [{\"device\": 0, \"core\": 0, \"topsp\": 0}, …],\n"
                         "   \"tensors\": [{\"id\": 3, \"bytes\": 128, \"memory\": 1, \"offset\": "
                         "0, \"writable\": true}, …],\n"
                         "   \"policy\": {\"name\": \"host\", \"engines\": 1, \"max_channels\": "
                         "32, \"slice_bytes\": 65536,\n"
                         "              \"window_bytes\": 16777216, \"order_rank\": false}}\n"
                         "of which only version and ranks must be there.");
  command->add_option("file", o->file, "instruction words")->required()->type_name("FILE");
  CLI::App* world = command->add_option_group("world");
  world->add_option("--world", o->world, "the group and its tensors")->type_name("FILE");
  world->add_option("--ranks", o->ranks, "a group of N ranks")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  world->require_option(1);
  command
      ->add_option("--stop-after", o->stop_after,
                   "stage to print: decode, match, select, compose, emit")
      ->check(checked_by(parse_stop_after))
      ->type_name("STAGE")
      ->capture_default_str();
  command->add_option("--scale", o->scales, "factors by rank: each ADD becomes an FMA")
      ->delimiter(',')
      ->type_name("S0,S1,…");
  add_target_options(*command, o->target);
  command->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace sdmacc::cli
