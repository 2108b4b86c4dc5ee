// Frames that arrive damaged: a dirty or broken optic, a bad cable.
#include <fmt/format.h>

#include "control/base/count_text.h"
#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_frame_errors(const Case& c) {
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports())
    if (const auto n = p.dropped("fcs_error") + p.dropped("too_short"); n > 0)
      out.push_back({p.link(),
                     0.97,
                     {fmt::format("{} received {} of {} frames with a wrong FCS or cut short: the way from {} is damaged", p.name(),
                                  count_text(n), count_text(p.rx() + n), p.peer.empty() ? "its other end" : p.peer)}});
  return out;
}

}  // namespace

const Rule rules::kFrameErrors{"frame-errors", "Frames arrive with a wrong FCS: optic, cable or port is going bad.",
                               "Clean or replace optic and cable; drain the link until then (`railyard drain`).",
                               "Errors that stay at this port with another cable are the port's.", find_frame_errors, {Input::kPorts}};

}  // namespace railyard::doctor
