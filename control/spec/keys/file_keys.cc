// The keys of the whole file.
#include <algorithm>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/presets/preset.h"

namespace railyard::spec {
namespace {

// A part that is read later, when what it refers to is known.
Key<Sections> part(std::string name, const Tree* Sections::*member, Tree schema, std::string description) {
  return {std::move(name),
          std::move(description),
          [member](const Tree& tree, Sections& into) { into.*member = &tree; },
          [](const Sections&) { return Tree{}; },
          [](const Sections&, const Sections&) { return true; },
          std::move(schema)};
}

Tree map_schema(Tree of) {
  return Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                    {"propertyNames", reference("name")},
                    {"additionalProperties", std::move(of)}});
}

Tree switches_schema() {
  return Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                    {"propertyNames", Tree::map({{"type", Tree::string("string")},
                                                 {"pattern", Tree::string("^[A-Za-z0-9*?][A-Za-z0-9_*?,-]*$")}})},
                    {"patternProperties", Tree::map({{"[*?,]", reference(switch_pattern_keys().name())}})},
                    {"additionalProperties", reference(switch_keys().name())}});
}

Tree list_schema(Tree of) {
  return Tree::map({{"type", Tree::list({Tree::string("array"), Tree::string("null")})}, {"items", std::move(of)}});
}

Form<std::string> lab_name() {
  Form<std::string> form = checked<std::string>(name_form(), [](const std::string& name) -> std::optional<std::string> {
    const bool good =
        std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
    if (good) return std::nullopt;
    return fmt::format("'{}' is not the name of a lab; expected small letters, digits and '-'", name);
  });
  form.write = [](const std::string& name) { return Tree::string(name); };
  form.schema = Tree::map({{"type", Tree::string("string")}, {"pattern", Tree::string("^[a-z0-9][a-z0-9-]{0,62}$")}});
  return form;
}

Tree defaults_schema() {
  return Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                    {"properties", Tree::map({{"link", reference(link_keys().name())}})},
                    {"additionalProperties", Tree::plain("false")}});
}

}  // namespace

const Table<Sections>& file_keys() {
  static const Table<Sections> table{
      "file",
      "A Railyard lab: a fabric, its traffic and its run settings",
      {key("name", &Sections::name, lab_name(), "name of the lab").require(),
       key("description", &Sections::description, any_text(), "what the lab shows"),
       part("qos", &Sections::qos, map_schema(reference(qos_keys().name())),
            "QoS profiles by name. Without a 'default' a built-in one is added: class 3 lossless with ECN, classes 5 "
            "(UET control packets) and 6 (CNPs) strict"),
       part("switches", &Sections::switches, switches_schema(),
            "switch profiles by name; switches that name none use 'default'. A name with * or ?, or several with commas, stands "
            "for all switches whose names fit and takes the keys profile and control"),
       part("hosts", &Sections::hosts, map_schema(reference(host_keys().name())),
            "host profiles by name; hosts that name none use 'default'"),
       part("defaults", &Sections::defaults, defaults_schema(), "default properties of links"),
       part("topology", &Sections::topology, preset_schema(), "preset that creates nodes and links"),
       part("fabrics", &Sections::fabrics, map_schema(preset_schema()),
            "instead of topology: several fabrics by name, a preset each. Switches are named after their fabric, such as "
            "storage-leaf1. Hosts of the same name are one host, with the NICs of each fabric in this order"),
       part("nodes", &Sections::nodes,
            map_schema(any_of_schemas({reference(switch_node_keys().name()), reference(host_node_keys().name()),
                                       reference(trunk_node_keys().name())})),
            "nodes by name, in addition to those of the preset. For a node of the preset, these keys override the "
            "preset's"),
       part("links", &Sections::links, list_schema(link_schema()), "links, in addition to those of the preset"),
       part("traffic", &Sections::traffic, list_schema(reference(traffic_keys().name())),
            "traffic between built-in hosts"),
       part("collectives", &Sections::collectives, list_schema(reference(collective_keys().name())),
            "collective operations between built-in hosts"),
       part("jobs", &Sections::jobs, list_schema(reference(job_keys().name())),
            "training jobs of built-in hosts; several may run at once"),
       part("faults", &Sections::faults, list_schema(reference(fault_keys().name())),
            "faults: kind, place and time"),
       part("routing", &Sections::routing, routing_form().schema,
            "how switches find routes, and how soon they react when links go down or come up: bgp, instant or static, or "
            "a map of settings"),
       part("run", &Sections::run, reference(run_keys().name()), "run settings"),
       part("probe", &Sections::probe, reference(probe_keys().name()),
            "probes of all pairs of built-in NICs, round by round, e.g. { every: 10m }; pairs that become slow are reported"),
       part("compare", &Sections::compare, reference(compare_keys().name()),
            "settings of transport comparisons of this lab (railyard compare-transports)"),
       part("expect", &Sections::expect, any_of_schemas({condition_form().schema, list_schema(condition_form().schema)}),
            "conditions on the figures of a run, e.g. busbw >= 380Gbps; if one fails, the run ends with exit code 6"),
       part("diagnosis", &Sections::diagnosis, reference(diagnosis_keys().name()),
            "the failure that this lab shows: symptom, cause, fix"),
       part("sites", &Sections::sites, map_schema(reference(site_keys().name())),
            "machines that can each run a part of the lab, by name (`railyard up --site`)"),
       part("trunks", &Sections::trunks, reference(trunks_keys().name()), "links between sites")}};
  return table;
}

}  // namespace railyard::spec
