#include "control/report/transients.h"

#include <algorithm>
#include <map>

#include "control/report/convergence.h"
#include "control/report/report.h"

namespace railyard::report {
namespace {

constexpr std::int64_t kPsPerNs = 1000;

std::optional<std::int64_t> ns_of(const std::optional<Instant>& at) {
  return at ? std::optional(nanoseconds(*at - Instant{})) : std::nullopt;
}

Transients::Shared shared(const telemetry::TransientWatch& watch, const std::vector<FlowReport>& flows,
                          const std::vector<std::size_t>& of) {
  Sharing s;
  s.every = watch.every();
  std::int64_t onset = 0;
  std::optional<std::int64_t> done;
  double limit = 0, octets = 0, packets = 0;
  std::size_t looks = 0;
  for (const std::size_t i : of) {
    const FlowReport& f = flows[i];
    s.arrived.push_back(watch.arrived(i));
    looks = std::max(looks, s.arrived.back().size());
    onset = std::max(onset, f.start_ns);
    if (f.fct_ns) done = std::min(done.value_or(f.start_ns + *f.fct_ns), f.start_ns + *f.fct_ns);
    limit = std::max(limit, f.limit_bps);
    octets += static_cast<double>(f.bytes);
    packets += static_cast<double>(f.packets);
  }
  s.onset = Duration{onset * kPsPerNs};
  s.until = s.every * static_cast<std::int64_t>(looks - 1);
  if (done) s.until = std::min(s.until, Duration{*done * kPsPerNs});
  s.fair_bps = limit / static_cast<double>(of.size());
  s.packet_octets = packets > 0 ? octets / packets : 0;
  Transients::Shared r{flows[of.front()].destination, of.size(), s.fair_bps, onset, {}, nearest_share(s)};
  if (const auto after = convergence(s)) r.convergence_ns = nanoseconds(*after);
  return r;
}

}  // namespace

std::optional<std::int64_t> Transients::repair_ns() const {
  if (!first_loss_ns || !first_repair_ns) return std::nullopt;
  return *first_repair_ns - *first_loss_ns;
}

std::optional<std::int64_t> Transients::convergence_ns() const {
  std::optional<std::int64_t> slowest;
  for (const Shared& s : shared) {
    if (!s.convergence_ns) return std::nullopt;
    slowest = std::max(slowest.value_or(0), *s.convergence_ns);
  }
  return slowest;
}

std::optional<double> Transients::nearest_share() const {
  std::optional<double> worst;
  for (const Shared& s : shared) {
    if (!s.nearest_share) return std::nullopt;
    worst = std::max(worst.value_or(0), *s.nearest_share);
  }
  return worst;
}

Transients transients(const telemetry::TransientWatch& watch, const std::vector<FlowReport>& flows) {
  Transients t{nanoseconds(watch.every()), ns_of(watch.first_loss()), ns_of(watch.first_repair()), {}};
  std::map<std::string, std::vector<std::size_t>> by_sink;
  for (std::size_t i = 0; i < flows.size(); ++i)
    if (flows[i].measured) by_sink[flows[i].destination].push_back(i);
  for (const auto& [sink, of] : by_sink)
    if (of.size() > 1) t.shared.push_back(shared(watch, flows, of));
  return t;
}

using Json = nlohmann::ordered_json;

nlohmann::ordered_json transients_json(const Transients& t) {
  const auto or_null = [](const std::optional<std::int64_t>& v) { return v ? Json(*v) : Json(nullptr); };
  Json j = {{"every_ns", t.every_ns},
            {"first_loss_ns", or_null(t.first_loss_ns)},
            {"first_repair_ns", or_null(t.first_repair_ns)},
            {"repair_ns", or_null(t.repair_ns())},
            {"convergence_ns", or_null(t.convergence_ns())}};
  j["shared"] = Json::array();
  for (const Transients::Shared& s : t.shared)
    j["shared"].push_back({{"sink", s.sink},
                           {"flows", s.flows},
                           {"fair_bps", s.fair_bps},
                           {"onset_ns", s.onset_ns},
                           {"convergence_ns", or_null(s.convergence_ns)},
                           {"nearest_share", s.nearest_share ? Json(*s.nearest_share) : Json(nullptr)}});
  return j;
}

}  // namespace railyard::report
