// SPDX-License-Identifier: MIT
// See support.hpp.
#include "selftests/cce/support.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace sdmacc::cce {
namespace {

constexpr size_t kGuard = 128;
constexpr std::byte kGuardByte{0xA5};

void describe(std::ostream& out, const Case& c, size_t element, uint32_t want, uint32_t got) {
  out << name_of(c.op) << ' ' << name_of(c.acc) << " on " << active_target() << ", "
      << c.codes.size() << " sources, count " << c.codes[0].size() << ", element " << element
      << std::hex << ": wrote " << got << ", expected " << want << ", sources";
  for (size_t s = 0; s < c.codes.size(); ++s) {
    out << ' ' << c.codes[s][element];
    if (c.op == Op::Fma) out << '*' << std::hexfloat << c.scales[s];
  }
}

}  // namespace

size_t thin() {
  const char* text = std::getenv("SDMACC_TEST_THIN");
  const long stride = text == nullptr ? 1 : std::strtol(text, nullptr, 10);
  return stride > 1 ? static_cast<size_t>(stride) : 1;
}

GuardedBuffer::GuardedBuffer(size_t bytes, size_t offset)
    : storage_(kGuard + offset + bytes + kGuard + 64, kGuardByte), begin_(0), bytes_(bytes) {
  const auto address = reinterpret_cast<uintptr_t>(storage_.data()) + kGuard;
  begin_ = kGuard + (64 - address % 64) % 64 + offset;
}

bool GuardedBuffer::guards_intact() const {
  auto intact = [](std::byte b) { return b == kGuardByte; };
  const auto begin = storage_.begin() + static_cast<ptrdiff_t>(begin_);
  return std::all_of(storage_.begin(), begin, intact) &&
         std::all_of(begin + static_cast<ptrdiff_t>(bytes_), storage_.end(), intact);
}

void put(std::byte* at, Acc acc, size_t index, uint32_t code) {
  const size_t size = element_size(acc);
  std::memcpy(at + index * size, &code, size);  // little-endian: the low bytes come first
}

uint32_t get(const std::byte* at, Acc acc, size_t index) {
  const size_t size = element_size(acc);
  uint32_t code = 0;
  std::memcpy(&code, at + index * size, size);
  return code;
}

std::vector<uint32_t> special_codes(Acc acc) {
  const Reference& format = Reference::of(acc);
  const uint32_t normal = 1u << format.fraction_bits();
  const uint32_t one = static_cast<uint32_t>(format.bias()) << format.fraction_bits();
  const uint32_t infinity = format.infinity();
  std::vector<uint32_t> codes = {0,
                                 1,
                                 2,
                                 3,
                                 normal - 1,
                                 normal,
                                 normal + 1,
                                 one - 1,
                                 one,
                                 one + 1,
                                 one + 2,
                                 infinity - 2,
                                 infinity - 1,
                                 infinity,
                                 infinity + 1,
                                 format.quiet_nan(),
                                 format.sign() - 1};
  for (size_t i = 0, n = codes.size(); i < n; ++i) codes.push_back(codes[i] | format.sign());
  return codes;
}

std::vector<uint32_t> Case::expected() const {
  std::vector<uint32_t> result(codes[0].size());
  std::vector<uint32_t> column(codes.size());
  for (size_t i = 0; i < result.size(); ++i) {
    for (size_t s = 0; s < codes.size(); ++s) column[s] = codes[s][i];
    result[i] = Reference::of(acc).fold(op, column, scales);
  }
  return result;
}

std::string Case::run(const std::vector<uint32_t>& expected) const {
  const size_t count = codes[0].size();
  const size_t size = element_size(acc);
  size_t seed = offset_seed;
  auto next_offset = [&] {
    const size_t elements = seed % 16;
    const size_t odd = seed % 3 == 2 ? 1 : 0;
    seed += 5;
    return elements * size + odd;
  };

  std::vector<GuardedBuffer> sources, results;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const auto& source : codes) {
    sources.emplace_back(count * size, next_offset());
    for (size_t i = 0; i < count; ++i) put(sources.back().data(), acc, i, source[i]);
  }
  for (size_t d = 0; d < dsts; ++d) results.emplace_back(count * size, next_offset());
  for (const auto& buffer : sources) from.push_back(buffer.data());
  for (auto& buffer : results) to.push_back(buffer.data());

  reduce(op, acc, from, scales, to, count);

  std::ostringstream text;
  for (size_t d = 0; d < dsts; ++d) {
    if (!results[d].guards_intact()) text << "destination " << d << ": wrote outside; ";
    for (size_t i = 0; i < count; ++i) {
      const uint32_t got = get(to[d], acc, i);
      if (got == expected[i]) continue;
      describe(text, *this, i, expected[i], got);
      return text.str();
    }
  }
  for (size_t s = 0; s < sources.size(); ++s) {
    for (size_t i = 0; i < count; ++i) {
      if (get(from[s], acc, i) != codes[s][i]) text << "source " << s << " was changed; ";
    }
  }
  return text.str();
}

std::string Case::run_everywhere() const {
  const auto want = expected();
  for (const auto& target : targets()) {
    const ForcedTarget forced(target);
    if (!forced.ok()) return "can't force " + target;
    auto text = run(want);
    if (!text.empty()) return text;
  }
  return "";
}

Case random_case(Op op, Acc acc, size_t sources, size_t count, std::mt19937& random) {
  const Reference& format = Reference::of(acc);
  const auto any = [&] { return static_cast<uint32_t>(random()) & (format.sign() * 2 - 1); };
  const auto tame = [&] {
    const uint32_t exponent = static_cast<uint32_t>(format.bias()) + random() % 4 - 2;
    const uint32_t fraction = any() & ((1u << format.fraction_bits()) - 1);
    return (any() & format.sign()) | exponent << format.fraction_bits() | fraction;
  };
  Case c;
  c.op = op;
  c.acc = acc;
  c.offset_seed = random();
  c.codes.assign(sources, std::vector<uint32_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const bool wild = random() % 8 == 0;
    for (size_t s = 0; s < sources; ++s) c.codes[s][i] = wild ? any() : tame();
  }
  std::uniform_real_distribution<float> factor(-1.5f, 1.5f);
  for (size_t s = 0; s < sources; ++s) c.scales.push_back(factor(random));
  return c;
}

}  // namespace sdmacc::cce
