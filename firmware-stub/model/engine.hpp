// SPDX-License-Identifier: MIT
// Engine: one SDMA engine, its queue pairs and its register space. Registers that do nothing here
// are kept as they were written and read as zero before that. Entry points: read(), write().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "firmware-stub/model/queue.hpp"

namespace sdmacc::model {

// Where a register offset of an engine, or of a broadcast block, leads.
struct QueueRegister {
  Side side = Side::M2s;
  std::uint32_t queue = kNone;  // kNone: not in a queue's page
  std::uint32_t reg = 0;
};
QueueRegister queue_register(std::uint64_t offset, std::uint32_t queues);

// Registers without effect.
class RegisterFile {
 public:
  std::uint32_t read(std::uint64_t offset) const;
  void write(std::uint64_t offset, std::uint32_t value);
  void clear();

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint32_t> values_;
};

class Engine {
 public:
  Engine(Soc& soc, std::uint32_t number, std::uint32_t queues);

  Queue& queue(std::uint32_t number) { return *queues_[number]; }
  const Queue& queue(std::uint32_t number) const { return *queues_[number]; }
  std::uint32_t queues() const { return static_cast<std::uint32_t>(queues_.size()); }

  std::uint32_t read(std::uint64_t offset) const;
  void write(std::uint64_t offset, std::uint32_t value);
  void reset();

 private:
  std::vector<std::unique_ptr<Queue>> queues_;
  RegisterFile others_;
};

}  // namespace sdmacc::model
