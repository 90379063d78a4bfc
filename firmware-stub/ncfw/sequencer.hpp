// SPDX-License-Identifier: MIT
// Sequencer: what the coroutines of one TOP_SP share, and the handlers that a CTRL entry is
// dispatched to. A handler goes on from what memory says about its entry; begin_entry() is what
// makes that a beginning.
#pragma once

#include <coroutine>
#include <cstdint>
#include <vector>

#include "firmware-stub/ncfw/config.hpp"
#include "firmware-stub/ncfw/context.hpp"
#include "firmware-stub/ncfw/slot.hpp"
#include "firmware-stub/ncfw/task.hpp"

namespace sdmacc::ncfw {

struct Sequencer {
  Sequencer(Port& port, const sdmacc_generation& arch, std::uint32_t topsp)
      : ram(port, arch, topsp) {}

  // Reports, and leaves the state from which only a stop leads out: nothing else of this TOP_SP is
  // resumed.
  void fail(Failure failure);

  Context ram;
  std::vector<Task> channels;                // of the ring entry in work
  std::uint32_t running = 0;                 // those that have not ended
  std::coroutine_handle<> joiner = nullptr;  // waits for all of them
  std::vector<Broadcast> queues;             // scratch of prepare()
  std::uint32_t breaths = 0;
};

// One TOP_SP's main coroutine: trigger, entries, completions, for ever.
Task dispatcher(Sequencer&);

// A run's first part: loads the image when it is not current, resets the contexts, re-arms the
// queues.
Checked<void> prepare(Sequencer&);
// Makes `entry` the one in work, with the contexts of its handler reset.
Checked<void> begin_entry(Sequencer&, std::uint32_t entry);

using Handler = Task (*)(Sequencer&, Ctrl);
// The id (enum sdmacc_handler) that the dispatch table has for an algo_type; ERROR for a word that
// is none.
std::uint32_t handler_id(const Context&, std::uint32_t algo_type);
Task ring_entry(Sequencer&, Ctrl);
Task mesh_entry(Sequencer&, Ctrl);
Task error_entry(Sequencer&, Ctrl);

// What END words do: INC each semaphore, and count it among those that the run must consume at its
// end.
Checked<void> complete_locally(Context&, const List::Ends&);

}  // namespace sdmacc::ncfw
