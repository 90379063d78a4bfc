// SPDX-License-Identifier: MIT
// The C interface: operations and their requests, by way of the rings.
#include <cstring>

#include "libuapi/client/handles.hpp"
#include "libuapi/client/words.hpp"

using namespace sdmacc;
using namespace sdmacc::client;

namespace {

// `words` is one or two instruction words.
Status submit(const sdmacc_group& group, std::span<const std::byte> words, const float* scale,
              Pending& pending) {
  sdmacc_submit_entry entry{};
  entry.group = group.id;
  entry.word_count = static_cast<std::uint32_t>(words.size() / SDMACC_ISA_WORD_BYTES);
  entry.timeout = group.timeout_ns.load(std::memory_order_relaxed);
  if (scale != nullptr) {
    entry.flags = SDMACC_SUBMIT_SCALE;
    entry.scale = *scale;
  }
  std::memcpy(entry.words, words.data(), words.size());
  return group.link->submit(entry, pending);
}

Status submit(const sdmacc_group& group, const AllReduce& what, float scale, Pending& pending) {
  SDMACC_TRY(const sdmacc_isa_c8 word, all_reduce_word(what));
  return submit(group, std::as_bytes(std::span(&word, 1)), what.op == SDMACC_FMA ? &scale : nullptr,
                pending);
}

Status check(const sdmacc_group* group, const sdmacc_tensor* in, const sdmacc_tensor* out) {
  const auto refuse = [](const char* why) {
    return fail(Errc::Invalid, Stage::Client, kNoIndex, "{}", why);
  };
  if (group == nullptr) return refuse("group is NULL");
  if (in == nullptr) return refuse("in is NULL");
  if (out == nullptr) return refuse("out is NULL");
  if (in->link != group->link) return refuse("in belongs to another connection than group");
  if (out->link != group->link) return refuse("out belongs to another connection than group");
  return {};
}

// Waits without limit but the daemon's.
Status finish(Connection& link, Pending& pending) {
  link.wait(pending, Clock::time_point::max());
  const Status status = link.outcome(pending);
  if (!pending.done) link.forget(pending);
  return status;
}

}  // namespace

int sdmacc_all_reduce(sdmacc_group* group, sdmacc_tensor* in, sdmacc_tensor* out,
                      uint64_t in_offset, uint64_t out_offset, uint64_t count, int dtype, int op,
                      float scale) {
  if (const Status good = check(group, in, out); !good) return report(good);
  Pending pending;
  const Status sent =
      submit(*group, {group->id, in->id, out->id, in_offset, out_offset, count, dtype, op}, scale,
             pending);
  return report(sent ? finish(*group->link, pending) : sent);
}

int sdmacc_all_reduce_async(sdmacc_group* group, sdmacc_tensor* in, sdmacc_tensor* out,
                            uint64_t in_offset, uint64_t out_offset, uint64_t count, int dtype,
                            int op, float scale, sdmacc_request** request) {
  if (request == nullptr) return refuse_argument("request is NULL");
  *request = nullptr;
  if (const Status good = check(group, in, out); !good) return report(good);
  auto made = std::make_unique<sdmacc_request>();
  made->link = group->link;
  const Status sent =
      submit(*group, {group->id, in->id, out->id, in_offset, out_offset, count, dtype, op}, scale,
             made->pending);
  if (!sent) return report(sent);
  *request = made.release();
  return SDMACC_OK;
}

int sdmacc_submit_words(sdmacc_group* group, const void* words, size_t bytes, const float* scale,
                        sdmacc_request** request) {
  if (request == nullptr) return refuse_argument("request is NULL");
  *request = nullptr;
  if (group == nullptr) return refuse_argument("group is NULL");
  if (words == nullptr) return refuse_argument("words is NULL");
  if (bytes != SDMACC_ISA_WORD_BYTES && bytes != 2 * SDMACC_ISA_WORD_BYTES) {
    return refuse_argument("words of {} bytes, must have 64 or 128", bytes);
  }
  auto made = std::make_unique<sdmacc_request>();
  made->link = group->link;
  const Status sent =
      submit(*group, std::span(static_cast<const std::byte*>(words), bytes), scale, made->pending);
  if (!sent) return report(sent);
  *request = made.release();
  return SDMACC_OK;
}

int sdmacc_request_wait(sdmacc_request* request, int timeout_ms) {
  if (request == nullptr) return refuse_argument("request is NULL");
  const Clock::time_point deadline = timeout_ms < 0
                                         ? Clock::time_point::max()
                                         : Clock::now() + std::chrono::milliseconds(timeout_ms);
  if (!request->link->wait(request->pending, deadline)) {
    return report(Error{Errc::Busy, Stage::Client, kNoIndex,
                        fmt::format("not done after {} ms", timeout_ms)});
  }
  return report(request->link->outcome(request->pending));
}

int sdmacc_request_test(sdmacc_request* request) {
  if (request == nullptr) return refuse_argument("request is NULL");
  if (!request->link->test(request->pending)) {
    return report(Error{Errc::Busy, Stage::Client, kNoIndex, "not done"});
  }
  return report(request->link->outcome(request->pending));
}

void sdmacc_request_free(sdmacc_request* request) {
  if (request == nullptr) return;
  request->link->forget(request->pending);
  delete request;
}
