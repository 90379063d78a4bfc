// SPDX-License-Identifier: MIT
// sdmacc allreduce: reduces files, one client process for each, over the socket of a daemon. The
// tensors are memfds that this process makes and fills, and that the clients register; so nothing
// is copied on the way.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "daemon/cli/client.hpp"
#include "daemon/cli/command.hpp"
#include "daemon/cli/npy.hpp"
#include "daemon/cli/own_daemon.hpp"
#include "daemon/cli/ranks.hpp"
#include "daemon/cli/target.hpp"
#include "libuapi/client/unique_fd.hpp"

namespace sdmacc::cli {
namespace {

constexpr int kDefaultTimeout = -1;  // the daemon's

struct Options {
  std::vector<std::string> inputs;
  std::string op = "add", dtype, out, alg, socket;
  std::vector<float> scales;
  std::uint64_t count = 0;
  CLI::Option* count_option = nullptr;
};

// One rank's tensor.
class Memory {
 public:
  static Result<Memory> make(std::string_view content) {
    Memory m;
    m.bytes_ = std::max<std::size_t>(content.size(), 1);  // a tensor has at least one byte
    m.fd_ = wire::UniqueFd(::memfd_create("sdmacc-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!m.fd_ || ::ftruncate(m.fd_.get(), static_cast<off_t>(m.bytes_)) != 0 ||
        ::fcntl(m.fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
      return fail(Errc::System, Stage::None, kNoIndex, "cannot make a tensor of {} bytes: {}",
                  m.bytes_, std::strerror(errno));
    void* data = ::mmap(nullptr, m.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd_.get(), 0);
    if (data == MAP_FAILED)
      return fail(Errc::System, Stage::None, kNoIndex, "cannot map {} bytes: {}", m.bytes_,
                  std::strerror(errno));
    m.data_ = static_cast<char*>(data);
    std::memcpy(m.data_, content.data(), content.size());
    return m;
  }
  Memory(Memory&& other) noexcept
      : fd_(std::move(other.fd_)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(other.bytes_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  int fd() const { return fd_.get(); }
  std::size_t bytes() const { return bytes_; }
  std::string_view content(std::size_t bytes) const { return {data_, bytes}; }

 private:
  Memory() = default;
  wire::UniqueFd fd_;
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Input {
  NpyArray form;  // of the first input, without its data; unused for raw files
  DType dtype = DType::Fp32;
  std::uint64_t count = 0;
  std::vector<Memory> ranks;

  std::size_t bytes() const { return count * element_bytes(dtype); }
};

Result<Input> read_raw(const Options& o, std::optional<DType> dtype) {
  if (!dtype) return usage("raw files need --dtype");
  Input input;
  input.dtype = *dtype;
  input.count = o.count;
  if (input.count > (std::uint64_t{1} << 62) / element_bytes(*dtype))
    return usage("--count {} is too large", o.count);
  for (const std::string& path : o.inputs) {
    SDMACC_TRY(const std::string bytes, read_file(path));
    if (bytes.size() != input.bytes())
      return fail(Errc::Invalid, Stage::None, kNoIndex,
                  "{}: has {} bytes, {} elements of {} have {}", path, bytes.size(), o.count,
                  name(*dtype), input.bytes());
    SDMACC_TRY(Memory memory, Memory::make(bytes));
    input.ranks.push_back(std::move(memory));
  }
  return input;
}

Result<Input> read_npy(const Options& o, std::optional<DType> wanted) {
  Input input;
  for (const std::string& path : o.inputs) {
    SDMACC_TRY(const std::string bytes, read_file(path));
    SDMACC_TRY(NpyArray array, parse_npy(path, bytes));
    SDMACC_TRY(input.dtype, npy_dtype(path, array, wanted));
    SDMACC_TRY(Memory memory, Memory::make(array.data));
    array.data.clear();
    if (input.ranks.empty()) {
      input.form = array;
      input.count = array.count();
    } else if (!array.same_form(input.form)) {
      return fail(Errc::Mismatch, Stage::None, kNoIndex, "{}: is {}, and {} is {}", path,
                  array.form_text(), o.inputs.front(), input.form.form_text());
    }
    input.ranks.push_back(std::move(memory));
  }
  return input;
}

Status reduce_rank(const Options& o, const Input& input, ReduceOp op, const std::string& socket,
                   const std::string& name, std::uint32_t rank) {
  SDMACC_TRY(const Connection connection, connect(socket));
  SDMACC_TRY(
      const Group group,
      make<sdmacc_group>(sdmacc_group_join, connection.get(), name.c_str(),
                         static_cast<std::uint32_t>(input.ranks.size()), rank, kDefaultTimeout));
  const Memory& memory = input.ranks[rank];
  SDMACC_TRY(const Tensor tensor,
             make<sdmacc_tensor>(sdmacc_tensor_import, connection.get(), memory.fd(),
                                 std::uint64_t{0}, std::uint64_t{memory.bytes()}));
  const float scale = o.scales.empty() ? 1.0f : o.scales[rank];
  return check(sdmacc_all_reduce(group.get(), tensor.get(), tensor.get(), 0, 0, input.count,
                                 static_cast<int>(input.dtype), static_cast<int>(op), scale));
}

Status same_on_all_ranks(const Input& input) {
  const std::string_view first = input.ranks.front().content(input.bytes());
  for (std::uint32_t rank = 1; rank < input.ranks.size(); ++rank) {
    const std::string_view other = input.ranks[rank].content(input.bytes());
    if (other == first) continue;
    const auto at = static_cast<std::size_t>(
        std::mismatch(first.begin(), first.end(), other.begin()).first - first.begin());
    return fail(Errc::Internal, Stage::None, kNoIndex,
                "rank {} got other bits than rank 0, first in element {}", rank,
                at / element_bytes(input.dtype));
  }
  return {};
}

Status run(const Options& o) {
  SDMACC_TRY(const ReduceOp op, parse_reduce_op(o.op));
  std::optional<DType> dtype;
  if (!o.dtype.empty()) {
    SDMACC_TRY(dtype, parse_dtype(o.dtype));
    if (!reducible(*dtype))
      return usage("--dtype {} does not reduce; fp32, bf16, fp16, fp8e3, fp8e4 and fp8e5 do",
                   o.dtype);
    if (*dtype == DType::Fp32r) dtype = DType::Fp32;
  }
  if (!o.scales.empty() && op != ReduceOp::Fma) return usage("--scale is for --op fma");
  if (!o.scales.empty() && o.scales.size() != o.inputs.size())
    return usage("--scale has {} factors for {} inputs", o.scales.size(), o.inputs.size());
  if (!o.alg.empty() && !o.socket.empty())
    return usage("--alg starts a daemon of its own, which --socket does not go with");
  const bool raw = o.count_option->count() > 0;
  SDMACC_TRY(const Input input, raw ? read_raw(o, dtype) : read_npy(o, dtype));
  std::vector<std::string> arguments;
  if (!o.alg.empty()) arguments = {"--alg", o.alg};
  SDMACC_TRY(const DaemonToUse daemon, find_daemon(o.socket, arguments));
  const std::string name = fmt::format("sdmacc-allreduce-{}", ::getpid());
  SDMACC_CHECK(run_ranks(static_cast<std::uint32_t>(input.ranks.size()), [&](std::uint32_t rank) {
    return reduce_rank(o, input, op, daemon.socket, name, rank);
  }));
  SDMACC_CHECK(same_on_all_ranks(input));
  const std::string_view result = input.ranks.front().content(input.bytes());
  if (raw) return write_file(o.out, result);
  NpyArray out = input.form;
  out.data = result;
  return write_file(o.out, make_npy(out));
}

}  // namespace

void add_allreduce(CLI::App& app, Run& chosen) {
  auto o = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("allreduce",
                         "reduce files element by element, one client process for each\n"
                         "Inputs are NumPy files of one shape and type: float32, float16, or the "
                         "raw bits of BF16 (uint16) and FP8 (uint8)\n"
                         "with --dtype. With --count they are raw little-endian files. The result "
                         "is written in the same form, after a check\n"
                         "that all ranks got the same bits.");
  command->add_option("inputs", o->inputs, "one file a rank, in the order of the ranks")
      ->required()
      ->type_name("IN");
  command->add_option("--out", o->out, "where the result goes")->required()->type_name("OUT");
  command
      ->add_option("--op", o->op, "add, max, min, or fma: the sum of each input times its --scale")
      ->check(checked_by(parse_reduce_op))
      ->type_name("OP")
      ->capture_default_str();
  command->add_option("--scale", o->scales, "factors for fma, one an input; 1 without it")
      ->delimiter(',')
      ->type_name("S0,S1,…");
  command->add_option("--dtype", o->dtype, "fp32, bf16, fp16, fp8e3, fp8e4, fp8e5")
      ->check(checked_by(parse_dtype))
      ->type_name("TYPE");
  o->count_option =
      command->add_option("--count", o->count, "the files are raw, with N elements each")
          ->type_name("N");
  command
      ->add_option("--socket", o->socket,
                   "socket of the daemon; without it the default one, or when none listens there a "
                   "daemon of its own")
      ->type_name("PATH");
  add_alg_option(*command, o->alg);
  command->callback([o, &chosen] { chosen = [o] { return run(*o); }; });
}

}  // namespace sdmacc::cli
