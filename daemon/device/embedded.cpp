// SPDX-License-Identifier: MIT
// EmbeddedDevice: construction, load, bind, unload. Running is run.cpp, looking into it is
// inspect.cpp.
#include "daemon/device/embedded.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libuapi/core/program.h"

namespace sdmacc::device {
namespace {

constexpr unsigned kContext = 1;  // the daemon is one user of the device

// Scheduler lists: one a worker, and one for the callers of pump() when there are several workers
// or none.
unsigned lists(unsigned workers) {
  return workers == 1 ? 1 : workers + 1;
}

Program without_data(const Program& program) {
  Program copy;
  copy.arch_id = program.arch_id;
  copy.ranks = program.ranks;
  copy.channels = program.channels;
  copy.title = program.title;
  copy.sections = program.sections;
  copy.objects = program.objects;
  copy.origins = program.origins;
  return copy;
}

std::string where(const sdmacc_fault& fault) {
  return fault.section == SDMACC_FAULT_IN_TABLES ? fmt::format("byte {} of the image", fault.offset)
                                                 : fmt::format("byte {}", fault.offset);
}

tl::unexpected<Error> refuse(const sdmacc_fault& fault) {
  const std::uint32_t index = fault.section == SDMACC_FAULT_IN_TABLES ? kNoIndex : fault.section;
  return fail(Errc::Invalid, Stage::Load, index, "{}: {} ({:#x}, {})", where(fault),
              sdmacc_fault_text(fault.code), fault.value, sdmacc_fault_name(fault.code));
}

Status check_places(const sdmacc_generation& arch, std::span<const Place> places,
                    std::uint32_t ranks) {
  if (places.size() != ranks)
    return fail(Errc::Invalid, Stage::Load, kNoIndex, "{} places for a program of {} ranks",
                places.size(), ranks);
  for (std::size_t r = 0; r < places.size(); ++r) {
    const Place& p = places[r];
    if (p.device != 0 || p.core >= arch.cores || p.topsp >= arch.topsps)
      return fail(
          Errc::Range, Stage::Load, kNoIndex,
          "rank {} on device {} core {} TOP_SP {}: there is one device of {} cores and {} TOP_SPs",
          r, p.device, p.core, p.topsp, arch.cores, arch.topsps);
    for (std::size_t other = 0; other < r; ++other)
      if (places[other].topsp == p.topsp)
        return fail(Errc::Invalid, Stage::Load, kNoIndex, "ranks {} and {} are both on TOP_SP {}",
                    other, r, p.topsp);
  }
  return {};
}

// The image of a Program, aligned, with a view of it and the outcome of its check.
struct CheckedImage {
  std::vector<std::byte> bytes;
  sdmacc_view view{};
  std::unique_ptr<sdmacc_check> check = std::make_unique<sdmacc_check>();

