#include "control/bench/connection_figures.h"

#include <algorithm>

namespace railyard::bench {
namespace {

// First packet and handshake of a flow; nothing: no packet arrived.
std::optional<double> first_byte(const ReportJson& flow) {
  const auto arrival = number(flow["first_packet_ns"]);
  if (!arrival) return std::nullopt;
  return *arrival + (flow.contains("handshake_ns") ? number(flow["handshake_ns"]).value_or(0) : 0);
}

}  // namespace

std::vector<double> first_bytes(const ReportJson& report) {
  std::vector<double> out;
  for (const auto& flow : list_of(report, "flows"))
    if (const auto ns = first_byte(flow)) out.push_back(*ns);
  return out;
}

std::optional<double> setup_rate(const ReportJson& report) {
  double flows = 0, last = 0;
  std::optional<double> first;
  for (const auto& flow : list_of(report, "flows")) {
    const auto start = number(flow["start_ns"]);
    const auto ns = first_byte(flow);
    if (!start || !ns) continue;
    ++flows;
    first = std::min(first.value_or(*start), *start);
    last = std::max(last, *start + *ns);
  }
  if (!first || last <= *first) return std::nullopt;
  return flows / (last - *first) * 1e9;
}

}  // namespace railyard::bench
