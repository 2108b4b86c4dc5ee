// Faults of switches, their ports and queues.
#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"

namespace railyard::spec::fault {
namespace {

Form<DscpMap> dscp_map() {
  return {[](const Tree& tree) {
            DscpMap map;
            for (const Tree::Entry& e : tree.as_map("a map of DSCPs to classes, such as { 26: 0 }")) {
              const Parsed<std::int64_t> dscp = parse_integer(e.key, 0, 63);
              if (!dscp) fail_at(e.place, tree.path, fmt::format("DSCP: {}", dscp.error()));
              map.to_class[static_cast<int>(*dscp)] = integer(0, 7).read(e.value);
            }
            if (map.to_class.empty()) tree.fail("is empty; expected a map of DSCPs to classes, such as { 26: 0 }");
            return map;
          },
          [](const DscpMap& map) {
            Tree tree = Tree::map();
            for (const auto& [dscp, to] : map.to_class) tree.add(std::to_string(dscp), Tree::plain(std::to_string(to)));
            return tree;
          },
          Tree::map({{"type", Tree::string("object")}, {"additionalProperties", integer(0, 7).schema}})};
}

void check_wrong_ecn(const Tree& map, const EcnThresholds& e) {
  if (e.kmin > e.kmax)
    map.at_or_self("kmin").fail(
        fmt::format("{} is above kmax ({}); expected kmin <= kmax", format(e.kmin), format(e.kmax)));
}

}  // namespace

FaultKind DscpMap::kind() {
  return described({.key = "dscp-map",
                    .help = "of a switch or its port: map DSCPs to other classes",
                    .scope = FaultScope::kSwitchPort,
                    .draw =
                        [](FaultDraw& f) {
                          return std::string(Text{"{{ {}: {}, {}: {} }}", f.draw.of(f.dscps), f.draw.between(0, 7),
                                                  f.draw.between(0, 63), f.draw.between(0, 7)});
                        },
                    .effects = {FaultEffect::kReorders, FaultEffect::kChangesClass},
                    .reference = {{"{ 26: 0 }", "map these DSCPs to other classes"}}},
                   dscp_map());
}

FaultKind EcnThresholds::kind() {
  static const Table<EcnThresholds> table{
      "wrong-ecn",
      "Wrong ECN thresholds",
      {key("kmin", &EcnThresholds::kmin, size(Bytes{0}, Bytes{std::int64_t{1} << 40}),
           "queue depth below which no packet is marked")
           .require(),
       key("kmax", &EcnThresholds::kmax, size(Bytes{0}, Bytes{std::int64_t{1} << 40}),
           "queue depth above which every packet is marked")
           .require(),
       key("pmax", &EcnThresholds::pmax_ppm, ppm(), "mark probability at kmax")},
      check_wrong_ecn};
  return described({.key = "ecn",
                    .help = "of a switch, port or queue: replace its ECN thresholds",
                    .scope = FaultScope::kQueue,
                    .one_class = true,
                    .draw =
                        [](FaultDraw& f) {
                          const std::int64_t kmin = f.draw.between(0, 100);
                          return std::string(Text{"{{ kmin: {}KB, kmax: {}KB, pmax: {}% }}", kmin,
                                                  kmin + f.draw.between(0, 100), f.draw.between(1, 100)});
                        },
                    .reference = {{"{ kmin: 1KB, kmax: 2KB, pmax: 50% }", "replace the ECN thresholds"}}},
                   map_of(table), table);
}

FaultKind BufferTaken::kind() {
  return described({.key = "buffer",
                    .help = "of a switch: remove this much shared memory",
                    .scope = FaultScope::kSwitch,
                    .check_node =
                        [](const FaultAt& at) {
                          const Bytes taken = std::get<BufferTaken>(at.fault.action).size;
                          const Bytes all = at.lab.switches.at(at.node.profile).buffer;
                          if (taken > all)
                            at.said.at_or_self("buffer").fail(fmt::format("{} is more than the buffer of {} ({})",
                                                                          format(taken), at.node.name, format(all)));
                        },
                    .draw = [](FaultDraw& f) { return fmt::format("{}KB", f.draw.between(100, 2000)); },
                    .reference = {{"8MiB", "remove this much shared memory"}}},
                   only(&BufferTaken::size, spec::size(Bytes{1})));
}

FaultKind Crash::kind() {
  using Where = ExplainedDrop::Where;
  return described({.key = "crash",
                    .help = "of a switch: all links down and all frames lost, for `for`",
                    .scope = FaultScope::kSwitch,
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kBreaksLink, FaultEffect::kReorders, FaultEffect::kLosesPauseState},
                    .explains = {{DropReason::kCrash, Where::kDevice}, {DropReason::kLinkDown, Where::kPort}},
                    .reference = {{"true", "crash: all frames lost, all links down; reboots after `for`"}}},
                   so<Crash>());
}

FaultKind Drained::kind() {
  return described({.key = "drain",
                    .help = "of a switch: routing leads traffic around it, as before maintenance; it still forwards what "
                            "it gets",
                    .scope = FaultScope::kSwitch,
                    .check_node =
                        [](const FaultAt& at) {
                          if (has_speaker(at.lab, at.node))
                            at.where.fail(fmt::format(
                                "{} has a speaker of its own, which leads traffic around it; with FRR: railyard exec {} -- "
                                "vtysh -c 'configure terminal' -c 'router bgp' -c 'bgp graceful-shutdown'",
                                at.node.name, at.node.name));
                        },
                    .draw = [](FaultDraw&) { return std::string("true"); },
                    .effects = {FaultEffect::kReorders},
                    .reference = {{"true", "lead traffic around this switch, until the fault ends"}}},
                   so<Drained>());
}

}  // namespace railyard::spec::fault
