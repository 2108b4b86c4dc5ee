#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/spec/pcie.h"
#include "control/swarm/draw.h"
#include "control/swarm/generate.h"
#include "control/workload/flow_plan.h"

namespace railyard::swarm {
namespace {

constexpr int kOverhead = 100;  // of headers, at least

std::vector<std::string> names_of_hosts(const spec::Lab& lab) {
  std::vector<std::string> names;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == spec::NodeSpec::Kind::kHost && !n.reduces) names.push_back(n.name);
  return names;
}

std::vector<int> classes(const spec::Lab& lab, bool lossless) {
  std::vector<int> out;
  for (int c = 0; c < 8; ++c)
    if (lab.qos.at("default").classes[static_cast<std::size_t>(c)].lossless == lossless) out.push_back(c);
  return out;
}

class Traffic {
 public:
  Traffic(Seed seed, const spec::Lab& lab) : seed_(seed), lab_(lab), hosts_(names_of_hosts(lab)) {}

  std::vector<GeneratedLab::Item> run() {
    Draw draw(seed_, "swarm/traffic");
    // Something everywhere; where it meets, what is lossless and what is not; then what comes.
    add([&](Draw& d) { return everywhere(d); });
    if (draw.percent(75)) add([&](Draw& d) { return incast(d, true); });
    if (draw.percent(60)) add([&](Draw& d) { return incast(d, false); });
    for (std::int64_t n = draw.between(0, 2); n > 0; --n) add([&](Draw& d) { return anything(d); });
    if (const std::string host = shared_nic(); !host.empty())
      for (const bool sends : {true, false}) add([&](Draw& d) { return at_second_nic(d, host, sends); });
    return std::move(items_);
  }

 private:
  template <class F>
  void add(F&& make) {
    const std::string name = fmt::format("t{}", items_.size() + 1);
    Draw draw(seed_, "swarm/traffic/" + name);
    std::string yaml = make(draw);
    items_.push_back({name, std::move(yaml)});
  }

  int traffic_class(Draw& draw, bool lossless) const {
    const std::vector<int> some = classes(lab_, lossless);
    return some.empty() ? static_cast<int>(draw.between(0, 7)) : draw.of(some);
  }
  std::string frames(Draw& draw, int c) const {
    const int mtu = lab_.links.front().mtu;
    const std::int64_t most = std::min(mtu - kOverhead, 4096);
    const std::int64_t payload = draw.percent(70) ? draw.between(200, most / 4) * 4 : draw.between(1, most / 4) * 4;
    return Text{"dscp: {}, ip: {}, ecn: {}, payload: {}B", 8 * c + draw.between(0, 7), draw.of({4, 4, 6}),
                draw.percent(75), std::min(payload, most / 4 * 4)};
  }
  std::string rate(Draw& draw, std::int64_t least_percent, std::int64_t most_percent) const {
    return fmt::format("rate: {}Mbps", gbps_of_hosts(lab_) * 10 * draw.between(least_percent, most_percent));
  }
  std::string when(Draw& draw) const {
    std::string text;
    if (draw.percent(25)) text += Text{", on: {}us, off: {}us", draw.between(1, 30), draw.between(1, 30)};
    if (draw.percent(25)) text += fmt::format(", start: {}us", draw.between(0, 30));
    if (draw.percent(15)) text += fmt::format(", stagger: {}ns", draw.between(10, 2000));
    return text;
  }

  // Who sends and receives: within a rail each host has a partner only if all hosts are on it.
  std::string ends() const {
    std::set<std::size_t> nics;
    for (const spec::NodeSpec& n : lab_.nodes)
      if (n.kind == spec::NodeSpec::Kind::kHost && !n.reduces) nics.insert(n.nics.size());
    return nics.size() == 1 ? "" : R"(from: "h*:1", to: "h*:1", )";
  }

  // A second NIC that shares an uplink with the first one, where others have no second one and all traffic is of the first.
  std::string shared_nic() const {
    if (ends().empty()) return "";
    for (const spec::NodeSpec& n : lab_.nodes)
      if (!spec::pcie_groups(lab_, n).empty()) return n.name;
    return "";
  }
  std::string at_second_nic(Draw& draw, const std::string& host, bool sends) const {
    const std::string second = host + ":2", other = (hosts_.front() == host ? hosts_.back() : hosts_.front()) + ":1";
    return Text{"pattern: pairs, from: \"{}\", to: \"{}\", {}, {}", sends ? second : other, sends ? other : second,
                frames(draw, traffic_class(draw, draw.percent(50))), rate(draw, 30, 100)};
  }