  std::byte* data() {
    return bytes.data() + (reinterpret_cast<const std::byte*>(view.data) - bytes.data());
  }
};

Status check_program(const Program& program, const sdmacc_generation& arch, CheckedImage& out) {
  out.bytes = program.image();
  sdmacc_fault fault{};
  if (sdmacc_program_parse(out.bytes.data(), out.bytes.size(), &out.view, &fault) != 0)
    return refuse(fault);
  if (sdmacc_validate(out.check.get(), &out.view, &arch) != 0) return refuse(out.check->fault);
  return {};
}

}  // namespace

EmbeddedDevice::EmbeddedDevice(const sdmacc_generation& arch, const EmbeddedOptions& options,
                               int event_fd)
    : arch_(arch),
      options_(options),
      event_fd_(event_fd),
      soc_(arch, {.hbm_bytes = options.hbm_bytes, .workers = lists(options.workers)}),
      claims_(arch, options.hbm_bytes),
      booted_(arch.topsps),
      image_of_(arch.topsps),
      running_(arch.topsps) {
  soc_.on_notification = [this](const model::Notification& report) {
    const std::lock_guard lock(reports_mutex_);
    reports_.push_back(report);
    reported_.store(true, std::memory_order_release);
  };
  // A worker goes on with what it made runnable itself; others are for what it leaves.
  soc_.scheduler().on_work = [this](std::size_t runnable) {
    if (runnable > 1 || !soc_.scheduler().on_worker()) workers_.wake();
  };
  constants_ = claims_.take_page();
  for (std::uint32_t power = 0; power < 32; ++power) {
    const std::uint32_t word = 1u << power;
    std::memcpy(soc_.hbm(constants_ + 4 * power, 4), &word, 4);
  }
  open_context();
  workers_.start(options.workers, [this](unsigned worker) { return pump_once(worker); });
}

EmbeddedDevice::~EmbeddedDevice() {
  workers_.stop();
  ::close(event_fd_);
}

// All of HBM, semaphores, broadcast blocks, and the register pair that names a TOP_SP's image.
// Tensors are extents of their own.
void EmbeddedDevice::open_context() {
  model::Context& context = soc_.context(kContext);
  const auto window = [&](std::uint64_t base, std::uint64_t size, model::Rights rights) {
    SDMACC_ASSERT(context.add_window({base, size, rights}));
  };
  constexpr model::Rights kBoth = model::kRead | model::kWrite;
  for (std::uint32_t i = 0; i < arch_.hbm_stacks; ++i)
    window(arch_.hbm_base[i], options_.hbm_bytes, kBoth);
  for (std::uint32_t i = 0; i < arch_.cores; ++i)
    window(arch_.bcast_base[i], model::kBroadcastBytes, kBoth);
  for (std::uint32_t i = 0; i < arch_.topsps; ++i) {
    const std::uint64_t block = sdmacc_soc_topsp(&arch_, i);
    window(block + SDMACC_TOPSP_EVTSEM, SDMACC_EVTSEM_SIZE, kBoth);
    window(block + SDMACC_TOPSP_CORE + arch_.csr_config_lo, 8, model::kRead);
  }
}

std::string EmbeddedDevice::describe() const {
  return fmt::format("embedded {} ({}): {} cores, {} TOP_SPs, HBM {} x {} MiB, {} workers",
                     arch_.name, arch_.product, arch_.cores, arch_.topsps, arch_.hbm_stacks,
                     options_.hbm_bytes >> 20, options_.workers);
}

Result<EmbeddedDevice::LoadedPtr> EmbeddedDevice::find(LoadedId id) const {
  const auto it = loaded_.find(id);
  if (it == loaded_.end())
    return fail(Errc::NotFound, Stage::Device, kNoIndex, "no program {} is loaded", id);
  return it->second;
}

// Unloads idle Programs, the least recently used first, as long as one of them has what is missing.
Result<Claim> EmbeddedDevice::claim(LoadedId id, const sdmacc_check& check,
                                    std::span<const Place> places) {
  for (;;) {
    auto claim = claims_.take(id, check, places, constants_);
    if (claim) return std::move(*claim);
    LoadedPtr victim;
    for (const LoadedId holder : claim.error().holders) {
      const auto it = loaded_.find(holder);
      if (it == loaded_.end() || it->second->running) continue;
      if (!victim || it->second->used < victim->used) victim = it->second;
    }
    if (!victim) return fail(Errc::NoSpace, Stage::Load, kNoIndex, "{}", claim.error().text);
    release(*victim);
  }
}

Result<LoadedId> EmbeddedDevice::load(const Program& program, std::span<const Place> places) {
  CheckedImage image;
  SDMACC_CHECK(check_program(program, arch_, image));
  SDMACC_CHECK(check_places(arch_, places, image.check->sps));
  const auto loaded = std::make_shared<Loaded>();
  loaded->program = without_data(program);
  loaded->padding = padding(*image.check);
  {
    const std::lock_guard lock(mutex_);
    settle_locked();
    loaded->id = ++last_id_;
    SDMACC_TRY(loaded->claim, claim(loaded->id, *image.check, places));
  }
  // The claim keeps others away from this memory.
  auto* data = reinterpret_cast<std::uint8_t*>(image.data());
  sdmacc_relocate(image.check.get(), loaded->claim.objects.data(), data);
  write_memory(soc_, *image.check, loaded->claim, image.data());

  const std::lock_guard lock(mutex_);
  if (Status opened = open(*loaded); !opened) {
    release(*loaded);
    return tl::unexpected<Error>(std::move(opened.error()));
  }
  loaded_.emplace(loaded->id, loaded);
  return loaded->id;
}

Status EmbeddedDevice::open(Loaded& loaded) {
  for (const Place& place : loaded.claim.places) {
    if (booted_[place.topsp]) continue;
    soc_.topsp(place.topsp).set_context(soc_.context(kContext));
    SDMACC_CHECK(soc_.write32(
        sdmacc_soc_topsp(&arch_, place.topsp) + SDMACC_TOPSP_CORE + arch_.csr_init, 1));
    booted_[place.topsp] = true;
  }
  SDMACC_CHECK(open_queues(soc_, loaded.claim, kContext));
  for (const SlotClaim& slot : loaded.claim.slots)
    SDMACC_CHECK(soc_.context(kContext).add_extent(slot.offset, slot.bytes, nullptr, slot.rights));
  loaded.bound.assign(loaded.claim.slots.size(), false);
  for (const RingClaim& ring : loaded.claim.rings)
    loaded.counted.push_back(soc_.queue(engine_number(arch_, ring), ring.queue).counters());
  loaded.used = ++clock_;
  return {};
}

// Gives everything back. Also of a Program that is only partly open, so what was never opened is
// passed over.
void EmbeddedDevice::release(Loaded& loaded) {
  SDMACC_ASSERT(close_queues(soc_, loaded.claim));
  for (const SlotClaim& slot : loaded.claim.slots)
    if (!soc_.context(kContext).remove_extent(slot.offset)) break;
  std::replace(image_of_.begin(), image_of_.end(), loaded.id, LoadedId{0});
  claims_.give(loaded.id, loaded.claim);
  loaded_.erase(loaded.id);
}

Status EmbeddedDevice::bind(LoadedId id, std::span<const Binding> bindings) {
  const std::lock_guard lock(mutex_);
  settle_locked();
  SDMACC_TRY(const LoadedPtr loaded, find(id));
  if (loaded->running)
    return fail(Errc::Busy, Stage::Device, kNoIndex, "program {} runs: bind after it", id);
  for (const Binding& b : bindings) {
    auto& slots = loaded->claim.slots;
    const auto slot = std::find_if(slots.begin(), slots.end(),
                                   [&](const SlotClaim& s) { return s.slot == b.slot; });
    if (slot == slots.end())
      return fail(Errc::NotFound, Stage::Device, kNoIndex, "program {} has no slot {}", id, b.slot);
    if (b.address && b.bytes < slot->bytes)
      return fail(Errc::Range, Stage::Device, kNoIndex,
                  "rank {} {}: tensor of {} bytes, the program needs {}", b.slot >> 1,
                  b.slot & 1 ? "OUT" : "IN", b.bytes, slot->bytes);
    SDMACC_CHECK(soc_.context(kContext).rebind(slot->offset, b.address));
    loaded->bound[static_cast<std::size_t>(slot - slots.begin())] = b.address != nullptr;
  }
  return {};
}

void EmbeddedDevice::unload(LoadedId id) {
  const std::lock_guard lock(mutex_);
  settle_locked();
  const auto it = loaded_.find(id);
  if (it == loaded_.end()) return;
  const LoadedPtr loaded = it->second;
  if (loaded->running)
    stop(*loaded,
         {Errc::Cancelled, Stage::Device, kNoIndex, fmt::format("program {} is unloaded", id)});
  release(*loaded);
}

bool EmbeddedDevice::loaded(LoadedId id) const {
  const std::lock_guard lock(mutex_);
  return loaded_.contains(id);
}

}  // namespace sdmacc::device

namespace sdmacc {

Result<std::unique_ptr<Device>> make_embedded_device(const EmbeddedOptions& options) {
  const sdmacc_generation* arch = options.arch ? options.arch : sdmacc_generation_by_arch(0x0c);
  if (options.hbm_bytes < 16 * device::kPage || options.hbm_bytes > arch->hbm_slot ||
      options.hbm_bytes % device::kPage != 0)
    return fail(Errc::Range, Stage::Device, kNoIndex,
                "{} bytes of memory a stack: must be a multiple of {} from {} to {}",
                options.hbm_bytes, device::kPage, 16 * device::kPage, arch->hbm_slot);
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0)
    return fail(Errc::System, Stage::Device, kNoIndex, "eventfd: {}", std::strerror(errno));
  return std::make_unique<device::EmbeddedDevice>(*arch, options, fd);
}

}  // namespace sdmacc
