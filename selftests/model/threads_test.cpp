// SPDX-License-Identifier: MIT
// Several workers on one device, with the host looking on, editing and restarting. Run under a
// thread sanitizer this shows races; without one it shows lost wakes, lost counts and wrong bytes.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr unsigned kWorkers = 3;
constexpr std::uint64_t kData = 0x800000;

class Workers {
 public:
  explicit Workers(Soc& soc) {
    for (unsigned w = 0; w < kWorkers; ++w)
      threads_.emplace_back([&soc, w, this] {
        while (!stop_.load(std::memory_order_acquire))
          if (!soc.pump(w)) std::this_thread::yield();
      });
  }
  ~Workers() {
    stop_.store(true, std::memory_order_release);
    for (auto& t : threads_) t.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

class Threads : public testing::Test {
 protected:
  void until_done(const std::atomic<int>& left) {
    while (left.load(std::memory_order_acquire) > 0) std::this_thread::yield();
    while (!device.soc.scheduler().idle()) std::this_thread::yield();
  }
  void expect_clean() {
    for (const ErrorRecord& e : device.errors()) ADD_FAILURE() << to_string(e);
  }
  static std::uint64_t sem(std::uint32_t topsp, std::uint32_t id) {
    return sdmacc_soc_sem(&cayman(), topsp, SDMACC_SEM_READ, id);
  }

  Device device{cayman(), kWorkers};
};

// Each TOP_SP passes a token to the next, many rounds; several tokens, one semaphore each.
TEST_F(Threads, TokensGoRound) {
  constexpr int kRounds = 300, kTokens = 4, kSps = 8;
  std::atomic<int> left = kTokens * kSps;
  const auto pass = [&](std::uint32_t topsp, std::uint32_t id) -> Script {
    ncfw::Port& port = device.soc.topsp(topsp);
    for (int i = 0; i < kRounds; ++i) {
      co_await PortWait{port, {sem(topsp, id), 1}};
      port.signal(sem((topsp + 1) % kSps, id), 1);
    }
    left.fetch_sub(1, std::memory_order_acq_rel);
  };
  std::vector<Script> scripts;
  for (int t = 0; t < kSps; ++t)
    for (int id = 0; id < kTokens; ++id) {
      scripts.push_back(pass(static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(20 + id)));
      device.soc.topsp(static_cast<std::uint32_t>(t)).spawn(scripts.back().handle());
    }
  {
    const Workers workers(device.soc);
    for (int id = 0; id < kTokens; ++id)
      device.poke(sem(0, static_cast<std::uint32_t>(20 + id)) + 0x800, 1);
    until_done(left);
  }
  for (int t = 0; t < kSps; ++t)
    for (int id = 0; id < kTokens; ++id)
      EXPECT_EQ(device.soc.semaphores(static_cast<std::uint32_t>(8 + t))
                    .value(static_cast<std::uint32_t>(20 + id)),
                t == 0 ? 1u : 0u);
  expect_clean();
}

// The firmware's pattern: re-arm by broadcast, ring both sides of four engines, wait for their
// INCs, many times. Each engine adds one to a vector, so a lost or doubled packet shows in the sum.
TEST_F(Threads, FiringAndWaiting) {
  constexpr std::uint32_t kSps = 4, kEngines = 4, kQueue = 2, kFloats = 64;
  constexpr int kRounds = 60, kSteps = 5;
  std::atomic<int> left = kSps;
  std::vector<Rig> rigs;
  rigs.reserve(kSps * kEngines);
  device.put<float>(kData, std::vector<float>(kFloats, 1.f));
  device.put<std::uint32_t>(kData - 4, {1});
  const auto result = [](std::uint32_t engine) { return kData + 0x1000 * (engine + 1); };
  for (std::uint32_t core = 0; core < kSps; ++core)
    for (std::uint32_t e = 0; e < kEngines; ++e) {
      Rig& rig = rigs.emplace_back(device, core * 16 + e, kQueue);
      for (int s = 0; s < kSteps; ++s) {
        rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kData, result(rig.engine)},
                    {result(rig.engine)}, 4 * kFloats);
        rig.copy(kData - 4, sem(core, 30) + 0x800, 4);
      }
    }
  const auto program = [&](std::uint32_t core) -> Script {
    ncfw::Port& port = device.soc.topsp(core);
    const auto store = [&](std::uint32_t side, std::uint32_t reg, std::uint32_t value) {
      if (!port.write(sdmacc_soc_bcast(&cayman(), core, side, kQueue, reg), &value, 4))
        std::abort();
    };
    store(0, SDMACC_Q_BCAST_MASK, sdmacc_bcast_mask((1 << kEngines) - 1, 0));
    for (int round = 0; round < kRounds; ++round) {
      store(SDMACC_S2M_OFFSET, SDMACC_Q_S2M_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE);
      store(0, SDMACC_Q_M2S_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE);
      for (int s = 0; s < kSteps; ++s) {
        store(SDMACC_S2M_OFFSET, SDMACC_Q_TAIL_INC, 2);
        store(0, SDMACC_Q_TAIL_INC, 4);
        co_await PortWait{port, {sem(core, 30), kEngines}};
      }
    }
    port.report_status(kRounds);
    left.fetch_sub(1, std::memory_order_acq_rel);
  };
  std::vector<Script> scripts;
  for (std::uint32_t core = 0; core < kSps; ++core) {
    scripts.push_back(program(core));
    device.soc.topsp(core).spawn(scripts.back().handle());
  }
  {
    const Workers workers(device.soc);
    while (left.load(std::memory_order_acquire) > 0) {  // the host looks on
      for (const Rig& rig : rigs) {
        const QueueState s = device.soc.queue(rig.engine, kQueue).state();
        EXPECT_LE(s.ring[0].armed, 64u);
        EXPECT_FALSE(s.stopped);
      }
      (void)device.soc.counters();
      std::this_thread::yield();
    }
    until_done(left);
  }
  expect_clean();
  EXPECT_EQ(device.statuses().size(), kSps);
  for (const Rig& rig : rigs)
    EXPECT_EQ(device.get<float>(result(rig.engine), kFloats),
              std::vector<float>(kFloats, kRounds * kSteps))
        << rig.engine;
  const Counters c = device.soc.counters();
  constexpr std::uint64_t kPackets = std::uint64_t{kSps} * kEngines * kRounds * kSteps;
  EXPECT_EQ(c.packets, 2 * kPackets);
  EXPECT_EQ(c.semaphore_writes, kPackets);
  EXPECT_EQ(c.bytes_read, 2 * kPackets * kFloats * 4);
  EXPECT_EQ(c.bytes_written, kPackets * kFloats * 4);
  EXPECT_EQ(c.doorbells, 2 * kPackets);
}

