// SPDX-License-Identifier: MIT
// Firmware: the life of a sequencer (boot, restart, suspend, stop). What it does while it lives is
// dispatch.cpp.
#include "firmware-stub/ncfw/firmware.hpp"

#include "firmware-stub/ncfw/leaf.hpp"

namespace sdmacc::ncfw {

struct Firmware::Impl {
  Impl(Port& port, const sdmacc_generation& arch, std::uint32_t topsp)
      : sequencer(port, arch, topsp) {}

  void clear_progress() {
    Context& ram = sequencer.ram;
    ram.clear(Region::Progress, 0, sizeof(sdmacc_ncfw_progress) + sizeof(ProgressTail));
    ram.clear(Region::AlgoCtx, 0, SDMACC_CTX_BYTES);
    ram.store(field::kMagic, SDMACC_NCFW_PROGRESS_MAGIC);
  }

  Sequencer sequencer;
  Task main;
};

Firmware::Firmware(Port& port, const sdmacc_generation& arch, std::uint32_t topsp)
    : impl_(std::make_unique<Impl>(port, arch, topsp)) {}

Firmware::~Firmware() {
  suspend();
}

void Firmware::boot() {
  suspend();
  Context& ram = impl_->sequencer.ram;
  if (ram.arch().has_dispatch_table)
    for (std::uint32_t i = 0; i < SDMACC_DISPATCH_WORDS; ++i)
      ram.store(field::dispatch(i), ram.arch().dispatch[i]);
  impl_->clear_progress();
  restart();
}

void Firmware::restart() {
  suspend();
  Sequencer& s = impl_->sequencer;
  const std::uint32_t magic = s.ram.load(field::kMagic);
  if (magic != SDMACC_NCFW_PROGRESS_MAGIC) {
    s.fail({Code::BadConfig, 0, kNoUnit, s.ram.address(field::kMagic), magic,
            SDMACC_NCFW_PROGRESS_MAGIC});
    return;
  }
  impl_->main = dispatcher(s);
  s.ram.port().spawn(impl_->main.handle());
}

void Firmware::suspend() {
  Sequencer& s = impl_->sequencer;
  s.ram.port().forget_all();
  impl_->main = Task();
  s.channels.clear();
  s.running = 0;
  s.joiner = nullptr;
}

void Firmware::stop() {
  suspend();
  impl_->clear_progress();
  restart();
}

void Firmware::forget_image() {
  impl_->sequencer.ram.store(field::kImage, 0);
}

}  // namespace sdmacc::ncfw
