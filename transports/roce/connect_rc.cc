#include "transports/roce/connect_rc.h"

#include "dataplane/base/assert.h"

namespace railyard::roce {

void connect_rc(Engine& engine, QpNumber qp, const QpAttributes& a, Instant now) {
  using enum QpAttribute;
  const auto go = [&](QpState to, QpAttributeSet given) {
    const auto gone = engine.modify_qp(now, qp, to, given, a);
    RAILYARD_ASSERT(gone.has_value(), "a QP's attributes are in range");
  };
  go(QpState::kInit, {kPKeyIndex, kPort, kAccessFlags});
  go(QpState::kRtr, {kAv, kPathMtu, kDestQpn, kRqPsn, kMaxDestRdAtomic, kMinRnrTimer});
  go(QpState::kRts, {kTimeout, kRetryCnt, kRnrRetry, kSqPsn, kMaxRdAtomic});
}

}  // namespace railyard::roce
