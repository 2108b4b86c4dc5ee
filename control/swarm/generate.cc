#include "control/swarm/generate.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/build/built_lab.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "control/swarm/draw.h"

namespace railyard::swarm {
namespace {

constexpr double kHops = 80'000;  // what a seed aims at; pauses and faults take their share

std::string in_band(Seed seed) {
  Draw draw(seed, "swarm/int");
  return draw.percent(25) ? fmt::format(", int: {{ one-in: {}, packets: 16384 }}", draw.of({1, 3, 20})) : "";
}

// With times as short as these runs.
std::string random_routing(Seed seed) {
  Draw draw(seed, "swarm/routing");
  const std::size_t kind = draw.below(100);
  if (kind < 50) return "static";
  const std::string bfd =
      draw.percent(20) ? std::string(Text{", bfd: {{ interval: {}us, multiplier: {} }}", draw.of({200, 1000, 2000}), draw.between(1, 3)}) : "";
  if (kind < 65) return "{ protocol: instant" + bfd + " }";
  return Text{"{{ as-numbers: {}, carrier-delay: {}us, session-setup: {}us, message-delay: {}us, processing: {}us, "
              "fib-delay: {}us, mrai: {}us{}{} }}",
              draw.of({"auto", "auto", "per-switch"}), draw.of({0, 1, 20, 100}), draw.of({1, 50, 200}),
              draw.of({0, 1, 10}), draw.of({0, 1, 5, 50}), draw.of({0, 1, 20}), draw.of({0, 0, 0, 100}),
              draw.percent(10) ? ", dampening: { half-life: 100us, suppress: 2000, reuse: 1000, max-suppress: 500us }" : "",
              bfd};
}

// Transports wait for long before they give up, RUDI message by message; generators wait for nothing.
std::string with_duration(const std::string& fabric, Seed seed, Duration duration, bool messages) {
  const bool real = Draw(seed, "swarm/run").percent(15);
  const std::string routing = random_routing(seed);
  return fabric + fmt::format("routing: {}\nrun: {{ seed: {}, duration: {}ns, drain: {}, deadlock: 200us, payload: {}{} }}\n",
                              routing, seed.value, duration.ps / 1000, messages || routing.find("bfd") != std::string::npos ? "600s" : "200ms", real ? "real" : "elided",
                              in_band(seed));
}

bool can_be_built(const std::string& fabric) {
  try {
    build::BuiltLab(spec::parse(fabric, "swarm"));
    return true;
  } catch (const spec::SpecError&) {
    return false;
  }
}

bool has_several_nics(const spec::Lab& lab) {
  return std::ranges::any_of(lab.nodes, [](const spec::NodeSpec& n) { return n.nics.size() > 1; });
}

// The fabric with the least buffer that has room for all that is set aside, and something to share. Of ASICs only if
// they have ports enough, and fast ones.
std::string random_fabric(Seed seed) {
  const std::string head = fmt::format("name: swarm-{}\n", seed.value);
  const bool retries = Draw(seed, "swarm/llr").percent(40);
  const std::string qos = random_qos(seed);
  std::string fabric;
  for (const bool with_asics : {true, false})
    for (int mib = 2; mib <= 4096; mib *= 2) {
      const auto with_pcie = [&](const std::string& pcie) {
        const std::string profiles = random_profiles(seed, mib, with_asics, pcie);
        // What cuts through has no links that retry.
        const bool llr = retries && profiles.find("cut-through") == std::string::npos;
        return head + profiles + qos + random_topology(seed, llr);
      };
      fabric = with_pcie("");
      if (!can_be_built(fabric)) continue;
      const spec::Lab lab = spec::parse(fabric, "swarm");
      return has_several_nics(lab) ? with_pcie(random_pcie(seed, gbps_of_hosts(lab))) : fabric;
    }
  return fabric;
}

// Without congestion control what was trimmed is sent again at once, and where trimmed frames fill a link that goes on
// for ever: congestion collapse (RFC 896), which is no fault of ours.
void control_congestion_where_frames_are_trimmed(std::string& fabric, const spec::Lab& lab) {
  std::set<std::size_t> classes;
  for (const spec::TrafficSpec& t : lab.traffic)
    if (t.is_uet()) classes.insert(static_cast<std::size_t>(t.dscp) / 8);
  for (const spec::CollectiveSpec& c : lab.collectives)
    if (c.is_uet()) classes.insert(static_cast<std::size_t>(c.dscp) / 8);
  bool trimmed = false;
  for (const auto& [name, qos] : lab.qos)
    for (const std::size_t c : classes) {
      const int other = qos.classes[c].remap_to;
      trimmed = trimmed || qos.classes[c].trim || (other >= 0 && qos.classes[static_cast<std::size_t>(other)].trim);
    }
  static constexpr std::string_view kNone = ", congestion: none";
  for (std::size_t at = fabric.find(kNone); trimmed && at != std::string::npos; at = fabric.find(kNone))
    fabric.erase(at, kNone.size());
}

// Here and there nothing is sent any more while faults go on: what a queue waits for then must come by itself. Some of
// these lose PFC, too: a port that is not told that it may send again has its own clock for that.
bool stop_before_faults_do(Seed seed, Duration duration, std::span<GeneratedLab::Item> traffic) {
  Draw draw(seed, "swarm/stop");
  if (!draw.percent(35) || duration < Duration{100'000'000}) return false;
  const std::int64_t stop = duration.ps / 1000 / 100 * draw.between(35, kFaultsEnd - 5);
  for (GeneratedLab::Item& t : traffic) t.yaml += fmt::format(", stop: {}ns", stop);
  return true;
}

void lose_pauses(Seed seed, const spec::Lab& lab, std::vector<GeneratedLab::Item>& faults) {
  Draw draw(seed, "swarm/stop/pauses");
  if (!draw.percent(40)) return;
  std::vector<std::string> switches;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == spec::NodeSpec::Kind::kSwitch) switches.push_back(n.name);
  // If none gets through there is none whose end could be missed.
  faults.push_back(
      {fmt::format("f{}", faults.size() + 1), fmt::format("on: [{}], lose-pause: true, after: 1us, probability: {}%",
                                                          fmt::join(switches, ", "), draw.between(20, 80))});
}

// Most labs with BFD have a link between switches that is silent one way, with its signal on, for much longer than it takes
// to find that.
void silence_a_link(Seed seed, const spec::Lab& lab, std::vector<GeneratedLab::Item>& faults) {
  Draw draw(seed, "swarm/silence");
  if (!lab.routing.bfd || !draw.percent(70)) return;
  const auto is_switch = [&](const spec::PortName& end) {
    return lab.find(end.node)->kind == spec::NodeSpec::Kind::kSwitch;
  };
  std::vector<std::string> ports;
  for (const spec::LinkSpec& l : lab.links)
    if (is_switch(l.a) && is_switch(l.b)) ports.insert(ports.end(), {spec::format(l.a), spec::format(l.b)});
  if (ports.empty()) return;
  const std::int64_t percent = lab.run.duration->ps / 1000 / 100;  // of the run, ns
  faults.push_back({fmt::format("f{}", faults.size() + 1),
                    fmt::format("on: \"{}\", loss: 100%, at: {}ns, for: {}ns", draw.of(ports), 10 * percent, 45 * percent)});
}

}  // namespace

