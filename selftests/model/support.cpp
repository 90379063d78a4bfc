// SPDX-License-Identifier: MIT
// Rings at fixed places of stack 0: queue q of engine e has 4 KiB from 1 MiB on.
#include "selftests/model/support.hpp"

#include <gtest/gtest.h>

namespace sdmacc::model::test {

const sdmacc_generation& cayman() {
  return *sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN);
}
const sdmacc_generation& sunda() {
  return *sdmacc_generation_by_arch(SDMACC_ARCH_SUNDA);
}

std::uint64_t queue_register_address(const sdmacc_generation& arch, std::uint32_t engine, Side side,
                                     std::uint32_t queue, std::uint32_t reg) {
  return sdmacc_soc_queue_reg(&arch, engine / 16, engine % 16,
                              side == Side::S2m ? SDMACC_S2M_OFFSET : 0, queue, reg);
}

Device::Device(const sdmacc_generation& arch, unsigned workers)
    : soc(arch, {.hbm_bytes = 64 << 20, .chip = 0, .workers = workers}) {
  soc.on_notification = [this](const Notification& n) {
    const std::lock_guard lock(mutex_);
    notifications_.push_back(n);
  };
}

void Device::pump() {
  while (soc.pump(0)) {
  }
}

std::vector<ErrorRecord> Device::errors() const {
  const std::lock_guard lock(mutex_);
  std::vector<ErrorRecord> found;
  for (const Notification& n : notifications_)
    if (const auto* e = std::get_if<ErrorRecord>(&n)) found.push_back(*e);
  return found;
}

std::vector<CcStatus> Device::statuses() const {
  const std::lock_guard lock(mutex_);
  std::vector<CcStatus> found;
  for (const Notification& n : notifications_)
    if (const auto* s = std::get_if<CcStatus>(&n)) found.push_back(*s);
  return found;
}

Code Device::code() const {
  const auto all = errors();
  EXPECT_LE(all.size(), 1u);
  return all.empty() ? Code::None : all.front().code;
}

void Device::forget() {
  const std::lock_guard lock(mutex_);
  notifications_.clear();
}

void Device::poke(std::uint64_t address, std::uint32_t value) {
  const Status s = soc.write32(address, value);
  EXPECT_TRUE(s) << s.error().text();
}

std::uint32_t Device::peek(std::uint64_t address) {
  const auto v = soc.read32(address);
  EXPECT_TRUE(v) << v.error().text();
  return v.value_or(0xdeadbeef);
}

Rig::Rig(Device& device, std::uint32_t e, std::uint32_t q) : engine(e), queue(q), device_(device) {
  reset();
}

std::uint64_t Rig::ring_address(Side side) const {
  const std::uint64_t number = engine * 16 + queue;
  return (1 << 20) + number * 4096 + (side == Side::S2m ? 2048 : 0);
}

void Rig::write(Side side, std::uint32_t reg, std::uint32_t value) {
  device_.poke(queue_register_address(device_.soc.arch(), engine, side, queue, reg), value);
}

std::uint32_t Rig::read(Side side, std::uint32_t reg) {
  return device_.peek(queue_register_address(device_.soc.arch(), engine, side, queue, reg));
}

void Rig::reset() {
  for (const Side side : {Side::M2s, Side::S2m}) {
    write(side, SDMACC_Q_CFG, SDMACC_Q_CFG_RESET);
    write(side, side == Side::M2s ? SDMACC_Q_M2S_SWCTRL : SDMACC_Q_S2M_SWCTRL,
          SDMACC_SWCTRL_RESET_QUEUE);
    write(side, SDMACC_Q_BASE_LO, static_cast<std::uint32_t>(ring_address(side)));
    write(side, SDMACC_Q_BASE_HI, static_cast<std::uint32_t>(ring_address(side) >> 32));
    write(side, SDMACC_Q_LENGTH, kLength);
    write(side, SDMACC_Q_CFG, SDMACC_Q_CFG_RESET | SDMACC_Q_CFG_PREFETCH | SDMACC_Q_CFG_SCHEDULE);
    appended_[static_cast<int>(side)] = unarmed_[static_cast<int>(side)] = 0;
  }
}

sdmacc_desc& Rig::desc(Side side, std::uint32_t index) {
  return *device_.at<sdmacc_desc>(ring_address(side) + index * sizeof(sdmacc_desc));
}

std::uint32_t Rig::append(Side side, const sdmacc_desc& d) {
  std::uint64_t& n = appended_[static_cast<int>(side)];
  const auto index = static_cast<std::uint32_t>(n % kLength);
  const auto round = static_cast<std::uint32_t>(n / kLength);
  ++n;
  ++unarmed_[static_cast<int>(side)];
  sdmacc_desc& place = desc(side, index);
  place = d;
  place.len_ctrl |= ((round + 1) & 3) << SDMACC_LEN_RING_SHIFT;
  return index;
}

std::uint32_t Rig::m2s(std::uint32_t len_ctrl, std::uint32_t meta, std::uint64_t addr) {
  return append(Side::M2s, {len_ctrl, meta, addr});
}

std::uint32_t Rig::s2m(std::uint32_t len_ctrl, std::uint64_t addr, std::uint32_t word1) {
  return append(Side::S2m, {len_ctrl, word1, addr});
}

void Rig::copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes, std::uint32_t meta) {
  const std::uint32_t control = sdmacc_len_ctrl(bytes, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 0);
  m2s(control, meta, from);
  s2m(control, to);
}

std::uint32_t cce_word1(std::uint32_t type, std::uint32_t dtype) {
  const std::uint32_t acc = dtype == SDMACC_DTYPE_FP32 ? std::uint32_t{SDMACC_DTYPE_FP32R} : dtype;
  return sdmacc_cce_word1(
      type, dtype, type == SDMACC_CCE_FMA ? std::uint32_t{SDMACC_DTYPE_FP32} : dtype, acc, 0);
}

void Rig::compute(std::uint32_t type, std::uint32_t dtype, const std::vector<std::uint64_t>& from,
                  const std::vector<std::uint64_t>& to, std::uint32_t bytes,
                  const std::vector<float>& scales) {
  const bool fma = type == SDMACC_CCE_FMA;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::uint32_t scale = 0;
    if (fma) std::memcpy(&scale, &scales[i], sizeof scale);
    if (i == 0 || fma)
      m2s(SDMACC_LEN_META | (i == 0 ? SDMACC_LEN_FIRST : 0), cce_word1(type, dtype),
          sdmacc_cce_words23(bytes | (fma ? SDMACC_FMA_SELECTORS : 0), scale));
    m2s(sdmacc_len_ctrl(bytes, i + 1 == from.size() ? SDMACC_LEN_LAST : 0, 0), 0, from[i]);
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    s2m(sdmacc_len_ctrl(
            bytes, (i == 0 ? SDMACC_LEN_FIRST : 0) | (i + 1 == to.size() ? SDMACC_LEN_LAST : 0), 0),
        to[i]);
}

void Rig::arm() {
  for (const Side side : {Side::S2m, Side::M2s}) {
    std::uint32_t& n = unarmed_[static_cast<int>(side)];
    if (n > 0) write(side, SDMACC_Q_TAIL_INC, n);
    n = 0;
  }
}

void Rig::go() {
  arm();
  device_.pump();
}

QueueState Rig::state() {
  return device_.soc.queue(engine, queue).state();
}

}  // namespace sdmacc::model::test
