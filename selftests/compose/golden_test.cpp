// SPDX-License-Identifier: MIT
// Compares the print of small Schedules with selftests/golden/compose/*.txt; SDMACC_UPDATE_GOLDEN=1
// writes the files anew.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "selftests/compose/shapes.hpp"

namespace sdmacc::test {
namespace {

struct GoldenCase {
  const char* file;
  const char* id;
  Shape shape;
};

void PrintTo(const GoldenCase& c, std::ostream* os) {
  *os << c.file;
}

class ComposeGolden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(ComposeGolden, PrintIsUnchanged) {
  const GoldenCase& c = GetParam();
  const std::string path = std::string(SDMACC_GOLDEN_DIR) + "/" + c.file + ".txt";
  const std::string text = to_string(built(algorithm_by_id(c.id), c.shape));
  if (std::getenv("SDMACC_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text);
}

INSTANTIATE_TEST_SUITE_P(
    Files, ComposeGolden,
    ::testing::Values(
        GoldenCase{"ring-1x64", "ring", shape(1, 64, 1, 32)},
        GoldenCase{"ring-2x256", "ring", shape(2, 256)},
        GoldenCase{"ring-3x5", "ring", shape(3, 5)},
        GoldenCase{"ring-4x1024-2slices", "ring", shape(4, 1024, 1, 512)},
        GoldenCase{"ring-3x1000-4channels", "ring", shape(3, 1000, 4)},
        GoldenCase{"ring-3x256-fma", "ring", shape(3, 256, 1, 1 << 20, 0, ReduceOp::Fma)},
        GoldenCase{"kangaring-2x128", "kangaring", shape(2, 128, 2, 1 << 20, 1)},
        GoldenCase{"kangaring-6x1024-2slices", "kangaring", shape(6, 1024, 2, 256, 1)},
        GoldenCase{"kangaring-8x512-s3", "kangaring", shape(8, 512, 1, 1 << 20, 3)},
        GoldenCase{"mesh-t0-2x100-2slices", "mesh-t0", shape(2, 100, 1, 50)},
        GoldenCase{"mesh-t2-1x7", "mesh-t2", shape(1, 7)},
        GoldenCase{"mesh-t2-4x256", "mesh-t2", shape(4, 256)},
        GoldenCase{"mesh-t2-34x34", "mesh-t2", shape(34, 34)},
        GoldenCase{"single-step-1x7", "single-step-mesh", shape(1, 7)},
        GoldenCase{"single-step-3x20-2slices", "single-step-mesh", shape(3, 20, 1, 10)},
        GoldenCase{"single-step-3x20-fma", "single-step-mesh",
                   shape(3, 20, 1, 1 << 20, 0, ReduceOp::Fma)}),
    [](const auto& param_info) {
      std::string name = param_info.param.file;
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

}  // namespace
}  // namespace sdmacc::test
