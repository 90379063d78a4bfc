// SPDX-License-Identifier: MIT
// Running one conformance case. Entry: run_case().
#include "selftests/conformance/cases.hpp"

#include <poll.h>

#include <cstring>
#include <random>

#include "daemon/compose/verify.hpp"
#include "daemon/emit/emit.hpp"
#include "libuapi/abi/generation.h"
#include "selftests/cce/reference.hpp"
#include "selftests/conformance/interpreter.hpp"

namespace sdmacc {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kCanary{0xA5};

// One rank's tensor with guards on both sides.
struct Buffer {
  std::vector<std::byte> bytes;
  explicit Buffer(std::uint64_t size) : bytes(size + 2 * kGuard, kCanary) {}
  std::byte* data() { return bytes.data() + kGuard; }
  bool intact() const {
    for (std::size_t i = 0; i < kGuard; ++i)
      if (bytes[i] != kCanary || bytes[bytes.size() - 1 - i] != kCanary) return false;
    return true;
  }
};

void store(std::byte* to, const std::vector<std::uint32_t>& codes, std::uint32_t element) {
  for (std::size_t i = 0; i < codes.size(); ++i) std::memcpy(to + i * element, &codes[i], element);
}

const cce::Reference& reference(DType dtype) {
  return cce::Reference::of(dtype == DType::Fp32 ? cce::Acc::Fp32r : static_cast<cce::Acc>(dtype));
}

// Any code at all, with more than their share of zeros, infinities, NaNs and values near 1.
Codes random_codes(const Case& c, std::mt19937_64& rng) {
  const cce::Reference& f = reference(c.dtype);
  const std::uint32_t all = f.bits() == 32 ? 0xffffffffu : (1u << f.bits()) - 1;
  Codes codes(c.ranks, std::vector<std::uint32_t>(c.count));
  for (auto& rank : codes)
    for (auto& code : rank) {
      const std::uint64_t r = rng();
      const auto bits = static_cast<std::uint32_t>(r >> 32) & all;
      switch (r % 32) {
        case 0:
          code = (bits & 1) ? f.sign() : 0;
          break;
        case 1:
          code = f.infinity() | ((bits & 1) ? f.sign() : 0);
          break;
        case 2:
          code = f.quiet_nan();
          break;
        case 3:
          code = bits;
          break;
        case 4:
          code = (bits & 7) | ((bits & 8) ? f.sign() : 0);
          break;  // subnormal
        default:
          code = f.code(static_cast<double>(static_cast<std::int32_t>(bits % 2001) - 1000) / 256.0);
          break;
      }
    }
  return codes;
}

// Small whole numbers that any order of summation adds exactly in every type: at most 7 of them are
// not 0 at a place, each ±1.
Codes exact_codes(const Case& c, std::vector<double>& expected) {
  const cce::Reference& f = reference(c.dtype);
  Codes codes(c.ranks, std::vector<std::uint32_t>(c.count));
  expected.assign(c.count, 0);
  for (std::uint64_t i = 0; i < c.count; ++i)
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      const int value = (r + i) % ((c.ranks + 6) / 7) == 0 ? ((r + i / 3) % 3 == 0 ? -1 : 1) : 0;
      codes[r][i] = f.code(value);
      expected[i] += value;
    }
  return codes;
}

class Runner {
 public:
  Runner(Device& device, const Case& c)
      : device_(device), case_(c), element_(element_bytes(c.dtype)) {
    for (std::uint32_t r = 0; r < c.ranks; ++r) {
      in_.emplace_back(c.count * element_);
      out_.emplace_back(c.count * element_);
    }
  }
  ~Runner() {
    if (loaded_ != 0) device_.unload(loaded_);
  }

  std::string prepare() {
    auto schedule = case_.algorithm->build(shape_of(case_));
    if (!schedule) return "compose: " + schedule.error().text();
    schedule_ = std::move(*schedule);
    if (auto fault = find_fault(schedule_, {.in_place = case_.in_place}))
      return "verify: " + fault->text;
    if (case_.count == 0) return "";
    World world;
    world.arch = &device_.arch();
    world.policy.engines = case_.engines;
    const auto places = place_ranks(device_.arch(), case_.ranks,
                                    std::vector<std::uint32_t>(device_.arch().topsps, 0));
    if (!places) return "place: " + places.error().text();
    world.places = *places;
    const auto program = emit(schedule_, world);
    if (!program) return "emit: " + program.error().text();
    auto loaded = device_.load(*program, world.places);
    if (!loaded) return "load: " + loaded.error().text();
    loaded_ = *loaded;
    std::vector<Binding> bindings;
    for (std::uint32_t r = 0; r < case_.ranks; ++r) {
      bindings.push_back({r << 1, in_[r].data(), case_.count * element_});
      bindings.push_back(
          {r << 1 | 1, (case_.in_place ? in_ : out_)[r].data(), case_.count * element_});
    }
    if (auto status = device_.bind(loaded_, bindings); !status)
      return "bind: " + status.error().text();
    return "";
  }