  std::string everywhere(Draw& draw) const {
    return Text{"pattern: permutation, {}{}, {}", ends(), frames(draw, traffic_class(draw, draw.percent(70))),
                rate(draw, 30, 70)};
  }
  std::string incast(Draw& draw, bool lossless) const {
    const auto most = static_cast<std::int64_t>(hosts_.size()) - 1;
    const bool alike = ends().empty();
    return Text{"pattern: incast, {}to: {}{}{}, fan-in: {}, {}{}{}",
                alike ? "" : R"(from: "h*:1", )",
                alike ? "" : "\"",
                draw.of(hosts_),
                alike ? "" : ":1\"",
                draw.between(std::min<std::int64_t>(2, most), std::min<std::int64_t>(6, most)),
                frames(draw, traffic_class(draw, lossless)),
                draw.percent(50) ? "" : ", " + rate(draw, 40, 100),
                when(draw)};
  }
  std::string anything(Draw& draw) const {
    const std::string frame = frames(draw, traffic_class(draw, draw.percent(50)));
    const std::string rest = when(draw);
    switch (draw.below(4)) {
      case 0:
        return Text{
            "pattern: random, {}flows: {}, {}, {}{}", ends(), draw.between(1, 3), frame, rate(draw, 3, 20), rest};
      case 1:
        return fmt::format("pattern: all-to-all, {}{}, {}{}", ends(), frame, rate(draw, 1, 5), rest);
      case 2:
        return Text{"pattern: pairs, from: {}, to: {}, flows: {}, {}, {}, bytes: {}B{}",
                    hosts_.front(),
                    hosts_.back(),
                    draw.between(1, 8),
                    frame,
                    rate(draw, 3, 30),
                    draw.between(1, 50'000) * 4,
                    rest};
      default:
        return fmt::format("pattern: permutation, {}{}, {}{}", ends(), frame, rate(draw, 5, 100), rest);
    }
  }

  Seed seed_;
  const spec::Lab& lab_;
  std::vector<std::string> hosts_;
  std::vector<GeneratedLab::Item> items_;
};

}  // namespace

std::vector<GeneratedLab::Item> random_traffic(Seed seed, const spec::Lab& lab) { return Traffic(seed, lab).run(); }

// What receivers' links let in, at most, or senders offer.
Duration duration_for(const spec::Lab& lab, double hops) {
  const double rate = static_cast<double>(gbps_of_hosts(lab)) * 1e9;
  double frames_per_second = 0;
  double switches = 0;
  for (const spec::NodeSpec& n : lab.nodes) switches += n.kind == spec::NodeSpec::Kind::kSwitch ? 1 : 0;
  const double hops_per_frame = switches == 1 ? 1 : switches < 4 ? 1.6 : 2.4;
  std::map<std::size_t, double> offered;  // by traffic, bit/s
  for (const workload::FlowPlan& f : workload::plan_flows(lab)) {
    const spec::TrafficSpec& t = lab.traffic[f.traffic];
    double flow = t.rate ? static_cast<double>(t.rate->bps) : rate;
    if (t.on > Duration{}) flow *= static_cast<double>(t.on.ps) / static_cast<double>((t.on + t.off).ps);
    offered[f.traffic] += t.bytes > Bytes{} ? 0 : flow;
  }
  for (auto& [i, bps] : offered) {
    const spec::TrafficSpec& t = lab.traffic[i];
    if (t.pattern == spec::TrafficSpec::Pattern::kIncast) bps = std::min(bps, rate);
    const auto payload =
        t.has_messages() ? std::min(t.roce.message, static_cast<std::uint32_t>(t.roce.path_mtu)) : t.payload;
    frames_per_second += bps / (8.0 * (payload + kOverhead));
  }
  const double seconds = hops / std::max(1.0, frames_per_second * hops_per_frame);
  return Duration{static_cast<std::int64_t>(std::clamp(seconds, 30e-6, 20e-3) * 1e9) * 1000};
}

}  // namespace railyard::swarm
