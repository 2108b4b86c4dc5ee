#include "transports/roce/connect_rc.h"

#include "dataplane/base/assert.h"

namespace railyard::roce {
namespace {

using enum QpAttribute;

void go(Engine& engine, QpNumber qp, QpState to, QpAttributeSet given, const QpAttributes& a, Instant now) {
  const auto gone = engine.modify_qp(now, qp, to, given, a);
  RAILYARD_ASSERT(gone.has_value(), "a QP's attributes are in range");
}

}  // namespace

void connect_rc(Engine& engine, QpNumber qp, const QpAttributes& a, Instant now) {
  go(engine, qp, QpState::kInit, {kPKeyIndex, kPort, kAccessFlags}, a, now);
  go(engine, qp, QpState::kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer}, a, now);
  go(engine, qp, QpState::kRts, {kTimeout, kRetryCnt, kRnrRetry, kSqPsn, kMaxRdAtomic}, a, now);
}

void connect_uc(Engine& engine, QpNumber qp, const QpAttributes& a, Instant now) {
  go(engine, qp, QpState::kInit, {kPKeyIndex, kPort, kAccessFlags}, a, now);
  go(engine, qp, QpState::kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn}, a, now);
  go(engine, qp, QpState::kRts, {kSqPsn}, a, now);
}

}  // namespace railyard::roce
