// SPDX-License-Identifier: MIT
// NumPy's .npy files, formats 1.0 to 3.0, of the element types that a reduction knows: float32,
// float16, and the raw bits of BF16 and FP8 as 2- and 1-byte integers or void elements.
// Little-endian and C or Fortran order, which is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/world/types.hpp"

namespace sdmacc::cli {

struct NpyArray {
  std::string descr;  // "<f4", "<f2", "<u2", "|u1", "<V2", "|V2", "|V1"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;  // empty: one element
  std::string data;                  // elements as they are in the file

  std::uint64_t count() const;  // elements
  bool same_form(const NpyArray& other) const;
  std::string form_text() const;  // "<f4 (3, 4)"
};

// `name` is for errors: what is wrong, at which key, with the value.
Result<NpyArray> parse_npy(const std::string& name, std::string_view bytes);
// Format 1.0, or 2.0 when the header is too long for it; the data starts at a multiple of 64.
std::string make_npy(const NpyArray& array);

// The type of the elements: what `descr` says, or for raw bits what `wanted` says; they must fit
// each other.
Result<DType> npy_dtype(const std::string& name, const NpyArray& array,
                        std::optional<DType> wanted);

}  // namespace sdmacc::cli
