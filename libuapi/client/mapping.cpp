// SPDX-License-Identifier: MIT
// mmap in whole pages, of whatever size the file's are; see mapping.hpp.
#include "libuapi/client/mapping.hpp"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "libuapi/client/socket.hpp"

namespace sdmacc::wire {

constexpr std::uint64_t kHugePage = 2u << 20;

Result<Mapping> Mapping::map(int fd, std::uint64_t offset, std::uint64_t bytes, bool writable,
                             Stage stage, const char* what) {
  struct statfs system;
  if (::fstatfs(fd, &system) != 0) {
    return fail(Errc::System, stage, kNoIndex, "fstatfs of {}: {}", what, errno_text(errno));
  }
  // A mapping in hugetlbfs must begin and end at its pages.
  const std::uint64_t page = system.f_type == HUGETLBFS_MAGIC
                                 ? static_cast<std::uint64_t>(system.f_bsize)
                                 : static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t start = offset / page * page;
  const std::uint64_t length = (offset - start + bytes + page - 1) / page * page;
  void* pages = ::mmap(nullptr, length, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                       fd, static_cast<off_t>(start));
  if (pages == MAP_FAILED) {
    const int error = errno;
    return fail(error == ENOMEM ? Errc::NoSpace : Errc::System, stage, kNoIndex,
                "mmap of {} ({} bytes, for {}): {}", what, length,
                writable ? "reading and writing" : "reading", errno_text(error));
  }
  if (length >= kHugePage) ::madvise(pages, length, MADV_HUGEPAGE);  // a wish
  Mapping out;
  out.pages_ = static_cast<std::byte*>(pages);
  out.skipped_ = offset - start;
  out.page_bytes_ = length;
  return out;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(skipped_, other.skipped_);
  std::swap(page_bytes_, other.page_bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (pages_ != nullptr) ::munmap(pages_, page_bytes_);
}

}  // namespace sdmacc::wire
