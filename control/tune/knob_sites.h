// Where a lab has the settings that knobs turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/tune/knob.h"

namespace railyard::tune {

// Whether traffic or a collective of the lab goes over it.
bool has_transport(const spec::Lab& lab, spec::TrafficSpec::Transport transport);
// Whether the RoCE NICs of a profile of hosts run DCQCN, chosen or by default.
bool runs_dcqcn(const spec::Lab& lab, const std::string& profile);
// Of the lab's links, the fastest.
double fastest_gbps(const spec::Lab& lab);

// All classes of switches' QoS profiles that carry traffic, or all profiles that hosts have.
std::vector<KnobSite> sites_of(const spec::Lab& lab, KnobPlace place, const std::vector<int>& classes);

// "qos.default.classes.3.alpha".
std::string path_of(const Knob& knob, const KnobSite& site);

struct EcnValues {
  std::optional<double> kmin, kmax, pmax;  // nothing: as it is
};
// "qos.default.classes.3.ecn={ kmin: 40KB, kmax: 400KB, pmax: 20% }", with all that the class says otherwise.
std::string ecn_set(const spec::Lab& lab, const KnobSite& site, const EcnValues& values);
// Of thresholds that are automatic, what they are at the fastest link.
EcnValues ecn_of(const spec::Lab& lab, const KnobSite& site);

}  // namespace railyard::tune
