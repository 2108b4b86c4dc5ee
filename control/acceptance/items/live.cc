// Lines of running labs alone: the daemon's pace, attached hosts, a failover by hand, a soak of wall time.
#include <algorithm>

#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"

namespace railyard::acceptance {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text_of(double ns) { return report::nanoseconds_text(static_cast<std::uint64_t>(std::max(ns, 0.0))); }

constexpr std::size_t kMostNamed = 10;

Finding pace(const Subject&, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kPace);
  Finding f;
  const auto slip = r["slip_ns"].get<double>();
  f.answer = slip > 0 ? Answer::kWarn : Answer::kPass;
  f.threshold = "simulated time is not set back";
  f.found = fmt::format("lateness p99 {} since the lab's start; simulated time slipped by {} meanwhile",
                        time_text_of(r["lateness_p99_ns"].get<double>()), time_text_of(slip));
  f.evidence.push_back(fmt::format("busy for {} of {:.1f} s", report::percent_text(r["busy_share"].get<double>()),
                                   r["wall_seconds"].get<double>()));
  if (slip > 0)
    f.remedy =
        "This machine is too slow for the lab under such load: figures of built-in NICs hold, they are simulated time; "
        "those "
        "of attached hosts are too low. A smaller run.scale helps.";
  return f;
}

// "h1 -> h2" of a result.
std::string ends_of(const Json& p) {
  return fmt::format("{} -> {}", p["from"].get<std::string>(), p["to"].get<std::string>());
}

Finding host_mtu(const Subject&, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kHostMtu);
  Finding f;
  f.threshold = "a packet of the MTU with DF set is answered";
  std::size_t bad = 0, least = 0;
  for (const Json& p : r["pairs"]) {
    const auto mtu = p["mtu"].get<std::size_t>();
    least = least == 0 ? mtu : std::min(least, mtu);
    if (p["answered"].get<bool>()) continue;
    if (bad++ < kMostNamed)
      f.evidence.push_back(fmt::format("{}: {} bytes: {}", ends_of(p), mtu, p["why"].get<std::string>()));
  }
  f.answer = bad == 0 ? Answer::kPass : Answer::kFail;
  f.found = bad == 0 ? fmt::format("{} pairs; the smallest MTU is {}", r["pairs"].size(), least)
                     : fmt::format("{} of {} pairs do not pass their MTU", bad, r["pairs"].size());
  f.evidence.push_back("ping -M do; the MTU is that of the slower host's link");
  if (bad > 0)
    f.remedy = "Set the MTU of all links on the way to that of the hosts, or the hosts' to the smallest on the way.";
  return f;
}

Finding host_latency(const Subject& s, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kHostLatency);
  Finding f;
  const auto samples = r["samples"].get<std::uint64_t>();
  if (samples == 0) {
    f.answer = Answer::kFail;
    f.found = "no ping was answered";
    return f;
  }
  f.found =
      fmt::format("round trip p50 {}, p99 {}, p99.9 {}, max {}; {} of {} lost", time_text_of(r["p50_ns"].get<double>()),
                  time_text_of(r["p99_ns"].get<double>()), time_text_of(r["p999_ns"].get<double>()),
                  time_text_of(r["max_ns"].get<double>()), report::count_text(r["lost"].get<std::uint64_t>()),
                  report::count_text(r["sent"].get<std::uint64_t>()));
  f.answer = Answer::kReport;
  if (s.settings.p99) {
    f.threshold = fmt::format("p99 <= {}, twice", report::time_text(*s.settings.p99));
    f.answer =
        r["p99_ns"].get<double>() * 1000 > 2 * static_cast<double>(s.settings.p99->ps) ? Answer::kFail : Answer::kPass;
  }
  f.evidence.push_back(fmt::format("{} samples by ping over {} pairs: the hosts' kernels are part of it",
                                   report::count_text(samples), r["pairs"].size()));
  return f;
}

Finding host_bandwidth(const Subject& s, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kHostBandwidth);
  Finding f;
  f.threshold = fmt::format(">= {} of the NICs' rate", share_text(s.settings.least_bandwidth));
  std::vector<Json> pairs(r["pairs"].begin(), r["pairs"].end());
  const auto share = [](const Json& p) {
    return p["bps"].is_number() ? p["bps"].get<double>() / p["rate_bps"].get<double>() : 0;
  };
  std::ranges::stable_sort(pairs, {}, share);
  const auto text = [&](const Json& p) {
    return p["bps"].is_number()
               ? fmt::format("{} ({})", report::rate_text(p["bps"].get<double>()), share_text(share(p)))
               : p["why"].get<std::string>();
  };
  const auto bad = static_cast<std::size_t>(
      std::ranges::count_if(pairs, [&](const Json& p) { return share(p) < s.settings.least_bandwidth; }));
  f.answer = bad == 0 ? Answer::kPass : Answer::kFail;
  f.found = fmt::format("{}worst {}, median {}, of {} pairs",
                        bad > 0 ? fmt::format("{} of {} below; ", bad, pairs.size()) : "", text(pairs.front()),
                        share_text(share(pairs[pairs.size() / 2])), pairs.size());
  for (std::size_t i = 0; i < std::min(bad, kMostNamed); ++i)
    f.evidence.push_back(fmt::format("{}: {}", ends_of(pairs[i]), text(pairs[i])));
  f.evidence.push_back("iperf3, one TCP flow at a time; TCP/IP headers leave 94.9 % of the rate at an MTU of 1500");
  if (bad > 0)
    f.remedy =
        "If `pace` warns, this machine is too slow: lower the links' rate, or run.scale. Else see the drops: `railyard "
        "status`.";
  return f;
}

