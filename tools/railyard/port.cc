// `railyard port`: what ports of this machine can do.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/lab/cable.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

using nlohmann::json;

struct PortOptions {
  std::string a;
  std::string b;
  lab::CableOptions cable;
  bool json = false;
};

json to_json(const CableWay& way) {
  return {{"shortest_frame", way.shortest},
          {"largest_frame", way.largest_frame},
          {"tagged", way.tagged},
          {"pfc", way.pfc},
          {"pause", way.pause},
          {"roce", way.roce},
          {"checksums_unchanged", way.checksums},
          {"ecn_unchanged", way.ecn},
          {"burst", {{"sent", way.sent}, {"lost", way.lost}, {"reordered", way.reordered}, {"damaged", way.damaged}}},
          {"latency_ns", {{"p50", way.latency_p50.count()}, {"p99", way.latency_p99.count()}}}};
}

// Whether everything that a fabric needs passes. PAUSE is not among it: nothing sends it.
bool is_good(const CableWay& way, std::uint32_t mtu) {
  return way.shortest && way.largest_frame >= mtu + 14 && way.tagged && way.pfc && way.roce && way.checksums &&
         way.ecn && way.lost == 0 && way.damaged == 0 && way.reordered == 0;
}

void print_way(const std::string& from, const std::string& to, const CableWay& way, std::uint32_t mtu) {
  const auto row = [](const char* what, bool good, const std::string& text, const char* advice) {
    fmt::print("  {:39} {}{}\n", what, text, good ? "" : fmt::format("  {}", advice));
  };
  const auto yes_no = [&](const char* what, bool good, const char* advice) {
    row(what, good, good ? "yes" : "no", advice);
  };
  fmt::print("{} -> {}\n", from, to);
  if (!way.shortest) {
    fmt::print("  no frame passes: are these the two ends of one cable?\n");
    return;
  }
  row("largest frame (bytes, no FCS, no tag)", way.largest_frame >= mtu + 14, fmt::format("{}", way.largest_frame),
      "raise the MTU of the interfaces, or set mtu: on the link");
  yes_no("IEEE 802.1Q tags", way.tagged, "disable VLAN offloads (ethtool -K IF rxvlan off txvlan off)");
  yes_no("PFC frames", way.pfc, "the NIC or its driver consumes them: a host behind it cannot pause the fabric");
  yes_no("PAUSE frames", way.pause, "(not needed)");
  yes_no("RoCEv2 (UDP port 4791)", way.roce, "an RDMA NIC consumes them: dataplane/port/README.md, 3");
  yes_no("wrong checksums unchanged", way.checksums, "disable checksum offloads (ethtool -K IF rx off tx off)");
  yes_no("DSCP and ECN unchanged", way.ecn, "a device in between rewrites them");
  row("burst of frames", way.lost + way.reordered + way.damaged == 0,
      fmt::format("{} of {} received, {} out of order, {} damaged", way.sent - way.lost, way.sent, way.reordered,
                  way.damaged),
      "");
  fmt::print("  {:39} p50 {:.1f} us, p99 {:.1f} us\n", "latency, port to port",
             static_cast<double>(way.latency_p50.count()) / 1e3, static_cast<double>(way.latency_p99.count()) / 1e3);
}

int test(const PortOptions& o) {
  const lab::CableReport report = lab::test_cable(o.a, o.b, o.cable);
  const bool good = report.link && is_good(report.ways[0], o.cable.mtu) && is_good(report.ways[1], o.cable.mtu);
  if (o.json) {
    json out{{"a", o.a}, {"b", o.b}, {"mtu", o.cable.mtu}, {"link", report.link}, {"good", good}};
    if (report.link) out["ways"] = {to_json(report.ways[0]), to_json(report.ways[1])};
    fmt::print("{}\n", json_text(out, 2));
  } else if (!report.link) {
    fmt::print("{} and {} have no link: is the cable in, are both interfaces up (ip link set IF up)?\n", o.a, o.b);
  } else {
    print_way(o.a, o.b, report.ways[0], o.cable.mtu);
    print_way(o.b, o.a, report.ways[1], o.cable.mtu);
  }
  return good ? kOk : kFailed;
}

}  // namespace

void add_port(CLI::App* command, int& exit_code) {
  command->require_subcommand(1);
  command->footer("Example:\n  railyard port test eth1 eth2");
  auto* sub = command->add_subcommand("test", "Send frames of all kinds between two cabled ports");
  auto o = std::make_shared<PortOptions>();
  const char* names = "an interface (eth1, eth1@NETNS), a PCI address, or KIND:VALUE as in attach";
  sub->add_option("A", o->a, names)->required();
  sub->add_option("B", o->b, names)->required();
  sub->add_option("--mtu", o->cable.mtu, "Longest IP packet to try, bytes")
      ->check(CLI::Range(68, 9978))
      ->capture_default_str();
  sub->add_flag("--hugepages", o->cable.hugepages, "Use huge pages for packet memory (PCI devices)");
  sub->add_flag("--json", o->json, "Print JSON");
  sub->footer(
      "Reports per direction: the largest frame, 802.1Q tags, PFC and PAUSE frames, RoCEv2, checksums, DSCP and "
      "ECN,\nloss, order and damage in a burst, latency. No lab is needed; the test uses the ports. Exit code 1: "
      "frames that a\nfabric needs do not pass.\n"
      "Examples:\n"
      "  ip link add v0 mtu 9216 type veth peer name v1 mtu 9216; ip link set v0 up; ip link set v1 up\n"
      "  railyard port test v0 v1\n"
      "  railyard port test 0000:03:00.0 0000:03:00.1 --hugepages");
  sub->callback([o, &exit_code] { exit_code = test(*o); });
}

}  // namespace railyard::tools
