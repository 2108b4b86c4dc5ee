#include <fmt/format.h>

#include "control/spec/shipped.h"
#include "control/swarm/draw.h"
#include "control/swarm/generate.h"

namespace railyard::swarm {
namespace {

constexpr unsigned kAsicPercent = 15;      // of the profiles
constexpr unsigned kReducingPercent = 30;  // of the labs
constexpr unsigned kPciePercent = 60;      // of those with hosts of several NICs

// The memory of a switch: anything, or that of an ASIC, of which only this much may be there.
std::string memory(Seed seed, const char* name, int buffer_mib, const char* cell, bool with_asics) {
  Draw draw(seed, fmt::format("swarm/asic/{}", name));
  if (!draw.percent(kAsicPercent) || !with_asics) return fmt::format("buffer: {}MiB, cell: {}", buffer_mib, cell);
  const std::string_view asic = draw.of(spec::asic_profiles()).name;
  if (draw.percent(50)) return fmt::format("asic: {}", asic);
  return fmt::format("asic: {}, buffer: {}MiB, headroom-pool: {}KiB", asic, buffer_mib,
                     draw.percent(50) ? buffer_mib * 256 : 0);
}

// Switches that reduce for collectives: in some labs those of both profiles, in others of one.
std::string reduction(Seed seed, const std::string& name) {
  Draw lab(seed, "swarm/reduction");
  if (!lab.percent(kReducingPercent) || (name == "other" && lab.percent(40))) return "";
  Draw draw(seed, "swarm/reduction/" + name);
  return Text{", reduction: {{ rate: {}, latency: {}ns }}", draw.of({"all-ports", "50Gbps", "400Gbps"}), draw.of({0, 300, 2000})};
}

// Hosts that share a network of their own, whose switches may reduce. In labs with reduction, where collectives go over it.
std::string scale_up(Seed seed) {
  if (reduction(seed, "default").empty()) return "";
  Draw draw(seed, "swarm/scale-up");
  if (!draw.percent(40)) return "";
  return Text{", scale-up: {{ rate: {}Gbps, latency: {}ns, hosts: {}, reduces: {} }}", draw.of({50, 400, 1600}),
              draw.of({100, 500, 2000}), draw.between(2, 4), draw.percent(60)};
}

std::string switch_profile(Seed seed, const char* name, int buffer_mib, bool with_asics) {
  Draw draw(seed, fmt::format("swarm/switch/{}", name));
  const std::string has = memory(seed, name, buffer_mib, draw.of({"64B", "208B", "256B", "512B"}), with_asics);
  std::string text = Text{"  {}: {{ {}, mode: {}, latency: {}ns, pause-quanta: {}, qos: {}",
                          name,
                          has,
                          draw.percent(20) ? "cut-through" : "store-and-forward",
                          draw.between(100, 900),
                          draw.of({500, 2000, 8000, 65535}),
                          draw.of({"default", "other"})};
  if (draw.percent(30)) text += fmt::format(", pause-response: {}ns", draw.between(100, 2000));
  if (draw.percent(20))
    text += Text{", pfc-watchdog: {{ detect: {0}us, restore: {1}us, poll: {2}us, action: {3} }}", draw.between(4, 40),
                 draw.between(4, 20), draw.between(1, 4), draw.of({"drop", "drop", "forward", "alert"})};
  if (draw.percent(20)) {
    const int kib = buffer_mib * 1024 / draw.of({2, 4, 8});
    if (!has.starts_with("asic")) text += fmt::format(", headroom-pool: {}KiB", kib);
  }
  if (draw.percent(30))
    text +=
        Text{", ecmp: {{ fields: [{}], resilient: {} }}",
             draw.of({"addresses", "ports", "addresses, ports", "addresses, destination-qp", "ports, ingress-port"}),
             draw.of({"true", "false"})};
  return text + reduction(seed, name) + " }\n";
}

std::string host_profile(Seed seed, const char* name, bool slow, const std::string& more) {
  Draw draw(seed, fmt::format("swarm/host/{}", name));
  std::string text =
      Text{"  {}: {{ latency: {}ns, pause-quanta: {}", name, draw.between(50, 900), draw.of({500, 2000, 8000, 65535})};
  if (draw.percent(30)) text += fmt::format(", pause-response: {}ns", draw.between(100, 2000));
  // Room for what each class holds at XOFF and for what comes after it.
  const std::int64_t xoff = draw.between(40, 200);
  text += fmt::format(", receive: {{ {}buffer: 8MiB, xoff: {}KB, xon: {}KB }}",
                      slow ? fmt::format("rate: {}Gbps, ", draw.between(5, 60)) : "", xoff, xoff / 2);
  Draw pfc(seed, fmt::format("swarm/pfc/{}", name));
  if (pfc.percent(6)) text += Text{", pfc: {}", pfc.of({"on", "off", "rx", "tx"})};
  Draw clock(seed, fmt::format("swarm/host/{}/clock", name));
  if (clock.percent(30)) text += fmt::format(", clock-error: {}", clock.of({"0", "1ppm", "20ppm", "1000ppm"}));
  return text + more + ", " + random_endpoints(seed) + " }\n";
}

}  // namespace

std::string random_pcie(Seed seed, std::int64_t gbps) {
  Draw draw(seed, "swarm/pcie");
  if (!draw.percent(kPciePercent)) return "";
  // Less than the links of two together, where there are such slots.
  const char* const near = gbps <= 25    ? "gen3x4"
                           : gbps <= 50  ? "gen3x8"
                           : gbps <= 100 ? "gen4x8"
                           : gbps <= 200 ? "gen4x16"
                                         : "gen5x16";
  return Text{", pcie: {{ slot: {}, shared-by: {}, uplink: {} }}", draw.of({"gen3x8", "gen4x16", "gen5x16", "gen6x16"}),
              draw.between(2, 3), draw.of({near, near, "gen3x4", "gen3x8"})};
}

std::string random_profiles(Seed seed, int buffer_mib, bool with_asics, const std::string& pcie) {
  return "switches:\n" + switch_profile(seed, "default", buffer_mib, with_asics) +
         switch_profile(seed, "other", buffer_mib, with_asics) + "hosts:\n" +
         host_profile(seed, "default", false, pcie + scale_up(seed)) + host_profile(seed, "slow", true, pcie);
}

}  // namespace railyard::swarm
