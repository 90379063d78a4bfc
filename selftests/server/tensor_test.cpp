// SPDX-License-Identifier: MIT
// Registration of client memory: seals, ranges, access, alignment, limits, lifetime.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/server/tensor.hpp"
#include "selftests/server/harness.hpp"

namespace sdmacc::server {
namespace {

using testing::HasSubstr;

class Tensors : public testing::Test {
 protected:
  Tensors() : budget_(std::make_shared<MappedBytes>()) { budget_->limit = 1 << 20; }

  Result<TensorRef> map(const wire::UniqueFd& fd, std::uint64_t offset, std::uint64_t bytes,
                        std::uint32_t access = 0) {
    return Tensor::map(fd.get(), offset, bytes, access, budget_);
  }
  void refuses(const Result<TensorRef>& result, Errc code, const std::string& text) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code);
    EXPECT_THAT(result.error().text(), HasSubstr(text));
    EXPECT_EQ(budget_->used, 0u);
  }

  std::shared_ptr<MappedBytes> budget_;
};

wire::UniqueFd open_again(const wire::UniqueFd& fd, int flags) {
  return wire::UniqueFd(
      ::open(fmt::format("/proc/self/fd/{}", fd.get()).c_str(), flags | O_CLOEXEC));
}

TEST_F(Tensors, AreTheClientsMemoryAtAnyByteOffset) {
  const wire::UniqueFd fd = memory_file(20'000);
  const auto tensor = map(fd, 4097, 9000);
  ASSERT_TRUE(tensor) << tensor.error().text();
  EXPECT_EQ((*tensor)->bytes(), 9000u);
  EXPECT_TRUE((*tensor)->writable());
  EXPECT_EQ((*tensor)->offset(), 4097u);
  (*tensor)->data()[0] = std::byte{1};
  (*tensor)->data()[8999] = std::byte{2};
  unsigned char first = 0, last = 0;
  EXPECT_EQ(::pread(fd.get(), &first, 1, 4097), 1);
  EXPECT_EQ(::pread(fd.get(), &last, 1, 4097 + 8999), 1);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, 2);
}

TEST_F(Tensors, NeedTheShrinkSeal) {
  refuses(map(memory_file(4096, false), 0, 4096), Errc::Invalid,
          "seals 0x0 without F_SEAL_SHRINK (0x2): it could shrink while it is in use");
}

TEST_F(Tensors, MustBeMemfds) {
  wire::UniqueFd pipe_ends[2];
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pipe_ends[0].reset(ends[0]);
  pipe_ends[1].reset(ends[1]);
  refuses(map(pipe_ends[0], 0, 4096), Errc::Invalid, "is not a memfd");
  refuses(map(wire::UniqueFd(::eventfd(0, EFD_CLOEXEC)), 0, 4096), Errc::Invalid, "is not a memfd");
  refuses(map(wire::UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)), 0, 4096), Errc::Invalid,
          "is not a memfd");
}

TEST_F(Tensors, MustLieInTheirFile) {
  const wire::UniqueFd fd = memory_file(8192);
  EXPECT_TRUE(map(fd, 1, 8191));
  refuses(map(fd, 1, 8192), Errc::Range,
          "tensor of 8192 bytes at offset 1 is outside its memfd of 8192 bytes");
  refuses(map(fd, 8193, 1), Errc::Range, "is outside its memfd");
  refuses(map(fd, ~std::uint64_t{0}, 2), Errc::Range, "is outside its memfd");
  refuses(map(fd, 1, ~std::uint64_t{0}), Errc::Range, "is outside its memfd");
  refuses(map(fd, 0, 0), Errc::Invalid, "a tensor of 0 bytes");
}

// A memfd that was shrunk before it was sealed is as long as it is now.
TEST_F(Tensors, OfAShrunkFile) {
  const wire::UniqueFd fd = memory_file(8192, false);
  ASSERT_EQ(::ftruncate(fd.get(), 4096), 0);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  refuses(map(fd, 0, 8192), Errc::Range, "is outside its memfd of 4096 bytes");
  EXPECT_TRUE(map(fd, 0, 4096));
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
}

TEST_F(Tensors, AreReadOnlyWhenTheDescriptorIs) {
  const wire::UniqueFd fd = memory_file(4096);
  const wire::UniqueFd reading = open_again(fd, O_RDONLY);
  const auto tensor = map(reading, 0, 4096);
  ASSERT_TRUE(tensor) << tensor.error().text();
  EXPECT_FALSE((*tensor)->writable());
}

TEST_F(Tensors, CannotBeWrittenWithoutTheRight) {
  const wire::UniqueFd fd = memory_file(4096);
  refuses(map(open_again(fd, O_RDONLY), 0, 4096, SDMACC_ACCESS_READ | SDMACC_ACCESS_WRITE),
          Errc::Invalid, "write access to a memfd that is open for reading only");
  refuses(map(open_again(fd, O_WRONLY), 0, 4096), Errc::Invalid, "is not open for reading");
  refuses(map(open_again(fd, O_PATH), 0, 4096), Errc::Invalid, "memfd");
  refuses(map(fd, 0, 4096, 2), Errc::Invalid, "access 0x2 is neither read");
}

