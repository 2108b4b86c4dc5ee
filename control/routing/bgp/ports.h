// Which ports a switch's routing counts as up: carrier that lasts, and flaps that are dampened.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "control/routing/graph.h"
#include "control/spec/routing_spec.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard::routing::bgp {

class Ports {
 public:
  Ports(const Graph& graph, const spec::RoutingSpec& spec) : spec_(spec), by_node_(graph.size()) {
    for (std::size_t n = 0; n < graph.size(); ++n)
      if (graph.is_switch(n)) by_node_[n].resize(graph.ports(n));
  }

  bool up(std::size_t node, PortIndex port) const noexcept { return by_node_[node][port.index()].noticed; }

  // The signal is gone or there. Returns a token for noticed(), to be called when it has been so for the carrier
  // delay.
  std::uint64_t changed(std::size_t node, PortIndex port, bool up) noexcept {
    Port& p = by_node_[node][port.index()];
    p.signal = up;
    return ++p.changes;
  }

  enum class Notice : std::uint8_t { kNothing, kDown, kUp };
  struct Result {
    Notice notice = Notice::kNothing;
    Instant again = Instant::never();  // it is to be called again then, with the same token: the port is dampened
  };
  Result noticed(Instant now, std::size_t node, PortIndex port, std::uint64_t token) {
    Port& p = by_node_[node][port.index()];
    if (token != p.changes || p.signal == p.noticed) return {};
    if (!p.signal) {
      p.noticed = false;
      penalise(now, p);
      return {Notice::kDown};
    }
    if (p.suppressed_until > now) return {Notice::kNothing, p.suppressed_until};
    p.noticed = true;
    return {Notice::kUp};
  }

 private:
  struct Port {
    bool signal = true;
    bool noticed = true;
    std::uint64_t changes = 0;
    double penalty = 0;
    Instant penalised{};
    Instant suppressed_until{};
  };

  void penalise(Instant now, Port& p) const {
    if (!spec_.dampening) return;
    constexpr double kPerFlap = 1000;
    const spec::DampeningSpec& d = *spec_.dampening;
    const auto half_lives = [&](Duration t) { return static_cast<double>(t.ps) / static_cast<double>(d.half_life.ps); };
    p.penalty = p.penalty * std::exp2(-half_lives(now - p.penalised)) + kPerFlap;
    p.penalised = now;
    if (p.suppressed_until <= now && p.penalty <= d.suppress) return;
    // Down to d.reuse.
    const double wait = std::log2(p.penalty / d.reuse) * static_cast<double>(d.half_life.ps);
    p.suppressed_until = now + std::min(d.most, Duration{static_cast<std::int64_t>(wait)});
  }

  const spec::RoutingSpec& spec_;
  std::vector<std::vector<Port>> by_node_;
};

}  // namespace railyard::routing::bgp
