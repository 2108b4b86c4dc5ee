// How routes follow the state of links: the seam between routing protocols and labs that run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "control/routing/shortest_paths.h"
#include "control/spec/routing_spec.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"

namespace railyard::routing {

// A port of a switch can be used no more, or again.
struct PortChange {
  Instant at;
  std::size_t node;
  PortIndex port;
  bool up;
  bool by_bfd = false;  // which has waited long enough; else it is by the port's signal

  auto key() const noexcept { return std::tuple(at, node, port.value); }
};

// What a switch forwards by is something else from `at` on, for these origins.
struct TableChange {
  Instant at;
  std::size_t node;
  std::vector<std::pair<std::size_t, NextHopGroup>> groups;  // by origin, each once
};

// What has been done, for reports.
struct ProtocolCounters {
  std::uint64_t messages = 0;   // from switch to switch
  std::uint64_t decisions = 0;  // of a switch, about any number of origins
};

// Deterministic: the same changes give the same tables, whatever portions run() is called for.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // Each switch is told of its end. In order of PortChange::key(), and none before the last run().
  virtual void port_changed(const PortChange& change) = 0;
  // `node` is to be avoided by others from `at` on, or no more, but goes on forwarding what it gets. Not before the
  // last run().
  virtual void drain(Instant at, std::size_t node, bool on) = 0;

  // The earliest instant at which there is something to do; Instant::never() at rest.
  virtual Instant next() const = 0;
  // Does everything due before `until`. `write` is told what follows for tables, at least the reaction() after its
  // cause; of one switch in order.
  virtual void run(Instant until, const std::function<void(TableChange)>& write) = 0;

  virtual ProtocolCounters counters() const = 0;
  // What `node` has chosen, whether or not it is in its table yet.
  virtual const Rib& rib(std::size_t node) const = 0;
};

// `graph` and `routes`, which are those of all links up, outlive it. `reaction`: no table changes sooner after the
// change that it follows from; > 0. Nothing for RoutingProtocol::kStatic.
std::unique_ptr<Protocol> make_protocol(const spec::RoutingSpec& spec, const Graph& graph, const Routes& routes,
                                        Duration reaction);

}  // namespace railyard::routing
