// SPDX-License-Identifier: MIT
// Prints a Schedule: a head, each lane, one line a step. The form is what golden files hold and
// `sdmacc lower` shows.
#include "daemon/compose/schedule.hpp"

#include <fmt/format.h>

#include <iterator>

namespace sdmacc {

std::string_view name(Prim prim) {
  switch (prim) {
    case Prim::Send:
      return "send";
    case Prim::Recv:
      return "recv";
    case Prim::DirectSend:
      return "direct_send";
    case Prim::DirectRecv:
      return "direct_recv";
    case Prim::DirectRecvSend:
      return "direct_recv_send";
    case Prim::DirectCopySend:
      return "direct_copy_send";
    case Prim::RecvCopySend:
      return "recv_copy_send";
    case Prim::RecvReduceSend:
      return "recv_reduce_send";
    case Prim::RecvReduceCopy:
      return "recv_reduce_copy";
    case Prim::RecvReduceCopySend:
      return "recv_reduce_copy_send";
    case Prim::DirectReduceSendKangaring:
      return "direct_reduce_send_kangaring";
    case Prim::PostSend:
      return "post_send";
    case Prim::PostRecv:
      return "post_recv";
    case Prim::MarkStep:
      return "mark_step";
    case Prim::MarkComplete:
      return "mark_complete";
    case Prim::ResetSendCredit:
      return "reset_send_credit";
    case Prim::LocalHandshake:
      return "LOCAL_HNDSHK";
    case Prim::GlobalHandshake:
      return "GLOBAL_HNDSHK";
    case Prim::IntraGroupBroadcast:
      return "INTRA_GRP_BRDCST";
    case Prim::InterGroupBroadcast:
      return "INTER_GRP_BRDCST";
    case Prim::ReduceCopy:
      return "REDUCE_COPY";
    case Prim::ReduceWrite:
      return "REDUCE_WRITE";
    case Prim::InterGroupBroadcast2:
      return "INTER_GRP_BRDCST_2";
    case Prim::SyncEvent:
      return "SYNC";
  }
  return "?";
}

std::string to_string(const Range& range) {
  const std::string space = range.space == Space::In    ? "in"
                            : range.space == Space::Out ? "out"
                                                        : fmt::format("tmp{}", range.tmp);
  return fmt::format("r{}.{}[{}+{}]", range.rank, space, range.first, range.count);
}

std::string signal_name(const Schedule& schedule, std::uint32_t signal) {
  if (signal >= schedule.signals.size()) return fmt::format("signal {}", signal);
  const Signal& s = schedule.signals[signal];
  return s.role == SignalRole::Event ? fmt::format("r{}.{}", s.owner, s.name)
                                     : fmt::format("r{}.c{}.{}", s.owner, s.channel, s.name);
}

std::string to_string(const Schedule& schedule, const Step& step) {
  std::string line;
  auto to = std::back_inserter(line);
  fmt::format_to(to, "{}", name(step.prim));
  if (step.kind != Kind::Sync) {
    fmt::format_to(to, " s{} H{} {}", step.slice, step.half,
                   step.kind == Kind::Copy ? "copy" : "reduce");
    for (const Range& range : step.src) fmt::format_to(to, " {}", to_string(range));
    line += " ->";
    for (const Range& range : step.dst) fmt::format_to(to, " {}", to_string(range));
  }
  const auto signals = [&](std::string_view verb, const auto& list) {
    if (list.empty()) return;
    fmt::format_to(to, "; {}", verb);
    for (const auto& item : list) {
      fmt::format_to(to, " {}", signal_name(schedule, item.signal));
      if (item.count != 1) fmt::format_to(to, "*{}", item.count);
    }
  };
  signals("wait", step.waits);
  signals("post", step.posts);
  return line;
}

std::string to_string(const Schedule& s) {
  std::string text;
  auto to = std::back_inserter(text);
  fmt::format_to(to, "{}", name(s.alg));
  if (s.mesh != MeshType::Invalid) fmt::format_to(to, " {} t{}", name(s.mesh), s.sub_type);
  if (s.secondaries > 0) fmt::format_to(to, " secondaries {}", s.secondaries);
  fmt::format_to(to, ": {} {} {}, {} elements, {} ranks, {} channels, {} slices\n",
                 name(s.collective), name(s.op), name(s.dtype), s.count, s.ranks, s.channels,
                 s.slices);
  fmt::format_to(to, "in {} out {}", s.in_elements, s.out_elements);
  for (std::size_t i = 0; i < s.tmp_elements.size(); ++i)
    fmt::format_to(to, " tmp{} {}", i, s.tmp_elements[i]);
  text += "\n";
  if (!s.scales.empty()) text += fmt::format("scales {}\n", fmt::join(s.scales, " "));
  for (const Lane& lane : s.lanes) {
    fmt::format_to(to, "lane r{} c{}\n", lane.rank, lane.channel);
    for (std::size_t i = 0; i < lane.steps.size(); ++i)
      fmt::format_to(to, "{:4}{} {}\n", i, lane.steps[i].joined ? "+" : " ",
                     to_string(s, lane.steps[i]));
  }
  return text;
}

}  // namespace sdmacc
