// SPDX-License-Identifier: MIT
// Tensors of a session: pieces of client memfds, mapped once at registration. A Tensor stays mapped
// until the last TensorRef is dropped, so an operation in flight survives its owner.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "libuapi/client/mapping.hpp"
#include "libuapi/support/result.hpp"

namespace sdmacc::server {

// Bytes that all sessions have mapped, in whole pages, against one limit.
struct MappedBytes {
  std::atomic<std::uint64_t> used{0};  // goes down on whatever thread drops the last TensorRef
  std::uint64_t limit = 0;
};

class Tensor {
 public:
  // Maps [offset, offset + bytes) of a memfd that cannot shrink. `access` is SDMACC_ACCESS_* or 0,
  // which takes what the descriptor was opened for. Nothing is kept of fd.
  static Result<std::shared_ptr<const Tensor>> map(int fd, std::uint64_t offset,
                                                   std::uint64_t bytes, std::uint32_t access,
                                                   std::shared_ptr<MappedBytes> budget);
  ~Tensor();
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  std::byte* data() const { return mapping_.data(); }  // not to be written unless writable()
  std::uint64_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }

  // Where the bytes are: equal files and overlapping ranges are the same memory.
  dev_t device() const { return device_; }
  ino_t inode() const { return inode_; }
  std::uint64_t offset() const { return offset_; }

 private:
  Tensor() = default;

  std::uint64_t bytes_ = 0;
  bool writable_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t offset_ = 0;
  wire::Mapping mapping_;
  std::shared_ptr<MappedBytes> budget_;
};

using TensorRef = std::shared_ptr<const Tensor>;

// Numbers of one session and their tensors.
class TensorTable {
 public:
  explicit TensorTable(std::uint32_t limit) : limit_(limit) {}

  // The tensor's number: `wanted`, or the lowest free one.
  Result<std::uint32_t> add(TensorRef tensor, const std::uint32_t* wanted);
  Result<TensorRef> remove(std::uint32_t id);
  Result<TensorRef> find(std::uint32_t id) const;

  const std::map<std::uint32_t, TensorRef>& all() const { return tensors_; }
  std::uint64_t mapped_bytes() const;

 private:
  std::uint32_t limit_;
  std::map<std::uint32_t, TensorRef> tensors_;
};

}  // namespace sdmacc::server
