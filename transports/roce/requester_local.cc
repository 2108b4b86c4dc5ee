// Work requests that concern this NIC alone (IBTA Vol 1 §10.6.7, §11.4.1.1): they are done when what was posted before them
// has been sent, and complete in their turn.
#include "transports/roce/requester.h"

namespace railyard::roce {

// Does the local requests from the cursor on. False: there is nothing behind them to be sent, or one failed.
bool Requester::pass_local() {
  while (cursor_ < sq_.size() && sq_[cursor_].psns == 0) {
    Wqe& wqe = sq_[cursor_];
    if (!wqe.begun) {
      if (!may_begin(wqe)) return false;
      if (const WcStatus status = perform(wqe.wr); status != WcStatus::kSuccess) {
        stuck_ = status;
        fail_when_oldest();
        return false;
      }
      wqe.begun = true;
      wqe.first = next_;
      wqe.ssn = ssn_;
    }
    // Nothing before it is under way: it is complete.
    if (cursor_++ == 0) complete_oldest(WcStatus::kSuccess);
  }
  return cursor_ < sq_.size();
}

WcStatus Requester::perform(const Posted& wr) {
  if (wr.opcode == SendOpcode::kInvalidateLocal) {
    const MemoryRegion* const region = nic_.memory.region(wr.immediate);
    const bool own = region != nullptr && region->domain == qp_.domain;
    return own && nic_.memory.invalidate(wr.immediate) ? WcStatus::kSuccess : WcStatus::kLocQpOpErr;
  }
  const Sge piece = wr.sges.size() == 0 ? Sge{} : *wr.sges.begin();
  const ProtectionDomain* const domain = nic_.memory.domain_of_window(wr.r_key);
  if (domain == nullptr || *domain != qp_.domain) return WcStatus::kMwBindErr;
  const auto bound = nic_.memory.bind(wr.r_key, {.region = piece.l_key,
                                                 .address = piece.address,
                                                 .octets = piece.octets,
                                                 .access = wr.access,
                                                 .zero_based = wr.zero_based,
                                                 .user = wr.own_window ? qp_.number.value : 0});
  return bound ? WcStatus::kSuccess : WcStatus::kMwBindErr;
}

}  // namespace railyard::roce
