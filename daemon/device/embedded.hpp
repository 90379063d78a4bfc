// SPDX-License-Identifier: MIT
// EmbeddedDevice: the Device over the model in this process. Calls are serialised by one mutex,
// which no worker holds while it pumps; what the model reports is put into a list and acted upon by
// whoever comes out of a pump, or calls next.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "daemon/device/claims.hpp"
#include "daemon/device/image.hpp"
#include "daemon/device/workers.hpp"
#include "firmware-stub/model/soc.hpp"

namespace sdmacc::device {

// A loaded Program. Guarded by the device's mutex, but for what is atomic or constant after load.
struct Loaded {
  LoadedId id = 0;
  Program program;  // without its data
  Claim claim;
  std::vector<Padding> padding;          // by rank
  std::vector<model::Counters> counted;  // by ring, at load
  std::vector<bool> bound;               // by slot claim
  std::uint64_t used = 0;                // the device's clock at its last load or run
  std::uint64_t runs = 0;                // completed
  Ticket ticket = 0;
  std::atomic<bool> running = false;
};

class EmbeddedDevice final : public Device {
 public:
  explicit EmbeddedDevice(const sdmacc_generation& arch, const EmbeddedOptions& options,
                          int event_fd);
  ~EmbeddedDevice() override;

  const sdmacc_generation& arch() const override { return arch_; }
  std::string describe() const override;
  Result<LoadedId> load(const Program& program, std::span<const Place> places) override;
  Status bind(LoadedId loaded, std::span<const Binding> bindings) override;
  Status run(LoadedId loaded, Ticket ticket) override;
  void abort(LoadedId loaded) override;
  void unload(LoadedId loaded) override;
  bool loaded(LoadedId loaded) const override;
  int completion_fd() const override { return event_fd_; }
  std::vector<Completion> reap() override;
  void pump(LoadedId until) override;
  Result<Inspection> inspect(LoadedId loaded) const override;
  std::vector<RankCounters> counters(LoadedId loaded) const override;

  // For tests that look at the device itself.
  model::Soc& soc() { return soc_; }

 private:
  using LoadedPtr = std::shared_ptr<Loaded>;

  // embedded.cpp
  void open_context();
  Result<LoadedPtr> find(LoadedId id) const;
  Result<Claim> claim(LoadedId id, const sdmacc_check& check, std::span<const Place> places);
  Status open(Loaded& loaded);
  void release(Loaded& loaded);

  // run.cpp
  bool pump_once(unsigned worker);
  Status use_image(const Loaded& loaded, Rank rank);
  Loaded* running_on(std::uint32_t topsp);
  Loaded* owner_of(const model::ErrorRecord& record);
  void settle();  // acts on what was reported
  void settle_locked();
  void act(const model::CcStatus& status);
  void act(const model::ErrorRecord& record);
  void complete(Loaded& loaded, Status status);
  void stop(Loaded& loaded, Error why);  // ends its run and makes it usable again

  // inspect.cpp
  Error explain(const Loaded& loaded, const model::ErrorRecord& record);
  void inspect_rank(const Loaded& loaded, Rank rank, Inspection& out) const;

  const sdmacc_generation& arch_;
  const EmbeddedOptions options_;
  const int event_fd_;
  mutable model::Soc soc_;

  mutable std::mutex mutex_;
  Claims claims_;
  std::uint64_t constants_ = 0;  // address of the constant page
  std::unordered_map<LoadedId, LoadedPtr> loaded_;
  LoadedId last_id_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<bool> booted_;        // by TOP_SP
  std::vector<LoadedId> image_of_;  // by TOP_SP: whose image its config registers name
  std::vector<LoadedId> running_;   // by TOP_SP
  std::vector<Completion> completions_;

  std::mutex reports_mutex_;
  std::vector<model::Notification> reports_;
  std::atomic<bool> reported_ = false;

  std::mutex pump_mutex_;  // one caller of pump() at a time
  Workers workers_;        // last: its threads use all of the above
};

}  // namespace sdmacc::device
