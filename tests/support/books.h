// The books of a run: nothing appears from nowhere, and nothing vanishes.
#pragma once

#include "dataplane/device/counters.h"
#include "dataplane/device/fabric.h"

namespace railyard::test {

// received + generated = sent + consumed + dropped + queued, and the counters of a device agree with each other.
void expect_balanced(const DeviceCounters& counters);

// Every device's books balance, and so does every channel: sent + duplicated = delivered + lost + held back by faults +
// still in flight. The fabric rests, all devices done up to the same instant.
void expect_books_balance(Fabric& fabric);

}  // namespace railyard::test
