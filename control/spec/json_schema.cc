#include "control/spec/json_schema.h"

#include "control/spec/faults/fault_kind.h"
#include "control/spec/keys/definitions.h"
#include "control/spec/keys/keys.h"
#include "control/spec/keys/parameter_keys.h"
#include "control/spec/keys/unique.h"
#include "control/spec/presets/preset.h"
#include "control/spec/yaml/print.h"

namespace railyard::spec {
namespace {

template <class T>
void define(Tree& definitions, const Table<T>& table) {
  definitions.add(table.name(), table.schema());
}

}  // namespace

std::string json_schema() {
  check_kinds();
  Tree definitions = scalar_definitions();
  define(definitions, qos_keys());
  define(definitions, class_keys());
  define(definitions, path_keys());
  define(definitions, ecn_keys());
  define(definitions, wred_keys());
  define(definitions, drop_ramp_keys());
  define(definitions, trim_keys());
  define(definitions, cbfc_keys());
  define(definitions, class_override_keys());
  define(definitions, switch_keys());
  define(definitions, switch_pattern_keys());
  define(definitions, ecmp_keys());
  define(definitions, pfc_watchdog_keys());
  define(definitions, reduction_keys());
  define(definitions, host_keys());
  define(definitions, receive_keys());
  define(definitions, roce_nic_keys());
  define(definitions, nscc_keys());
  define(definitions, rccc_keys());
  define(definitions, uet_security_keys());
  define(definitions, uet_nic_keys());
  roce::for_each_congestion_kind(
      [&]<class K>(std::type_identity<K>, std::size_t) { define(definitions, parameter_table<K>()); });
  define(definitions, selective_repeat_keys());
  define(definitions, cnp_keys());
  define(definitions, ack_keys());
  define(definitions, llr_keys());
  define(definitions, framing_keys());
  define(definitions, link_keys());
  for (const Preset& preset : presets()) definitions.add(preset.name, preset.schema());
  define(definitions, switch_node_keys());
  define(definitions, vlan_keys());
  define(definitions, port_keys());
  define(definitions, host_node_keys());
  define(definitions, nic_keys());
  define(definitions, agent_keys());
  define(definitions, pcap_keys());
  define(definitions, memif_keys());
  define(definitions, trunk_node_keys());
  define(definitions, trunk_udp_keys());
  define(definitions, traffic_keys());
  define(definitions, collective_keys());
  define(definitions, straggler_keys());
  define(definitions, job_keys());
  define(definitions, model_keys());
  define(definitions, checkpoint_keys());
  define(definitions, job_failure_keys());
  definitions.add(parallelism_table_name(), parallelism_schema());
  define(definitions, inference_keys());
  define(definitions, pool_keys());
  define(definitions, scale_up_keys());
  define(definitions, pcie_keys());
  define(definitions, rping_keys());
  define(definitions, fault_keys());
  for (const FaultKind& kind : fault_kinds())
    for (const Tree::Entry& table : kind.definitions) definitions.add(table.key, table.value);
  define(definitions, routing_keys());
  define(definitions, dampening_keys());
  define(definitions, bfd_keys());
  define(definitions, run_keys());
  define(definitions, probe_keys());
  define(definitions, compare_keys());
  define(definitions, diagnosis_keys());
  define(definitions, site_keys());
  define(definitions, trunks_keys());
  define(definitions, int_keys());
  define(definitions, budget_keys());
  require_unique_definitions(definitions);
  definitions.spread = true;

  Tree schema = Tree::map();
  schema.add("$schema", Tree::string("https://json-schema.org/draft/2020-12/schema"));
  schema.add("title", Tree::string("Railyard fabric file"));
  for (const Tree::Entry& entry : file_keys().schema().entries)
    schema.add(entry.key, entry.key == "type" ? Tree::string("object") : entry.value);
  schema.add("$defs", std::move(definitions));
  return print_json(schema);
}

}  // namespace railyard::spec
