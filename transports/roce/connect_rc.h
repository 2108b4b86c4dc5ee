// An RC or UC QP brought to RTS without a word to its peer: both ends know what they would agree on.
#pragma once

#include "transports/roce/engine.h"

namespace railyard::roce {

// From RESET by INIT and RTR. `attributes`: all of them, in range.
void connect_rc(Engine& engine, QpNumber qp, const QpAttributes& attributes, Instant now = {});
// The same of a UC QP, which has no use for what an RC QP waits, retries and reads by.
void connect_uc(Engine& engine, QpNumber qp, const QpAttributes& attributes, Instant now = {});

}  // namespace railyard::roce