std::string GeneratedLab::text(const std::set<std::string>& without) const {
  std::string text = fabric;
  for (const auto& [key, items] :
       {std::pair{"traffic", &traffic}, {"collectives", &collectives}, {"faults", &faults}}) {
    std::string list;
    for (const Item& item : *items)
      if (!without.contains(item.name)) list += fmt::format("  - {{ name: {}, {} }}\n", item.name, item.yaml);
    if (!list.empty()) text += fmt::format("{}:\n{}", key, list);
  }
  return text;
}

GeneratedLab generate(std::uint64_t number) {
  const Seed seed{number};
  GeneratedLab lab;
  lab.seed = number;
  std::string fabric = random_fabric(seed);
  lab.fabric = with_duration(fabric, seed, Duration{kPicosecondsPerSecond / 1000}, false);
  const spec::Lab bare = spec::parse(fabric, "swarm");
  lab.traffic = random_traffic(seed, bare);
  const std::size_t generated = lab.traffic.size();
  std::ranges::move(random_messages(seed, bare), std::back_inserter(lab.traffic));
  lab.collectives = random_collectives(seed, bare);
  const bool messages = lab.traffic.size() > generated || !lab.collectives.empty();
  const spec::Lab with_traffic = spec::parse(lab.text(), "swarm");
  control_congestion_where_frames_are_trimmed(fabric, with_traffic);
  const Duration duration = duration_for(with_traffic, kHops);
  lab.fabric = with_duration(fabric, seed, duration, messages);
  const bool stops = stop_before_faults_do(seed, duration, std::span(lab.traffic).first(generated));
  const spec::Lab all = spec::parse(lab.text(), "swarm");
  lab.faults = random_faults(seed, all);
  if (stops) lose_pauses(seed, all, lab.faults);
  silence_a_link(seed, all, lab.faults);
  // Without a CRC nobody promises that what comes is what was sent.
  if (lab.fabric.find("crc: false") != std::string::npos)
    std::erase_if(lab.faults, [](const auto& f) { return f.yaml.find("corrupt: true") != std::string::npos; });
  return lab;
}

}  // namespace railyard::swarm