// Two queues copy through one context while the host adds, removes and rebinds what they do not
// use.
TEST_F(Threads, EditingAContextInUse) {
  constexpr int kRounds = 300;
  Context& context = device.soc.context(1);
  std::vector<std::uint32_t> memory(1024), other(1024);
  for (std::uint32_t i = 0; i < 512; ++i) memory[i] = i;
  ASSERT_TRUE(
      context.add_extent(0, 4096, reinterpret_cast<std::byte*>(memory.data()), kRead | kWrite));
  ASSERT_TRUE(context.add_extent(0x100000, 4096, nullptr, kRead));
  ASSERT_TRUE(context.add_window({0, 64 << 20, kRead | kWrite}));
  Rig a{device, 1, 1}, b{device, 2, 1};
  for (Rig* rig : {&a, &b}) device.soc.queue(rig->engine, 1).set_context(context);
  const std::uint64_t aperture = cayman().host_aperture;
  {
    const Workers workers(device.soc);
    for (int i = 0; i < kRounds; ++i) {
      a.copy(aperture, aperture + 2048, 1024);
      b.copy(aperture + 1024, aperture + 3072, 1024);
      a.arm();
      b.arm();
      EXPECT_TRUE(
          context.add_extent(0x200000, 4096, reinterpret_cast<std::byte*>(other.data()), kRead));
      EXPECT_TRUE(
          context.rebind(0x100000, i % 2 ? nullptr : reinterpret_cast<std::byte*>(other.data())));
      EXPECT_TRUE(context.remove_extent(0x200000));
      EXPECT_TRUE(context.add_window({1ull << 38, 4096, kRead}));
      EXPECT_TRUE(context.remove_window(1ull << 38));
      if (i % 16 == 15)
        while (!device.soc.scheduler().idle()) std::this_thread::yield();
    }
    while (!device.soc.scheduler().idle()) std::this_thread::yield();
    // Quiet first, then even what was used may go.
    device.soc.quiesce(1);
    EXPECT_TRUE(context.remove_extent(0));
  }
  expect_clean();
  EXPECT_TRUE(std::equal(memory.begin(), memory.begin() + 512, memory.begin() + 512));
  EXPECT_EQ(device.soc.counters().packets, 2u * kRounds);
}

