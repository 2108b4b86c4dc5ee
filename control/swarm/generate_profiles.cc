#include <fmt/format.h>

#include "control/swarm/draw.h"
#include "control/swarm/generate.h"

namespace railyard::swarm {
namespace {

std::string switch_profile(Seed seed, const char* name, int buffer_mib) {
  Draw draw(seed, fmt::format("swarm/switch/{}", name));
  std::string text = fmt::format("  {}: {{ buffer: {}MiB, cell: {}, mode: {}, latency: {}ns, pause-quanta: {}, qos: {}",
                                 name, buffer_mib, draw.of({"64B", "208B", "256B", "512B"}),
                                 draw.percent(20) ? "cut-through" : "store-and-forward", draw.between(100, 900),
                                 draw.of({500, 2000, 8000, 65535}), draw.of({"default", "other"}));
  if (draw.percent(30)) text += fmt::format(", pause-response: {}ns", draw.between(100, 2000));
  if (draw.percent(20))
    text += fmt::format(", pfc-watchdog: {{ detect: {0}us, restore: {1}us, poll: {2}us, action: {3} }}",
                        draw.between(4, 40), draw.between(4, 20), draw.between(1, 4),
                        draw.of({"drop", "drop", "forward", "alert"}));
  if (draw.percent(20)) text += fmt::format(", headroom-pool: {}KiB", buffer_mib * 1024 / draw.of({2, 4, 8}));
  if (draw.percent(30))
    text += fmt::format(
        ", ecmp: {{ fields: [{}], resilient: {} }}",
        draw.of({"addresses", "ports", "addresses, ports", "addresses, destination-qp", "ports, ingress-port"}),
        draw.of({"true", "false"}));
  return text + " }\n";
}

std::string host_profile(Seed seed, const char* name, bool slow) {
  Draw draw(seed, fmt::format("swarm/host/{}", name));
  std::string text = fmt::format("  {}: {{ latency: {}ns, pause-quanta: {}", name, draw.between(50, 900),
                                 draw.of({500, 2000, 8000, 65535}));
  if (draw.percent(30)) text += fmt::format(", pause-response: {}ns", draw.between(100, 2000));
  // Room for what each class holds at XOFF and for what comes after it.
  const std::int64_t xoff = draw.between(40, 200);
  text += fmt::format(", receive: {{ {}buffer: 8MiB, xoff: {}KB, xon: {}KB }}",
                      slow ? fmt::format("rate: {}Gbps, ", draw.between(5, 60)) : "", xoff, xoff / 2);
  return text + " }\n";
}

}  // namespace

std::string random_profiles(Seed seed, int buffer_mib) {
  return "switches:\n" + switch_profile(seed, "default", buffer_mib) + switch_profile(seed, "other", buffer_mib) +
         "hosts:\n" + host_profile(seed, "default", false) + host_profile(seed, "slow", true);
}

}  // namespace railyard::swarm
