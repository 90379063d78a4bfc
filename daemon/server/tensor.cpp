// SPDX-License-Identifier: MIT
// Mapping of client memory: what may be mapped, and why not.
#include "daemon/server/tensor.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "libuapi/abi/wire.h"
#include "libuapi/client/socket.hpp"

namespace sdmacc::server {
namespace {

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

// Whether the file is shared memory that cannot shrink: an access beyond its end would be a SIGBUS.
Status check_seals(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0) {
    return refuse(Errc::Invalid, "the tensor's file is not a memfd, so it cannot be sealed ({})",
                  wire::errno_text(errno));
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    return refuse(Errc::Invalid,
                  "the tensor's memfd has seals {:#x} without F_SEAL_SHRINK ({:#x}): it could "
                  "shrink while it is in use; add the seal with fcntl(F_ADD_SEALS)",
                  seals, F_SEAL_SHRINK);
  }
  return {};
}

// Whether to map for writing, from what is asked for and what the descriptor allows.
Result<bool> check_access(int fd, std::uint32_t access) {
  constexpr std::uint32_t both = SDMACC_ACCESS_READ | SDMACC_ACCESS_WRITE;
  if (access != 0 && access != SDMACC_ACCESS_READ && access != both) {
    return refuse(Errc::Invalid, "access {:#x} is neither read ({:#x}) nor read and write ({:#x})",
                  access, SDMACC_ACCESS_READ, both);
  }
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return refuse(Errc::System, "fcntl(F_GETFL): {}", wire::errno_text(errno));
  const int mode = flags & O_ACCMODE;
  if (mode == O_WRONLY || (flags & O_PATH) != 0) {
    return refuse(Errc::Invalid, "the tensor's memfd is not open for reading");
  }
  if (access == both && mode != O_RDWR) {
    return refuse(Errc::Invalid, "write access to a memfd that is open for reading only");
  }
  return access == 0 ? mode == O_RDWR : access == both;
}

}  // namespace

Result<TensorRef> Tensor::map(int fd, std::uint64_t offset, std::uint64_t bytes,
                              std::uint32_t access, std::shared_ptr<MappedBytes> budget) {
  SDMACC_CHECK(check_seals(fd));
  SDMACC_TRY(const bool writable, check_access(fd, access));
  struct stat file;
  if (::fstat(fd, &file) != 0) return refuse(Errc::System, "fstat: {}", wire::errno_text(errno));
  const std::uint64_t size = static_cast<std::uint64_t>(file.st_size);
  if (bytes == 0) return refuse(Errc::Invalid, "a tensor of 0 bytes");
  if (offset > size || bytes > size - offset) {
    return refuse(Errc::Range, "tensor of {} bytes at offset {} is outside its memfd of {} bytes",
                  bytes, offset, size);
  }
  std::shared_ptr<Tensor> tensor(new Tensor);
  SDMACC_TRY(tensor->mapping_,
             wire::Mapping::map(fd, offset, bytes, writable, Stage::Server, "a tensor"));
  const std::uint64_t used = budget->used, more = tensor->mapping_.page_bytes();
  if (used > budget->limit || more > budget->limit - used) {
    return refuse(
        Errc::NoSpace,
        "tensor of {} bytes is over the limit of mapped memory: {} of {} bytes are in use", bytes,
        used, budget->limit);
  }
  tensor->bytes_ = bytes;
  tensor->writable_ = writable;
  tensor->device_ = file.st_dev;
  tensor->inode_ = file.st_ino;
  tensor->offset_ = offset;
  tensor->budget_ = std::move(budget);
  tensor->budget_->used += more;
  return TensorRef(std::move(tensor));
}

Tensor::~Tensor() {
  if (budget_) budget_->used -= mapping_.page_bytes();
}

Result<std::uint32_t> TensorTable::add(TensorRef tensor, const std::uint32_t* wanted) {
  if (tensors_.size() >= limit_) {
    return refuse(Errc::NoSpace, "limit of {} tensors a client reached", limit_);
  }
  std::uint32_t id = 0;
  if (wanted != nullptr) {
    id = *wanted;
  } else {
    for (auto it = tensors_.begin(); it != tensors_.end() && it->first == id; ++it) ++id;
  }
  if (!tensors_.emplace(id, std::move(tensor)).second) {
    return refuse(Errc::Busy, "tensor {} is registered already", id);
  }
  return id;
}

Result<TensorRef> TensorTable::remove(std::uint32_t id) {
  SDMACC_TRY(TensorRef tensor, find(id));
  tensors_.erase(id);
  return tensor;
}

Result<TensorRef> TensorTable::find(std::uint32_t id) const {
  const auto found = tensors_.find(id);
  if (found == tensors_.end()) return refuse(Errc::NotFound, "tensor {} is not registered", id);
  return found->second;
}

std::uint64_t TensorTable::mapped_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [id, tensor] : tensors_) sum += tensor->bytes();
  return sum;
}

}  // namespace sdmacc::server