  std::string run(const Codes& input, const Codes& expected) {
    if (case_.count == 0) return "";
    for (std::uint32_t r = 0; r < case_.ranks; ++r) store(in_[r].data(), input[r], element_);
    if (auto status = device_.run(loaded_, 7); !status) return "run: " + status.error().text();
    if (auto error = wait(); !error.empty()) return error;
    ++runs_;
    for (std::uint32_t r = 0; r < case_.ranks; ++r) {
      Buffer& got = (case_.in_place ? in_ : out_)[r];
      Buffer want(case_.count * element_);
      store(want.data(), expected[r], element_);
      if (!got.intact()) return fmt::format("rank {}: bytes beside the result were written", r);
      if (got.bytes == want.bytes) continue;
      for (std::uint64_t i = 0; i < case_.count; ++i)
        if (std::memcmp(got.data() + i * element_, want.data() + i * element_, element_) != 0) {
          std::uint32_t code = 0;
          std::memcpy(&code, got.data() + i * element_, element_);
          return fmt::format("rank {} element {} is {:#x}, must be {:#x}", r, i, code,
                             expected[r][i]);
        }
    }
    if (!case_.in_place)
      for (std::uint32_t r = 0; r < case_.ranks; ++r) {
        Buffer same(case_.count * element_);
        store(same.data(), input[r], element_);
        if (in_[r].bytes != same.bytes) return fmt::format("input of rank {} was written", r);
      }
    return "";
  }

  std::string check_counters() const {
    if (case_.count == 0) return "";
    const auto want = traffic(schedule_);
    const auto got = device_.counters(loaded_);
    for (std::uint32_t r = 0; r < case_.ranks; ++r)
      if (got[r].read_bytes != want[r].read_bytes * runs_ ||
          got[r].written_bytes != want[r].written_bytes * runs_)
        return fmt::format(
            "rank {} read {} and wrote {} bytes in {} runs, the schedule says {} and {} a run", r,
            got[r].read_bytes, got[r].written_bytes, runs_, want[r].read_bytes,
            want[r].written_bytes);
    return "";
  }

  const Schedule& schedule() const { return schedule_; }

 private:
  std::string wait() {
    while (true) {
      device_.pump(loaded_);
      for (const Completion& c : device_.reap()) {
        if (c.loaded != loaded_ || c.ticket != 7) return "a completion of another run";
        return c.status ? "" : "completion: " + c.status.error().text();
      }
      pollfd fd{device_.completion_fd(), POLLIN, 0};
      if (poll(&fd, 1, 60000) == 0) return "no completion for a minute";
    }
  }

  Device& device_;
  const Case& case_;
  const std::uint32_t element_;
  std::vector<Buffer> in_, out_;
  Schedule schedule_;
  LoadedId loaded_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace

std::vector<AlgorithmCase> algorithm_cases() {
  std::vector<AlgorithmCase> cases;
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.alg == Alg::Kangaring) {
      cases.push_back({&info, 1});
      cases.push_back({&info, 3});
    } else {
      cases.push_back({&info, 0});
    }
  }
  return cases;
}

std::string to_string(const Case& c) {
  return fmt::format("{}{} {} ranks {} elements {} {}{}, {} channels, slice {}, {} engines",
                     c.algorithm->id, c.secondaries > 0 ? fmt::format("-{}", c.secondaries) : "",
                     c.ranks, c.count, name(c.dtype), name(c.op), c.in_place ? " in place" : "",
                     c.channels, c.slice, c.engines);
}

Shape shape_of(const Case& c) {
  Shape s;
  s.op = c.op;
  s.dtype = c.dtype;
  s.count = c.count;
  s.ranks = c.ranks;
  s.channels = c.channels;
  s.slice_elements = c.slice;
  s.secondaries = c.secondaries;
  s.sub_type = c.algorithm->sub_type;
  if (c.op == ReduceOp::Fma)
    for (std::uint32_t r = 0; r < c.ranks; ++r)
      s.scales.push_back(r % 2 == 0 ? 0.75f / static_cast<float>(r + 1) : -1.5f);
  return s;
}

std::string run_case(Device& device, const Case& c, std::uint64_t seed, std::uint32_t runs) {
  Runner runner(device, c);
  if (auto error = runner.prepare(); !error.empty()) return error;
  std::mt19937_64 rng(seed);
  for (std::uint32_t i = 0; i < runs; ++i) {
    const Codes input = random_codes(c, rng);
    if (auto error = runner.run(input, interpret(runner.schedule(), input, c.in_place));
        !error.empty())
      return fmt::format("run {}: {}", i, error);
  }
  if (c.op == ReduceOp::Add) {
    std::vector<double> sum;
    const Codes input = exact_codes(c, sum);
    Codes expected(c.ranks, std::vector<std::uint32_t>(c.count));
    for (auto& rank : expected)
      for (std::uint64_t i = 0; i < c.count; ++i) rank[i] = reference(c.dtype).code(sum[i]);
    if (auto error = runner.run(input, expected); !error.empty()) return "exact sum: " + error;
  }
  return runner.check_counters();
}

}  // namespace sdmacc