TEST_F(Tensors, CanAskForReadingOnly) {
  const auto tensor = map(memory_file(4096), 0, 4096, SDMACC_ACCESS_READ);
  ASSERT_TRUE(tensor);
  EXPECT_FALSE((*tensor)->writable());
}

TEST_F(Tensors, OfASealedFileCanOnlyBeRead) {
  const wire::UniqueFd fd = memory_file(4096);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  refuses(map(fd, 0, 4096), Errc::System, "for reading and writing): Operation not permitted");
  EXPECT_TRUE(map(fd, 0, 4096, SDMACC_ACCESS_READ));
}

TEST_F(Tensors, CountAgainstTheLimitInWholePages) {
  const wire::UniqueFd fd = memory_file(2 << 20);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  refuses(
      map(fd, 0, (1 << 20) + 1), Errc::NoSpace,
      "tensor of 1048577 bytes is over the limit of mapped memory: 0 of 1048576 bytes are in use");
  {
    const auto tensor = map(fd, 1, 1);
    EXPECT_EQ(budget_->used, page);
    EXPECT_FALSE(map(fd, 0, 1 << 20));
    EXPECT_EQ(budget_->used, page);
  }
  EXPECT_EQ(budget_->used, 0u);
}

TEST_F(Tensors, SayWhichMemoryTheyAre) {
  const wire::UniqueFd fd = memory_file(8192), other = memory_file(8192);
  const TensorRef a = map(fd, 0, 10).value(), b = map(fd, 4096, 10).value(),
                  c = map(other, 0, 10).value();
  EXPECT_EQ(a->inode(), b->inode());
  EXPECT_EQ(a->device(), b->device());
  EXPECT_NE(a->inode(), c->inode());
}

TEST_F(Tensors, GetTheLowestFreeNumberOrTheOneAskedFor) {
  const wire::UniqueFd fd = memory_file(4096);
  TensorTable table(4);
  const std::uint32_t seven = 7;
  EXPECT_EQ(table.add(map(fd, 0, 1).value(), nullptr).value(), 0u);
  EXPECT_EQ(table.add(map(fd, 0, 1).value(), &seven).value(), 7u);
  EXPECT_EQ(table.add(map(fd, 0, 1).value(), nullptr).value(), 1u);
  const auto taken = table.add(map(fd, 0, 1).value(), &seven);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().text(), "server: tensor 7 is registered already (busy)");
  EXPECT_TRUE(table.remove(0));
  EXPECT_EQ(table.add(map(fd, 0, 1).value(), nullptr).value(), 0u);
  EXPECT_EQ(table.remove(9).error().text(), "server: tensor 9 is not registered (not found)");
  EXPECT_TRUE(table.add(map(fd, 0, 1).value(), nullptr));
  EXPECT_EQ(table.add(map(fd, 0, 1).value(), nullptr).error().text(),
            "server: limit of 4 tensors a client reached (no space)");
}

TEST(Register, MapsAndUnregisterUnmaps) {
  TestDaemon daemon;
  RawClient client(daemon);
  client.hello();
  const wire::UniqueFd fd = memory_file(3 * 4096);
  const Reply first = client.register_memory(fd, 0, 4096);
  EXPECT_EQ(first.message.u32(SDMACC_FIELD_TENSOR, 9), 0u);
  EXPECT_EQ(first.message.u32(SDMACC_FIELD_ACCESS), SDMACC_ACCESS_READ | SDMACC_ACCESS_WRITE);
  EXPECT_EQ(client.register_memory(fd, 4096, 8192).message.u32(SDMACC_FIELD_TENSOR), 1u);
  EXPECT_EQ(daemon.view().mapped_bytes, 3u * 4096);
  EXPECT_EQ(daemon.view().sessions[0].tensors, 2u);
  EXPECT_EQ(client.register_memory(memory_file(10, false), 0, 10).code(), Errc::Invalid);
  EXPECT_EQ(
      client.ask(wire::MessageWriter(SDMACC_FRAME_UNREGISTER, 1, 5).u32(SDMACC_FIELD_TENSOR, 0))
          .code(),
      Errc::Ok);
  EXPECT_EQ(daemon.view().mapped_bytes, 2u * 4096);
  EXPECT_EQ(
      client.ask(wire::MessageWriter(SDMACC_FRAME_UNREGISTER, 1, 5).u32(SDMACC_FIELD_TENSOR, 0))
          .code(),
      Errc::NotFound);
  EXPECT_THAT(daemon.events(), testing::ElementsAre("tensor gone 4096"));
}

TEST(Register, KeepsNoDescriptor) {
  TestDaemon daemon;
  RawClient client(daemon);
  client.hello();
  const wire::UniqueFd fd = memory_file(4096);
  const std::size_t before = open_files();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.register_memory(fd, 0, 4096).code(), Errc::Ok);
  daemon.view();  // when this is done, so is the last frame
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace sdmacc::server