Finding host_classes(const Subject&, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kHostClasses);
  Finding f;
  f.threshold = "every switch on the way counts the packets in the class of their DSCP";
  std::size_t hops = 0;
  for (const Json& p : r["pairs"]) {
    hops += p["hops"].get<std::size_t>();
    if (!p["wrong"].is_null()) f.evidence.push_back(fmt::format("{}: {}", ends_of(p), p["wrong"].get<std::string>()));
  }
  f.answer = f.evidence.empty() ? Answer::kPass : Answer::kFail;
  f.found = f.evidence.empty() ? fmt::format("DSCP {} keeps its class over {} {} of {} {}", r["dscp"].get<int>(), hops,
                                             hops == 1 ? "hop" : "hops", r["pairs"].size(),
                                             r["pairs"].size() == 1 ? "pair" : "pairs")
                               : fmt::format("the first wrong hop: {}", f.evidence.front());
  if (!f.evidence.empty())
    f.remedy =
        "Map the DSCP to the same class at all switches; trust DSCP, not PCP; look for a device that rewrites it.";
  return f;
}

Finding programs_complete(const Json& r) {
  Finding f;
  f.threshold = "every pair completes";
  std::size_t bad = 0;
  double least = 0;
  for (const Json& p : r["pairs"]) {
    if (p["bps"].is_number()) {
      least = least == 0 ? p["bps"].get<double>() : std::min(least, p["bps"].get<double>());
      continue;
    }
    if (bad++ < kMostNamed) f.evidence.push_back(fmt::format("{}: {}", ends_of(p), p["why"].get<std::string>()));
  }
  f.answer = bad == 0 ? Answer::kPass : Answer::kFail;
  f.found = bad == 0 ? fmt::format("{} pairs, the slowest {}", r["pairs"].size(), report::rate_text(least))
                     : fmt::format("{} of {} pairs did not complete", bad, r["pairs"].size());
  f.evidence.push_back(r["tool"].get<std::string>());
  return f;
}

Finding host_rdma(const Subject&, const Runs& runs) { return programs_complete(report_of(runs, ProbeKind::kHostRdma)); }
Finding host_libfabric(const Subject&, const Runs& runs) {
  return programs_complete(report_of(runs, ProbeKind::kHostLibfabric));
}

Finding live_failover(const Subject&, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kLiveFailover);
  Finding f;
  f.threshold = "all pairs come back, before the link does";
  f.evidence.push_back(fmt::format("{} was taken down for {} of simulated time", r["link"].get<std::string>(),
                                   time_text_of(r["down_ns"].get<double>())));
  std::uint64_t lost = 0, hit = 0;
  for (const Json& p : r["pairs"]) {
    lost += p["lost"].get<std::uint64_t>();
    hit += p["lost"].get<std::uint64_t>() > 0;
  }
  const auto gone =
      static_cast<std::size_t>(std::ranges::count_if(r["pairs"], [](const Json& p) { return !p["back"].get<bool>(); }));
  if (gone > 0) {
    f.answer = Answer::kFail;
    for (const Json& p : r["pairs"])
      if (!p["back"].get<bool>() && f.evidence.size() <= kMostNamed) f.evidence.push_back(ends_of(p));
    f.found = fmt::format("{} of {} pairs never came back", gone, r["pairs"].size());
    f.remedy = "Routing does not heal: `routing.protocol: bgp`, BFD, a second path.";
    return f;
  }
  f.answer = Answer::kPass;
  const auto longest = r["longest_ns"].get<double>();
  if (hit == 0) {
    f.found = "no probe was lost: no pair used the link, or the switch next to it avoided it at once";
    return f;
  }
  f.found = fmt::format("{} of {} lost; the longest outage of a pair was about {}",
                        lost == 1 ? std::string("1 probe") : report::count_text(lost) + " probes",
                        hit == 1 ? std::string("1 pair") : report::count_text(hit) + " pairs", time_text_of(longest));
  constexpr double kNearly = 0.9;
  if (longest >= kNearly * r["down_ns"].get<double>()) {
    f.answer = Answer::kWarn;
    f.remedy = "Pairs came back when the link did: routing did not avoid it. `routing.protocol: bgp`, BFD, a second path.";
  }
  return f;
}

