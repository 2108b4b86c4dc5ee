// What becomes of operations: entries of completion queues, and counts.
#pragma once

#include "transports/libfabric/objects.h"

namespace railyard::libfabric {

// The error that an application sees of a completion in error.
int error_of(const uet::Completion& completion) noexcept;
// The operation ends: `entry` is filled in but for what the operation knows.
void finish(Operation& operation, Entry entry) noexcept;
// It ends in an error (FI_E...), and nothing of it was done.
void fail(Operation& operation, int error) noexcept;

}  // namespace railyard::libfabric
