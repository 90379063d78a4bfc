// SPDX-License-Identifier: MIT
// The C interface: tensors, which are ranges of sealed memfds that the daemon maps too.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libuapi/client/handles.hpp"
#include "libuapi/client/socket.hpp"

using namespace sdmacc;
using namespace sdmacc::client;

namespace {

tl::unexpected<Error> failed(const char* call) {
  return fail(Errc::System, Stage::Client, kNoIndex, "{} for a tensor: {}", call,
              wire::errno_text(errno));
}

Result<wire::UniqueFd> new_memory(std::uint64_t bytes) {
  wire::UniqueFd fd(::memfd_create("sdmacc-tensor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return failed("memfd_create");
  if (bytes > static_cast<std::uint64_t>(INT64_MAX)) {
    return fail(Errc::NoSpace, Stage::Client, kNoIndex, "tensor of {} bytes", bytes);
  }
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return failed("ftruncate");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failed("fcntl(F_ADD_SEALS)");
  }
  return fd;
}

// Maps it here too, unless the daemon is going to refuse it anyway, whose text is better.
Result<wire::Mapping> map_here(int fd, std::uint64_t offset, std::uint64_t bytes) {
  struct stat file;
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fstat(fd, &file) != 0) return failed("fstat");
  const auto size = static_cast<std::uint64_t>(file.st_size);
  if (bytes == 0 || offset > size || bytes > size - offset || (flags & O_ACCMODE) == O_WRONLY) {
    return wire::Mapping();
  }
  return wire::Mapping::map(fd, offset, bytes, (flags & O_ACCMODE) == O_RDWR, Stage::Client,
                            "a tensor");
}

Status add(sdmacc_tensor& tensor, std::uint64_t offset) {
  SDMACC_TRY(tensor.mapping, map_here(tensor.fd.get(), offset, tensor.bytes));
  wire::MessageWriter frame(SDMACC_FRAME_REGISTER, tensor.link->version(), 0);
  frame.u64(SDMACC_FIELD_OFFSET, offset).u64(SDMACC_FIELD_BYTES, tensor.bytes);
  const int fd = tensor.fd.get();
  Pending pending;
  SDMACC_CHECK(tensor.link->call(frame.finish(), std::span(&fd, 1), pending, answer_deadline()));
  SDMACC_TRY(const wire::Message answer, wire::parse_message(pending.bytes, Stage::Client));
  tensor.id = answer.u32(SDMACC_FIELD_TENSOR);
  return {};
}

int make(sdmacc_connection* connection, wire::UniqueFd fd, std::uint64_t offset,
         std::uint64_t bytes, sdmacc_tensor** tensor) {
  auto made = std::make_unique<sdmacc_tensor>();
  made->link = connection->link;
  made->fd = std::move(fd);
  made->bytes = bytes;
  if (const Status added = add(*made, offset); !added) return report(added);
  *tensor = made.release();
  return SDMACC_OK;
}

}  // namespace

int sdmacc_tensor_alloc(sdmacc_connection* connection, uint64_t bytes, sdmacc_tensor** tensor) {
  if (tensor == nullptr) return refuse_argument("tensor is NULL");
  *tensor = nullptr;
  if (connection == nullptr) return refuse_argument("connection is NULL");
  if (bytes == 0) return refuse_argument("a tensor of 0 bytes");
  Result<wire::UniqueFd> fd = new_memory(bytes);
  if (!fd) return report(fd.error());
  return make(connection, std::move(*fd), 0, bytes, tensor);
}

int sdmacc_tensor_import(sdmacc_connection* connection, int fd, uint64_t offset, uint64_t bytes,
                         sdmacc_tensor** tensor) {
  if (tensor == nullptr) return refuse_argument("tensor is NULL");
  *tensor = nullptr;
  if (connection == nullptr) return refuse_argument("connection is NULL");
  wire::UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own) return refuse_argument("fd {}: {}", fd, wire::errno_text(errno));
  return make(connection, std::move(own), offset, bytes, tensor);
}

void* sdmacc_tensor_data(const sdmacc_tensor* tensor) {
  return tensor ? tensor->mapping.data() : nullptr;
}

uint64_t sdmacc_tensor_bytes(const sdmacc_tensor* tensor) {
  return tensor ? tensor->bytes : 0;
}

uint32_t sdmacc_tensor_id(const sdmacc_tensor* tensor) {
  return tensor ? tensor->id : 0;
}

int sdmacc_tensor_fd(const sdmacc_tensor* tensor) {
  return tensor ? tensor->fd.get() : -1;
}

int sdmacc_tensor_free(sdmacc_tensor* tensor) {
  if (tensor == nullptr) return SDMACC_OK;
  wire::MessageWriter frame(SDMACC_FRAME_UNREGISTER, tensor->link->version(), 0);
  frame.u32(SDMACC_FIELD_TENSOR, tensor->id);
  Pending pending;
  const int code = report(tensor->link->call(frame.finish(), {}, pending, answer_deadline()));
  delete tensor;
  return code;
}
