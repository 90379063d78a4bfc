// SPDX-License-Identifier: MIT
// The parts of the training: the gradient against differences of the loss, the file reader, and the
// dealing of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "selftests/digits/data.hpp"
#include "selftests/digits/model.hpp"

namespace digits {
namespace {

Row row_of(std::uint32_t label) {
  Row row{};
  for (std::size_t i = 0; i < kPixels; ++i)
    row.pixels[i] = static_cast<float>((i * 7 + label * 13) % 17) / 16;
  row.label = label;
  return row;
}

std::vector<Row> some_rows(std::size_t count) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < count; ++i)
    rows.push_back(row_of(static_cast<std::uint32_t>(i % kClasses)));
  return rows;
}

TEST(Model, GradientIsTheSlopeOfTheLoss) {
  const std::vector<Row> rows = some_rows(10);
  const Model at;
  std::vector<float> gradient(at.size()), ignored(at.size());
  at.gradient(rows, gradient);
  double squares = 0;
  for (const float g : gradient) squares += static_cast<double>(g) * g;
  ASSERT_GT(squares, 1e-3);
  // Along the gradient the mean loss falls by its length squared times the rate.
  constexpr float kRate = 1e-3f;
  Model after = at;
  after.step(gradient, kRate);
  const double fall = (at.gradient(rows, ignored) - after.gradient(rows, ignored)) /
                      static_cast<double>(rows.size());
  EXPECT_NEAR(fall / (squares * kRate), 1, 0.05);
}

TEST(Model, EachParameterHasItsOwnSlope) {
  const std::vector<Row> rows = some_rows(4);
  const Model at;
  std::vector<float> gradient(at.size()), ignored(at.size());
  at.gradient(rows, gradient);
  for (std::size_t i = 5; i < at.size(); i += 97) {
    constexpr float kStep = 1e-2f;
    std::vector<float> one(at.size());
    one[i] = 1;
    Model up = at, down = at;
    up.step(one, -kStep);
    down.step(one, kStep);
    const double slope =
        (up.gradient(rows, ignored) - down.gradient(rows, ignored)) / (2 * kStep * 4.0);
    EXPECT_NEAR(slope, gradient[i], 2e-3) << i;
  }
}

TEST(Model, StartsTheSameAndItsDigestSeesEachBit) {
  Model a, b;
  EXPECT_EQ(a.digest(), b.digest());
  std::vector<float> gradient(a.size());
  gradient[a.size() - 1] = 1e-20f;
  b.step(gradient, 1);
  EXPECT_NE(a.digest(), b.digest());
}

TEST(Rows, AreDealtOnceOrHeldOut) {
  std::vector<Row> rows = some_rows(103);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].pixels[0] = static_cast<float>(i);
  std::vector<int> seen(rows.size());
  for (const Row& row : held_out(rows)) ++seen[static_cast<std::size_t>(row.pixels[0])];
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto share = share_of(rows, rank, 4);
    EXPECT_NEAR(static_cast<double>(share.size()), 82 / 4.0, 1);
    for (const Row& row : share) ++seen[static_cast<std::size_t>(row.pixels[0])];
  }
  EXPECT_EQ(seen, std::vector<int>(rows.size(), 1));
}

class File : public testing::Test {
 protected:
  std::string write(std::size_t lines, const std::string& odd = "") {
    std::ofstream file(path_);
    for (std::size_t i = 0; i < lines; ++i) {
      for (std::size_t p = 0; p < kPixels; ++p) file << (p + i) % 17 << ',';
      file << i % 10 << '\n';
    }
    file << odd;
    return path_;
  }
  ~File() override { std::remove(path_.c_str()); }
  const std::string path_ = testing::TempDir() + "digits_test.csv";
  std::string error_;
};

TEST_F(File, IsReadToTheLastRow) {
  const auto rows = read_csv(write(120), error_);
  ASSERT_EQ(rows.size(), 120u) << error_;
  EXPECT_FLOAT_EQ(rows[3].pixels[4], 7.0f / 16);
  EXPECT_EQ(rows[119].label, 9u);
}

TEST_F(File, ABadLineIsNamed) {
  EXPECT_TRUE(read_csv(write(110, "1,2,3\n"), error_).empty());
  EXPECT_NE(error_.find("line 111"), std::string::npos) << error_;
  EXPECT_TRUE(read_csv(write(110, std::string(64 * 2, ' ') + "x\n"), error_).empty());
}

TEST_F(File, ThatIsNotThereIsSaid) {
  EXPECT_TRUE(read_csv(path_, error_).empty());
  EXPECT_NE(error_.find("cannot be read"), std::string::npos) << error_;
}

TEST_F(File, TooFewRowsAreRefused) {
  EXPECT_TRUE(read_csv(write(10), error_).empty());
  EXPECT_NE(error_.find("10 rows"), std::string::npos) << error_;
}

}  // namespace
}  // namespace digits
