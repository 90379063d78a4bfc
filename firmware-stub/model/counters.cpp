// SPDX-License-Identifier: MIT
// Sums and snapshots of counters.
#include "firmware-stub/model/counters.hpp"

namespace sdmacc::model {

Counters& Counters::operator+=(const Counters& o) {
  doorbells += o.doorbells;
  descriptors += o.descriptors;
  packets += o.packets;
  bytes_read += o.bytes_read;
  bytes_written += o.bytes_written;
  words += o.words;
  semaphore_writes += o.semaphore_writes;
  register_writes += o.register_writes;
  return *this;
}

Counters LiveCounters::get() const {
  return {doorbells.get(),     descriptors.get(), packets.get(),          bytes_read.get(),
          bytes_written.get(), words.get(),       semaphore_writes.get(), register_writes.get()};
}

void LiveCounters::clear() {
  for (LiveCounter* c : {&doorbells, &descriptors, &packets, &bytes_read, &bytes_written, &words,
                         &semaphore_writes, &register_writes})
    c->clear();
}

}  // namespace sdmacc::model
