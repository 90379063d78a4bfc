// SPDX-License-Identifier: MIT
// Matching and adding, in the plainest way; see fake_backend.hpp.
#include "selftests/server/fake_backend.hpp"

#include <algorithm>
#include <cstring>

#include "libuapi/abi/enums.h"

namespace sdmacc::server {
namespace {

constexpr std::uint8_t kOpcode = 0xC8;

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Match, kNoIndex, format, std::forward<Args>(args)...);
}

float load(const Tensor& tensor, std::uint64_t element) {
  float out;
  std::memcpy(&out, tensor.data() + element * sizeof(float), sizeof(out));
  return out;
}

float reduce(unsigned op, float a, float b) {
  switch (op) {
    case SDMACC_ALU_MAX:
      return std::max(a, b);
    case SDMACC_ALU_MIN:
      return std::min(a, b);
    default:
      return a + b;
  }
}

}  // namespace

Status FakeBackend::group_ready(const GroupInfo& info) {
  if (!refuse_groups) return refuse_groups;
  events.push_back(fmt::format("ready {} {}", info.name, info.generation));
  groups_[info.id] = State{info, std::vector<std::deque<Request>>(info.members.size())};
  return {};
}

void FakeBackend::group_revoked(GroupId id, const Error& cause) {
  State& state = groups_.at(id);
  events.push_back(fmt::format("revoked {}: {}", state.info.name, cause.text()));
  for (auto& queue : state.waiting) {
    for (const Request& request : std::exchange(queue, {})) {
      finish(request, tl::unexpected<Error>(cause));
    }
  }
}

void FakeBackend::group_gone(GroupId id) {
  events.push_back(fmt::format("gone {}", groups_.at(id).info.name));
  groups_.erase(id);
}

void FakeBackend::submit(const Submission& submission) {
  last_words.assign(submission.words.begin(), submission.words.end());
  last_scale = submission.scale;
  Request request{submission.session, submission.request, {}, submission.scale, {}, {}};
  std::memcpy(&request.word, submission.words.data(), sizeof(request.word));
  const sdmacc_isa_c8& word = request.word;
  const auto take = [&](std::uint32_t id, std::uint64_t first) -> Result<TensorRef> {
    SDMACC_TRY(TensorRef tensor, submission.tensors->find(id));
    const std::uint64_t have = tensor->bytes() / sizeof(float);
    if (first > have || word.num_elements > have - first) {
      return refuse(Errc::Range, "{} elements from {} on are outside tensor {} of {}",
                    word.num_elements, first, id, have);
    }
    return tensor;
  };
  const Status good = [&]() -> Status {
    if (word.header.opcode != kOpcode) {
      return refuse(Errc::Unsupported, "opcode {:#04x}", word.header.opcode);
    }
    if (word.group_id != submission.session_group) {
      return refuse(Errc::Mismatch, "word of group {} submitted to group {}", word.group_id,
                    submission.session_group);
    }
    SDMACC_TRY(request.in, take(word.input_tensor_id, word.src_offset_elems));
    SDMACC_TRY(request.out, take(word.output_tensor_id, word.dst_offset_elems));
    if (!request.out->writable()) return refuse(Errc::Invalid, "output tensor is read-only");
    return {};
  }();
  if (!good) return finish(request, good);
  State& state = groups_.at(submission.group);
  state.waiting[submission.rank].push_back(std::move(request));
  match(state);
}

void FakeBackend::match(State& state) {
  const auto there = [](const auto& queue) { return !queue.empty(); };
  if (!std::all_of(state.waiting.begin(), state.waiting.end(), there)) return;
  const sdmacc_isa_c8& first = state.waiting[0].front().word;
  std::string values;
  bool agree = true;
  for (std::size_t rank = 0; rank < state.waiting.size(); ++rank) {
    const sdmacc_isa_c8& word = state.waiting[rank].front().word;
    agree &=
        word.op == first.op && word.dtype == first.dtype && word.num_elements == first.num_elements;
    values += fmt::format("{}rank {} has op {} dtype {} count {}", rank ? ", " : "", rank, word.op,
                          word.dtype, word.num_elements);
  }
  if (!agree) {
    return frontend_->revoke(state.info.id, refuse(Errc::Mismatch, "{}", values).value());
  }
  Operation operation;
  for (auto& queue : state.waiting) {
    operation.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  run(operation);
  for (const Request& request : operation) finish(request, {});
}

void FakeBackend::run(const Operation& operation) {
  const unsigned op = operation[0].word.op;
  for (std::uint64_t i = 0; i < operation[0].word.num_elements; ++i) {
    float sum = 0;
    for (std::size_t rank = 0; rank < operation.size(); ++rank) {
      const Request& request = operation[rank];
      const float x =
          load(*request.in, request.word.src_offset_elems + i) * request.scale.value_or(1.0f);
      sum = rank == 0 ? x : reduce(op, sum, x);
    }
    for (const Request& request : operation) {
      std::memcpy(request.out->data() + (request.word.dst_offset_elems + i) * sizeof(float), &sum,
                  sizeof(sum));
    }
  }
  ++operations;
}

void FakeBackend::expired(GroupId id, SessionId, RequestId request) {
  expired_requests.push_back(request);
  const State& state = groups_.at(id);
  std::string missing;
  for (std::size_t rank = 0; rank < state.waiting.size(); ++rank) {
    if (state.waiting[rank].empty()) missing += fmt::format(" {}", rank);
  }
  frontend_->revoke(
      id, refuse(Errc::Timeout, "request {} waits for ranks{}", request, missing).value());
}

void FakeBackend::tensor_gone(const TensorRef& tensor) {
  events.push_back(fmt::format("tensor gone {}", tensor->bytes()));
}

Result<std::string> FakeBackend::query(std::string_view kind, std::string_view arguments) {
  if (kind == "echo") return fmt::format("\"{}\"", arguments);
  if (kind == "long") return std::string(1 << 20, 'x');
  return refuse(Errc::NotFound, "no query is called '{}'", kind);
}

void FakeBackend::finish(const Request& request, const Status& status) {
  if (hold) {
    held_.push_back({request.session, request.id, status, request.in, request.out});
  } else {
    frontend_->complete(request.session, request.id, status);
  }
}

void FakeBackend::release() {
  hold = false;
  for (const Held& one : std::exchange(held_, {})) {
    frontend_->complete(one.session, one.request, one.status);
  }
}

}  // namespace sdmacc::server
