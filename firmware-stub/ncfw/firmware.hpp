// SPDX-License-Identifier: MIT
// Firmware: the sequencer of one TOP_SP (docs/device.md §4), as coroutines over its Port. Its state
// is in device memory only. No member may be called while a handle of this TOP_SP runs, and so not
// from inside the Port.
#pragma once

#include <cstdint>
#include <memory>

#include "firmware-stub/ncfw/port.hpp"

struct sdmacc_generation;

namespace sdmacc::ncfw {

class Firmware {
 public:
  // `port` and `arch` must outlive it.
  Firmware(Port& port, const sdmacc_generation& arch, std::uint32_t topsp);
  ~Firmware();  // destroys the coroutines; memory keeps the progress
  Firmware(const Firmware&) = delete;
  Firmware& operator=(const Firmware&) = delete;

  // Out of reset: writes the dispatch table and an empty progress block, then resumes as restart()
  // does.
  void boot();
  // Creates the coroutines from what memory says and spawns them. Memory that was never booted is a
  // failure.
  void restart();
  // Destroys the coroutines (the Port forgets their handles); memory is untouched.
  void suspend();
  // The stop register: suspend(), clear progress and contexts, then idle again.
  void stop();
  // The high half of CONFIG was written: the next run loads the image, also when its address is the
  // same.
  void forget_image();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sdmacc::ncfw
