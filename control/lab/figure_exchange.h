// What processes that run one lab together (dataplane/run/peers.h) tell each other of it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/fault/faults.h"
#include "control/probes/prober.h"
#include "control/report/report.h"
#include "control/telemetry/looks.h"
#include "control/telemetry/port_watch.h"
#include "dataplane/run/engine.h"
#include "dataplane/run/peers.h"

namespace railyard::lab {

// Each process has the whole lab and runs a part of its devices. Whoever looks at the lab at an instant, such as a
// report, finds what he would find if his process ran all devices: after figures have been exchanged. All processes call
// the same functions at the same instants, while the engine rests.
class FigureExchange {
 public:
  // All of them outlive it.
  FigureExchange(build::BuiltLab& lab, Engine& engine, fault::Faults& faults, probes::Prober& prober,
                 telemetry::PortWatch& ports, const Parts& parts);

  // Flows, collectives, pings, captures that are sent, triggers: to all, each of which finds out whether traffic has ended.
  void exchange_traffic();
  // The same, devices, faults, trains of probes, the packets in the fabric, and what was seen of ports: to the first process,
  // which makes the report.
  void gather_for_report();
  // What the looks that are due next read (telemetry::Looks::Reads): to the first process, which keeps what they find.
  void gather_for(const telemetry::Looks& looks);
  // In the first process: adds the counters that others have taken of their devices. Returns of how many devices there are
  // any now.
  std::size_t complete(report::Snapshot& counters) const;
  // What each process has cost, in the first one; nothing in others. `mine`: this one's, without what the engine knows.
  std::vector<report::ProcessReport> costs(report::ProcessReport mine) const;

 private:
  void exchange_devices(StateArchive& archive, std::size_t process, Device::Figures which);
  void exchange_traffic(StateArchive& archive, std::size_t process);
  void exchange_figures(StateArchive& archive, std::size_t process);
  void exchange_ports(StateArchive& archive, std::size_t process);

  build::BuiltLab& lab_;
  Engine& engine_;
  fault::Faults& faults_;
  probes::Prober& prober_;
  telemetry::PortWatch& ports_;
  const Parts& parts_;
  struct Generator {
    TrafficGenerator* generator;
    DeviceId device;
  };
  std::vector<Generator> generators_;  // each once
};

// Throws std::invalid_argument for what one process alone can run: the wall clock, and labs in which hosts outside or
// agents take part.
void check_runs_in_parts(const spec::Lab& lab);

}  // namespace railyard::lab