Finding live_soak(const Subject&, const Runs& runs) {
  const Json& r = report_of(runs, ProbeKind::kLiveSoak);
  Finding f;
  f.threshold = "no probe lost, every packet accounted for, memory does not grow";
  f.answer = Answer::kPass;
  f.found = fmt::format("{} probes in {:.0f} s, {} lost, {} drops; lateness p99 {}",
                        report::count_text(r["packets"].get<std::uint64_t>()), r["seconds"].get<double>(),
                        report::count_text(r["lost"].get<std::uint64_t>()),
                        report::count_text(r["drops"].get<std::uint64_t>()),
                        time_text_of(r["lateness_p99_ns"].get<double>()));
  for (const Json& failure : r["failures"]) f.evidence.push_back(failure.get<std::string>());
  if (r["lost"].get<std::uint64_t>() + r["corrupted"].get<std::uint64_t>() > 0 || !f.evidence.empty())
    f.answer = Answer::kFail;
  if (r["growth"].is_object()) {
    const Json& g = r["growth"];
    f.evidence.push_back(fmt::format("memory: {:+.2f} MiB an hour, +-{:.2f} (95 %), of {} samples",
                                     g["bytes_per_hour"].get<double>() / 1048576, g["margin"].get<double>() / 1048576,
                                     g["points"].get<int>()));
    // 1 MiB an hour: 24 h are then within what the run of a lab varies by. At first memory is used for the first time.
    constexpr double kMost = 1048576;
    constexpr double kLeastSeconds = 600;
    if (r["seconds"].get<double>() >= kLeastSeconds &&
        g["bytes_per_hour"].get<double>() - g["margin"].get<double>() > kMost) {
      if (f.answer == Answer::kPass) f.answer = Answer::kWarn;
      f.remedy = "The daemon's memory grows: a longer soak says whether it continues. Please report it.";
    }
  } else {
    f.evidence.push_back("memory: too few samples for a slope");
  }
  f.evidence.push_back(
      fmt::format("{} intervals of {} s of wall time, a burst of probes at 80 % of the links' rate in each",
                  r["intervals"].get<int>(), r["interval_seconds"].get<double>()));
  if (r["interrupted"].get<bool>()) f.evidence.push_back("interrupted; --resume goes on");
  return f;
}

}  // namespace

namespace list {
const Item kPace{"pace",
                 "Did the daemon keep up with the lab meanwhile?",
                 "Railyard's: what is late is not what the fabric does",
                 {ProbeKind::kPace},
                 pace};
const Item kHostMtu{"hosts-mtu",
                    "Do packets of the MTU pass between attached hosts, unfragmented?",
                    "design guides: MTU with DF on every pair",
                    {ProbeKind::kHostMtu},
                    host_mtu};
const Item kHostLatency{"hosts-latency",
                        "How long is the round trip between attached hosts?",
                        "design guides: the distribution; 10,000 samples or more",
                        {ProbeKind::kHostLatency},
                        host_latency};
const Item kHostBandwidth{"hosts-bandwidth",
                          "Does every pair of attached hosts reach its NICs' rate?",
                          "design guides: point-to-point, 90 % of the NIC's rate",
                          {ProbeKind::kHostBandwidth},
                          host_bandwidth};
const Item kHostClasses{"hosts-classes",
                        "Do attached hosts' packets keep their class, hop by hop?",
                        "design guides: DSCP and class traced hop by hop",
                        {ProbeKind::kHostClasses},
                        host_classes};
const Item kHostRdma{"hosts-rdma",
                     "Do RDMA programs of attached hosts reach each other?",
                     "design guides: perftest between every pair",
                     {ProbeKind::kHostRdma},
                     host_rdma};
const Item kHostLibfabric{"hosts-libfabric",
                          "Do libfabric programs of attached hosts reach each other over Ultra Ethernet?",
                          "design guides: a ping-pong between every pair",
                          {ProbeKind::kHostLibfabric},
                          host_libfabric};
const Item kLiveFailover{"failover",
                         "Does traffic survive a link that is taken down and comes back?",
                         "design guides: failover and failback",
                         {ProbeKind::kLiveFailover},
                         live_failover};
const Item kLiveSoak{"soak",
                     "Does it hold for long?",
                     "draft-calabria-bmwg-ai-fabric-training-bench T12.1: load; the limit of growth is Railyard's",
                     {ProbeKind::kLiveSoak},
                     live_soak};
}  // namespace list

}  // namespace railyard::acceptance
