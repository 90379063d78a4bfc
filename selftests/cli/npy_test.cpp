// SPDX-License-Identifier: MIT
// .npy files: round trips of every type and shape, headers as NumPy writes them, and what is
// refused, with why.
#include "daemon/cli/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sdmacc::cli {
namespace {

using testing::HasSubstr;

// A file with this header, padded as NumPy does, and data.
std::string file_of(std::string header, const std::string& data, int major = 1) {
  const std::size_t before = major == 1 ? 10 : 12;
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(major);
  out += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    out += static_cast<char>(header.size() >> 8 * i & 0xff);
  return out + header + data;
}

std::string error_of(const std::string& file) {
  const auto array = parse_npy("x.npy", file);
  return array ? "no error" : array.error().context;
}

struct Form {
  const char* descr;
  std::vector<std::uint64_t> shape;
  std::size_t bytes;
  bool fortran = false;
};
class NpyRoundTrip : public testing::TestWithParam<Form> {};

TEST_P(NpyRoundTrip, KeepsAll) {
  NpyArray array;
  array.descr = GetParam().descr;
  array.shape = GetParam().shape;
  array.fortran_order = GetParam().fortran;
  for (std::size_t i = 0; i < GetParam().bytes; ++i) array.data += static_cast<char>(i * 37 + 1);
  const std::string file = make_npy(array);
  EXPECT_EQ((file.size() - array.data.size()) % 64, 0u);
  const auto back = parse_npy("x.npy", file);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_TRUE(back->same_form(array)) << back->form_text();
  EXPECT_EQ(back->data, array.data);
}

INSTANTIATE_TEST_SUITE_P(Forms, NpyRoundTrip,
                         testing::Values(Form{"<f4", {3, 4}, 48}, Form{"<f2", {5}, 10},
                                         Form{"<u2", {2, 1, 2}, 8, true}, Form{"|u1", {7}, 7},
                                         Form{"<f4", {}, 4}, Form{"<f4", {0, 9}, 0},
                                         Form{"<V2", {3}, 6}, Form{"|V1", {1}, 1},
                                         Form{"<f4", std::vector<std::uint64_t>(30000, 1), 4}));

TEST(Npy, ReadsWhatNumPyWrites) {
  const auto one = parse_npy(
      "x.npy", file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "12345678"));
  ASSERT_TRUE(one) << one.error().text();
  EXPECT_EQ(one->count(), 2u);
  for (const int major : {2, 3}) {
    const auto array = parse_npy(
        "x.npy",
        file_of("{\"shape\": (1, 3), \"descr\": \"|u1\", \"fortran_order\": True}", "abc", major));
    ASSERT_TRUE(array) << array.error().text();
    EXPECT_EQ(array->form_text(), "|u1 (1, 3) in Fortran order");
  }
}

TEST(Npy, RefusesWithReason) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(error_of(file_of(good, "12345678")), "no error");
  EXPECT_THAT(error_of("PK\3\4something"), HasSubstr("no NumPy file"));
  EXPECT_THAT(error_of(std::string("\x93NUMPY\1", 7)), HasSubstr("ends after 7 bytes"));
  EXPECT_THAT(error_of(file_of(good, "12345678", 4)), HasSubstr("format 4.0"));
  EXPECT_THAT(error_of(file_of(good, "1234567")),
              HasSubstr("needs 8 bytes of data, the file has 7"));
  EXPECT_THAT(error_of(file_of(good, "123456789")),
              HasSubstr("needs 8 bytes of data, the file has 9"));
  EXPECT_THAT(error_of(file_of(good, "").substr(0, 40)), HasSubstr("the header has"));
  EXPECT_THAT(
      error_of(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", "12345678")),
      HasSubstr("'<f8'"));
  EXPECT_THAT(error_of(file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "1234")),
              HasSubstr("'>f4'"));
  EXPECT_THAT(
      error_of(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
      HasSubstr("has no ''' at character"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'shape': (1,)}", "1234")),
              HasSubstr("no 'fortran_order'"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "1234")),
              HasSubstr("neither True nor False"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "1234")),
              HasSubstr("no number"));
  EXPECT_THAT(
      error_of(file_of(
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "")),
      HasSubstr("more than 2^64"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'x': '1', 'shape': (1,)}", "1234")),
              HasSubstr("unknown key 'x'"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4", "")), HasSubstr("ends inside a string"));
}

std::string type_of(const char* descr, std::optional<DType> wanted) {
  NpyArray array;
  array.descr = descr;
  const auto dtype = npy_dtype("x.npy", array, wanted);
  return dtype ? std::string(name(*dtype)) : dtype.error().context;
}

TEST(Npy, TypeOfElements) {
  EXPECT_EQ(type_of("<f4", std::nullopt), "FP32");
  EXPECT_EQ(type_of("<f4", DType::Fp32), "FP32");
  EXPECT_EQ(type_of("<f2", std::nullopt), "FP16");
  EXPECT_EQ(type_of("<u2", DType::Bf16), "BF16");
  EXPECT_EQ(type_of("<V2", DType::Bf16), "BF16");
  EXPECT_EQ(type_of("|u1", DType::Fp8e4), "FP8E4");
  EXPECT_THAT(type_of("<u2", std::nullopt), HasSubstr("--dtype says of what: bf16"));
  EXPECT_THAT(type_of("|u1", std::nullopt), HasSubstr("fp8e3, fp8e4 or fp8e5"));
  EXPECT_THAT(type_of("<f4", DType::Bf16), HasSubstr("come as raw bits (uint16)"));
  EXPECT_THAT(type_of("<f2", DType::Fp32), HasSubstr("not FP32"));
  EXPECT_THAT(type_of("<u2", DType::Fp8e4), HasSubstr("elements of 2 bytes"));
  EXPECT_THAT(type_of("<u2", DType::Uint16), HasSubstr("UINT16"));
}

}  // namespace
}  // namespace sdmacc::cli
