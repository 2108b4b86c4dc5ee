// Which loss a lab may have: what its settings and the faults that have acted explain, and nothing else.
#pragma once

#include "control/build/built_lab.h"
#include "control/swarm/reach.h"
#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/device/pfc_enable.h"

namespace railyard::swarm {

class Excuses {
 public:
  Excuses(build::BuiltLab& lab, const Reach& reach) : lab_(lab), reach_(reach) {}

  // Whether a frame may have been dropped for `reason`, counted at `port` in `priority` (by the device's own map),
  // while faults act. Of frames without a class: at() below.
  bool drop(DropReason reason, PortRef port, Priority priority) const;
  // The same of frames dropped before they had a class.
  bool drop_at(DropReason reason, PortRef port) const;
  // The same long after the last fault: what was wrong with a frame may show late.
  bool late_drop(DropReason reason, PortRef port, Priority priority) const;
  // Whether frames may have been lost on the wire to `receiver`: to a fault of it; with the link.
  bool lost_to_fault(PortRef receiver) const;
  bool lost_with_link(PortRef receiver) const;
  bool duplicated(PortRef receiver) const;

  bool is_lossless(PortRef port, Priority priority) const;
  // Whether its sender has credits.
  bool has_credits(PortRef port, Priority priority) const;
  PfcEnable pfc_of(PortRef port) const;

 private:
  const spec::QosProfile& qos_of(DeviceId device) const;
  const spec::SwitchProfile* profile_of(DeviceId device) const;
  bool may_reroute() const;
  bool stops(PortRef port, Priority priority) const;
  bool loses_by_settings(PortRef port, Priority priority) const;
  bool overruns(PortRef port) const;
  bool misclassified(PortRef port) const;
  bool loses_pcp(PortRef port) const;

  build::BuiltLab& lab_;
  const Reach& reach_;
};

}  // namespace railyard::swarm
