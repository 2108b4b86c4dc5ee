// Every table of keys of the fabric file, by what it says. Tables are made once and live as long as the program.
#pragma once

#include <map>
#include <string>

#include "control/spec/keys/table.h"
#include "control/spec/spec.h"
#include "dataplane/base/framing.h"

namespace railyard::spec {

// qos.<name>
const Table<QosProfile>& qos_keys();
// qos.<name>.classes.<0..7>
const Table<TrafficClass>& class_keys();
// qos.<name>.classes.<0..7>.path
const Table<PathSpec>& path_keys();
Form<PathSpec> path_form();
// The policies and their settings, as explicit.yaml has them (reference.h).
std::string path_reference();
// qos.<name>.classes.<0..7>.ecn
const Table<Ecn>& ecn_keys();
// qos.<name>.classes.<0..7>.drop, and what it has for ECN-capable packets and others
const Table<Wred>& wred_keys();
const Table<WredRamp>& drop_ramp_keys();
// qos.<name>.classes.<0..7>.trim
const Table<Trim>& trim_keys();
// qos.<name>.classes.<n>.by-rate.<rate>, nodes.<name>.ports.<n>.classes.<n>
const Table<ClassOverride>& class_override_keys();
Form<PfcMode> pfc_form();
// qos.<name>.classes.<n>.cbfc
const Table<CbfcSpec>& cbfc_keys();

// switches.<name>
const Table<SwitchProfile>& switch_keys();
Form<ControlSpec> control_form();
// switches.<pattern>: of all switches whose names fit one of the patterns between commas
const Table<NodeSpec>& switch_pattern_keys();
bool is_pattern(const std::string& name) noexcept;
const Table<EcmpSpec>& ecmp_keys();
const Table<PfcWatchdog>& pfc_watchdog_keys();
const Table<ReductionSpec>& reduction_keys();
// hosts.<name>
const Table<HostProfile>& host_keys();
const Table<ReceiveSpec>& receive_keys();
// hosts.<name>.roce
const Table<RoceNicSpec>& roce_nic_keys();
const Table<SelectiveRepeatSpec>& selective_repeat_keys();
const Table<CnpSpec>& cnp_keys();
const Table<AckSpec>& ack_keys();
// hosts.<name>.uet
const Table<UetNicSpec>& uet_nic_keys();
Form<UetNicSpec> uet_nic_form();
const Table<NsccSpec>& nscc_keys();
const Table<RcccSpec>& rccc_keys();
const Table<UetSecuritySpec>& uet_security_keys();
// traffic.<n>.rping
const Table<RpingTraffic>& rping_keys();

// links.<n>.llr
const Table<LlrSpec>& llr_keys();
// links.<n>.framing
const Table<Framing>& framing_keys();
// defaults.link, the third element of a link, and a preset's links: all but the ends.
const Table<LinkSpec>& link_keys();
// links.<n>: [a, b, { ... }], read onto `defaults`.
LinkSpec read_link(const Tree& tree, const LinkSpec& defaults);
Tree write_link(const LinkSpec& link, const LinkSpec& defaults);
Tree link_schema();

// nodes.<name>, of a switch, of a host and of a trunk.
const Table<NodeSpec>& switch_node_keys();
const Table<NodeSpec>& host_node_keys();
const Table<NodeSpec>& trunk_node_keys();
const Table<NodeSpec>& node_keys(NodeSpec::Kind kind);
const Table<TrunkUdp>& trunk_udp_keys();
const Table<NicSpec>& nic_keys();
const Table<AgentSpec>& agent_keys();
const Table<VlanSpec>& vlan_keys();
// nodes.<name>.ports.<n>
const Table<PortSpec>& port_keys();
// A path in a file is meant from the folder of that file, wherever the command runs; one in a --set from where it runs.
Form<std::string> file_path(std::size_t longest);
Form<Attachment> attachment_form();
Form<Attachment> port_attachment_form();  // a port to the outside that exists or is made for itself: a trunk's
Form<Attachment> made_host_form();  // namespace or vm
const Table<AttachPcap>& pcap_keys();
const Table<AttachMemif>& memif_keys();

// traffic.<n>
const Table<TrafficSpec>& traffic_keys();
// Which NICs, "h1", "h*", "h3:2" (select.h); and octets of payload in a full packet of RoCE.
Form<std::string> selector();
Form<int> path_mtu();
// Of RoCE or UET; check_path_mtu() looks at which has which when the transport is known.
Form<int> any_path_mtu();
void check_path_mtu(const Tree& map, int said, bool uet);
// collectives.<n>
const Table<CollectiveSpec>& collective_keys();
// jobs.<n>, jobs.<n>.model, and the name and schema of jobs.<n>.parallelism
const Table<CollectiveSpec>& job_keys();
const Table<jobs::Model>& model_keys();
// jobs.<n>.checkpoint; jobs.<n>.failures.<m>
const Table<jobs::Storage>& checkpoint_keys();
const Table<jobs::Failure>& job_failure_keys();
const std::string& parallelism_table_name();
Tree parallelism_schema();
// jobs.<n>.inference, and its prefill and decode
const Table<jobs::Inference>& inference_keys();
const Table<jobs::Pool>& pool_keys();
// collectives.<n>.stragglers.<m>
const Table<StragglerSpec>& straggler_keys();
const Table<RunSpec>& run_keys();
// routing
const Table<RoutingSpec>& routing_keys();
const Table<DampeningSpec>& dampening_keys();
const Table<BfdSpec>& bfd_keys();
// A protocol's word, or the map.
Form<RoutingSpec> routing_form();
// probe
const Table<ProbeSpec>& probe_keys();
// compare
const Table<CompareSpec>& compare_keys();
// diagnosis
const Table<DiagnosisSpec>& diagnosis_keys();
// sites.<name>, trunks
const Table<SiteSpec>& site_keys();
const Table<TrunksSpec>& trunks_keys();
// hosts.<name>.scale-up
const Table<ScaleUpSpec>& scale_up_keys();
// hosts.<name>.pcie
const Table<PcieSpec>& pcie_keys();
Form<PcieSpec> pcie_form();
// run.budgets
const Table<BudgetSpec>& budget_keys();
// run.int
const Table<IntSpec>& int_keys();

// faults.<n>
const Table<FaultSpec>& fault_keys();
// The maps of those that say more than one thing.

// The whole file: what it has of each part, not yet read.
struct Sections {
  std::string name;
  std::string description;
  const Tree* qos = nullptr;
  const Tree* switches = nullptr;
  const Tree* hosts = nullptr;
  const Tree* defaults = nullptr;
  const Tree* topology = nullptr;
  const Tree* fabrics = nullptr;
  const Tree* nodes = nullptr;
  const Tree* links = nullptr;
  const Tree* traffic = nullptr;
  const Tree* collectives = nullptr;
  const Tree* jobs = nullptr;
  const Tree* faults = nullptr;
  const Tree* routing = nullptr;
  const Tree* run = nullptr;
  const Tree* probe = nullptr;
  const Tree* compare = nullptr;
  const Tree* expect = nullptr;
  const Tree* diagnosis = nullptr;
  const Tree* sites = nullptr;
  const Tree* trunks = nullptr;
};
const Table<Sections>& file_keys();

// { <name>: <profile> }
template <class T>
std::map<std::string, T> read_profiles(const Tree& tree, const Table<T>& table) {
  const Form<std::string> name = name_form();
  std::map<std::string, T> profiles;
  for (const Tree::Entry& entry : tree.as_map("a map of profiles by name")) {
    Tree key = Tree::plain(entry.key);
    key.place = entry.place;
    key.path = tree.path;
    table.read(entry.value, profiles[name.read(key)]);
  }
  return profiles;
}

}  // namespace railyard::spec
