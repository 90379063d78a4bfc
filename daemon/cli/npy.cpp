// SPDX-License-Identifier: MIT
// Implements npy.hpp. The header is a Python dictionary of three keys, which a small reader takes
// apart.
#include "daemon/cli/npy.hpp"

#include <charconv>

namespace sdmacc::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlign = 64;

struct Kind {
  std::string_view descr;
  std::uint64_t bytes;
  std::optional<DType> dtype;  // nothing: raw bits
};
constexpr Kind kKinds[] = {
    {"<f4", 4, DType::Fp32},  {"<f2", 2, DType::Fp16},  {"<u2", 2, std::nullopt},
    {"<V2", 2, std::nullopt}, {"|V2", 2, std::nullopt}, {"|u1", 1, std::nullopt},
    {"|V1", 1, std::nullopt}, {"<V1", 1, std::nullopt}, {"<u1", 1, std::nullopt}};

const Kind* find_kind(std::string_view descr) {
  for (const Kind& kind : kKinds)
    if (kind.descr == descr) return &kind;
  return nullptr;
}

template <typename... Args>
tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Errc::Invalid, Stage::None, kNoIndex, format, std::forward<Args>(args)...);
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    out += fmt::format("{}{}", i > 0 ? ", " : "", shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

// Reads the dictionary of a header from left to right.
class HeaderReader {
 public:
  HeaderReader(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  Result<NpyArray> run() {
    NpyArray array;
    bool descr = false, order = false, shape = false;
    SDMACC_CHECK(expect('{'));
    while (!take('}')) {
      SDMACC_TRY(const std::string key, string());
      SDMACC_CHECK(expect(':'));
      if (key == "descr") {
        SDMACC_TRY(array.descr, string());
        descr = true;
      } else if (key == "fortran_order") {
        SDMACC_TRY(array.fortran_order, boolean());
        order = true;
      } else if (key == "shape") {
        SDMACC_TRY(array.shape, tuple());
        shape = true;
      } else {
        return refuse("{}: the header has an unknown key '{}'", name_, key);
      }
      if (!take(',')) {
        SDMACC_CHECK(expect('}'));
        break;
      }
    }
    if (!descr || !order || !shape)
      return refuse("{}: the header has no '{}'", name_,
                    !descr   ? "descr"
                    : !order ? "fortran_order"
                             : "shape");
    return array;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Status expect(char c) {
    if (take(c)) return {};
    return refuse("{}: the header has no '{}' at character {}: {}", name_, c, at_, text_);
  }
  Result<std::string> string() {
    const char quote = take('"') ? '"' : '\'';
    if (quote == '\'') SDMACC_CHECK(expect('\''));
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos)
      return refuse("{}: the header ends inside a string: {}", name_, text_);
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  Result<bool> boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    return refuse("{}: fortran_order is neither True nor False: {}", name_, text_);
  }
  Result<std::vector<std::uint64_t>> tuple() {
    std::vector<std::uint64_t> out;
    SDMACC_CHECK(expect('('));
    while (!take(')')) {
      skip_space();
      std::uint64_t value = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc{})
        return refuse("{}: the shape has no number at character {}: {}", name_, at_, text_);
      at_ = static_cast<std::size_t>(end - text_.data());
      out.push_back(value);
      if (!take(',')) {
        SDMACC_CHECK(expect(')'));
        break;
      }
    }
    return out;
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The bytes of all elements, or nothing when 64 bits do not hold them.
std::optional<std::uint64_t> total_bytes(const std::vector<std::uint64_t>& shape,
                                         std::uint64_t element) {
  std::uint64_t total = element;
  for (const std::uint64_t n : shape)
    if (__builtin_mul_overflow(total, n, &total)) return std::nullopt;
  return total;
}

std::string bits_text(DType dtype) {
  return element_bytes(dtype) == 2 ? "uint16" : "uint8";
}

}  // namespace

std::uint64_t NpyArray::count() const {
  return total_bytes(shape, 1).value_or(0);
}

bool NpyArray::same_form(const NpyArray& other) const {
  return descr == other.descr && shape == other.shape && fortran_order == other.fortran_order;
}

std::string NpyArray::form_text() const {
  return fmt::format("{} {}{}", descr, shape_text(shape), fortran_order ? " in Fortran order" : "");
}

Result<NpyArray> parse_npy(const std::string& name, std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return refuse("{}: is no NumPy file: it does not start with \\x93NUMPY", name);
  if (bytes.size() < 10)
    return refuse("{}: ends after {} bytes, inside the header", name, bytes.size());
  const unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return refuse("{}: has format {}.{}; 1.0 to 3.0 are read", name, version,
                  static_cast<unsigned>(bytes[7]));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::uint64_t length = little_endian(bytes.substr(8, length_bytes));
  const std::string_view rest = bytes.substr(std::min(bytes.size(), 8 + length_bytes));
  if (rest.size() < length)
    return refuse("{}: the header has {} bytes and the file {}", name, length, bytes.size());
  SDMACC_TRY(NpyArray array, HeaderReader(name, rest.substr(0, length)).run());
  const Kind* kind = find_kind(array.descr);
  if (kind == nullptr)
    return refuse(
        "{}: elements of type '{}' do not reduce; float32 (<f4), float16 (<f2), and raw bits of "
        "BF16 (<u2) and "
        "FP8 (|u1) do",
        name, array.descr);
  const std::string_view data = rest.substr(length);
  const auto wanted = total_bytes(array.shape, kind->bytes);
  if (!wanted || *wanted != data.size())
    return refuse("{}: shape {} of {} needs {} bytes of data, the file has {}", name,
                  shape_text(array.shape), array.descr,
                  wanted ? fmt::format("{}", *wanted) : "more than 2^64", data.size());
  array.data = data;
  return array;
}

std::string make_npy(const NpyArray& array) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", array.descr,
                  array.fortran_order ? "True" : "False", shape_text(array.shape));
  const bool small = header.size() + kAlign <= 0xffff;
  const std::size_t before = kMagic.size() + 2 + (small ? 2 : 4);
  header.append((kAlign - (before + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string out(kMagic);
  out += small ? '\1' : '\2';
  out += '\0';
  for (std::size_t i = 0; i < (small ? 2u : 4u); ++i)
    out += static_cast<char>(header.size() >> 8 * i & 0xff);
  return out + header + array.data;
}

Result<DType> npy_dtype(const std::string& name, const NpyArray& array,
                        std::optional<DType> wanted) {
  const Kind* kind = find_kind(array.descr);
  if (kind == nullptr) return refuse("{}: elements of type '{}'", name, array.descr);
  if (kind->dtype) {
    if (!wanted || *wanted == *kind->dtype) return *kind->dtype;
    if (element_bytes(*wanted) == 4)
      return refuse("{}: holds {}, which is not FP32", name, array.descr);
    return refuse("{}: holds {}, and {} elements come as raw bits ({})", name, array.descr,
                  sdmacc::name(*wanted), *wanted == DType::Fp16 ? "float16" : bits_text(*wanted));
  }
  if (!wanted)
    return refuse("{}: holds raw bits ({}); --dtype says of what: {}", name, array.descr,
                  kind->bytes == 2 ? "bf16 or fp16" : "fp8e3, fp8e4 or fp8e5");
  if (!reducible(*wanted) || element_bytes(*wanted) != kind->bytes)
    return refuse("{}: holds elements of {} bytes ({}), and {} has {}", name, kind->bytes,
                  array.descr, sdmacc::name(*wanted), element_bytes(*wanted));
  return *wanted;
}

}  // namespace sdmacc::cli
