#include "control/daemon/application_gsi.h"

#include <cerrno>
#include <utility>

namespace railyard::daemon {

using roce::cm::PortSpace;
using roce::cm::SharedGsi;

application::PortAnswer ApplicationGsi::serve(std::uint32_t first_qpn, const application::PortRequest& request) {
  application::PortAnswer answer;
  const auto space = static_cast<PortSpace>(request.space);
  if (space != PortSpace::kTcp && space != PortSpace::kUdp) {
    answer.error = EPROTONOSUPPORT;
  } else if (request.release != 0) {
    gsi_.release(owner(first_qpn), space, request.port);
  } else if (const auto port = gsi_.claim(owner(first_qpn), space, request.port)) {
    answer.port = *port;
  } else {
    answer.error = port.error() == SharedGsi::ClaimError::kTaken     ? EADDRINUSE
                   : port.error() == SharedGsi::ClaimError::kTooMany ? EMFILE
                                                                     : EADDRNOTAVAIL;
  }
  return answer;
}

SharedQp::Verdict ApplicationGsi::for_frame(std::span<const std::byte> frame, bool icrc_pending) {
  SharedGsi::Verdict verdict = gsi_.for_frame(frame, icrc_pending);
  return {.first_qpn = verdict.owner
                           ? std::optional(*verdict.owner * ApplicationProcess::kQpnsPerProcess)
                           : std::nullopt,
          .answer = std::move(verdict.answer)};
}

bool ApplicationGsi::may_send(std::uint32_t first_qpn, std::span<const std::byte> frame, bool icrc_pending) {
  return gsi_.may_send(owner(first_qpn), frame, icrc_pending);
}

}  // namespace railyard::daemon