// The host forgets and spawns handles while others signal: every signal is consumed once or still
// there.
TEST_F(Threads, RestartingWhileSignalsCome) {
  constexpr int kSignals = 2000;
  TopSp& port = device.soc.topsp(1);
  std::atomic<int> consumed = 0;
  const auto eat = [&]() -> Script {
    for (;;) {
      co_await PortWait{port, {sem(1, 40), 1}};
      consumed.fetch_add(1, std::memory_order_relaxed);
    }
  };
  {
    const Workers workers(device.soc);
    std::thread signaller([&] {
      for (int i = 0; i < kSignals; ++i) device.soc.semaphores(8 + 1).add(40, 1);
    });
    for (int i = 0; i < 50; ++i) {
      std::vector<Script> eaters;
      device.soc.scheduler().take(port);
      for (int k = 0; k < 3; ++k) {
        eaters.push_back(eat());
        port.spawn(eaters.back().handle());
      }
      device.soc.scheduler().give_back(port);
      std::this_thread::yield();
      device.soc.scheduler().take(port);
      port.forget_all();
      eaters.clear();
      device.soc.scheduler().give_back(port);
    }
    signaller.join();
  }
  EXPECT_EQ(consumed + static_cast<int>(device.soc.semaphores(8 + 1).value(40)), kSignals);
}

// The real firmware of all TOP_SPs, suspended and restarted under workers that run their triggers
// into errors.
TEST_F(Threads, SuspendingFirmware) {
  const auto core = [](std::uint32_t t) {
    return sdmacc_soc_topsp(&cayman(), t) + SDMACC_TOPSP_CORE;
  };
  {
    const Workers workers(device.soc);
    for (std::uint32_t t = 0; t < 16; ++t) device.poke(core(t) + cayman().csr_init, 1);
    for (int i = 0; i < 20; ++i) {
      for (std::uint32_t t = 0; t < 16; ++t) device.poke(core(t) + cayman().csr_host_trigger, 1);
      device.soc.suspend_firmware();
      device.soc.restart_firmware();
      while (device.errors().size() < 16u * static_cast<unsigned>(i + 1)) std::this_thread::yield();
      for (std::uint32_t t = 0; t < 16; ++t) device.poke(core(t) + cayman().csr_stop, 1);
    }
    while (!device.soc.scheduler().idle()) std::this_thread::yield();
  }
  EXPECT_EQ(device.errors().size(), 320u);
  for (std::uint32_t t = 0; t < 16; ++t)
    EXPECT_EQ(device.soc.semaphores(8 + t).waiting(0), 1u) << t;
}

}  // namespace
}  // namespace sdmacc::model::test
