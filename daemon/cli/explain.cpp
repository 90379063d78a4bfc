// SPDX-License-Identifier: MIT
// sdmacc explain: which algorithm an all-reduce would run, and why. Nothing runs and no daemon is
// asked.
#include <memory>

#include "daemon/cli/command.hpp"
#include "daemon/cli/target.hpp"
#include "daemon/observe/explain.hpp"
#include "daemon/select/select.hpp"

namespace sdmacc::cli {
namespace {

struct Options {
  TargetOptions target;
  std::string op = "add", dtype = "fp32", bytes;
  std::uint64_t count = 0;
  std::uint32_t ranks = 0;
  bool json = false;
};

Result<std::uint64_t> count_of(const Options& o, DType dtype) {
  if (o.bytes.empty()) return o.count;
  SDMACC_TRY(const std::uint64_t bytes, parse_size(o.bytes));
  const std::uint32_t element = element_bytes(dtype);
  if (bytes % element != 0)
    return usage("--bytes {} is no multiple of the {} bytes of {}", bytes, element, o.dtype);
  return bytes / element;
}

Status run(const Options& o) {
  SDMACC_TRY(const Target target, make_target(o.target));
  SDMACC_TRY(const World world, make_world(target, o.ranks));
  Operation operation;
  SDMACC_TRY(operation.op, parse_reduce_op(o.op));
  SDMACC_TRY(operation.dtype, parse_dtype(o.dtype));
  if (!reducible(operation.dtype))
    return fail(Errc::Unsupported, Stage::Select, kNoIndex,
                "{} moves but does not reduce; fp32, bf16, fp16, fp8e3, fp8e4 and fp8e5 do",
                o.dtype);
  SDMACC_TRY(operation.count, count_of(o, operation.dtype));
  operation.ranks.resize(o.ranks);
  SDMACC_TRY(const Choice choice, select(operation, world, target.rules));
  return print(o.json ? explain_json(operation, world, choice).dump(2) + "\n"
                      : explain_text(operation, world, choice));
}

}  // namespace

void add_explain(CLI::App& app, Run& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("explain", "which algorithm an all-reduce would run, and why");
  command->add_option("--op", o->op, "add, max, min, fma")
      ->check(checked_by(parse_reduce_op))
      ->type_name("OP")
      ->capture_default_str();
  command->add_option("--dtype", o->dtype, "fp32, bf16, fp16, fp8e3, fp8e4, fp8e5")
      ->check(checked_by(parse_dtype))
      ->type_name("TYPE")
      ->capture_default_str();
  CLI::App* size = command->add_option_group("size");
  size->add_option("--bytes", o->bytes, "size of one rank's tensor")
      ->check(checked_by(parse_size))
      ->type_name("SIZE");
  size->add_option("--count", o->count, "elements of it")->type_name("N");
  size->require_option(1);
  command->add_option("--ranks", o->ranks, "ranks of the group")
      ->required()
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_target_options(*command, o->target);
  command->add_flag("--json", o->json, "as JSON");
  command->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace sdmacc::cli
