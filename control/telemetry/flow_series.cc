#include "control/telemetry/flow_series.h"

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace railyard::telemetry {

FlowSeries::FlowSeries(const build::BuiltLab& lab, OutputFile file)
    : lab_(lab), out_(std::move(file), "time_ns,flow,sent_bytes,delivered_bytes"), before_(lab.flows().size()) {}

void FlowSeries::look(Instant at) {
  if (out_.failed()) return;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const build::Flow& flow = lab_.flows()[i];
    Before& b = before_[i];
    const std::uint64_t sent = flow.sent().payload_octets;
    const std::uint64_t delivered = flow.received().payload_octets;
    if (sent == b.sent && delivered == b.delivered) continue;
    out_.line("{},{},{},{}", (at - Instant{}).ps / 1000, flow.plan.name, sent - b.sent,
              flow.measured() ? fmt::format("{}", delivered - b.delivered) : std::string());
    b = {sent, delivered};
  }
}

}  // namespace railyard::telemetry
