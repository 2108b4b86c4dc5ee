#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "control/spec/faults/fault_kind.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "control/swarm/draw.h"
#include "control/swarm/generate.h"
#include "control/workload/flow_plan.h"

namespace railyard::swarm {
namespace {

using Kind = spec::NodeSpec::Kind;

class Faults {
 public:
  Faults(Seed seed, const spec::Lab& lab) : seed_(seed), lab_(lab), duration_(*lab.run.duration) {
    for (const spec::NodeSpec& n : lab.nodes) (n.kind == Kind::kSwitch ? switches_ : hosts_).push_back(n.name);
    for (const spec::LinkSpec& l : lab.links)
      for (const spec::PortName& end : {l.a, l.b}) {
        ports_.push_back(end);
        (lab.find(end.node)->kind == Kind::kSwitch ? switch_ports_ : nics_).push_back(end);
        if (!cuts_through(l.a.node) && !cuts_through(l.b.node)) stored_ports_.push_back(end);
      }
    for (const workload::FlowPlan& f : workload::plan_flows(lab)) flows_.push_back(f.name);
  }

  std::vector<GeneratedLab::Item> run() {
    Draw draw(seed_, "swarm/faults");
    const std::int64_t n = draw.percent(8) ? 0 : draw.between(1, 8);
    std::vector<GeneratedLab::Item> items;
    for (std::int64_t i = 1; i <= n; ++i) {
      const std::string name = fmt::format("f{}", i);
      if (const std::string yaml = one("swarm/fault/" + name, name); !yaml.empty()) items.push_back({name, yaml});
    }
    return items;
  }

 private:
  // One that fits the lab; what is drawn may not, and is then drawn anew. Empty: none did.
  std::string one(const std::string& concern, const std::string& name) const {
    for (int attempt = 0; attempt < 10; ++attempt) {
      Draw draw(seed_, fmt::format("{}/{}", concern, attempt));
      const std::string yaml = what_where_and_when(draw);
      if (yaml.empty()) continue;
      try {
        static_cast<void>(spec::parse_fault(lab_, yaml, name));
        return yaml;
      } catch (const spec::SpecError&) {
      }
    }
    return {};
  }

  bool cuts_through(const std::string& node) const {
    const spec::NodeSpec& n = *lab_.find(node);
    return n.kind == Kind::kSwitch && lab_.switches.at(n.profile).mode == spec::ForwardingMode::kCutThrough;
  }

  // ---- When ----

  std::string time(std::int64_t ps) const { return fmt::format("{}ns", std::max<std::int64_t>(1, ps / 1000)); }
  std::int64_t part(Draw& draw, int least_permille, int most_permille) const {
    return duration_.ps / 1000 * draw.between(least_permille, most_permille);
  }
  std::string when(Draw& draw, bool flaps, bool frames) const {
    const std::int64_t faults_end = duration_.ps / 100 * kFaultsEnd;
    const std::int64_t begin = part(draw, 10, 450);
    const std::int64_t lasts = std::min(part(draw, 20, 300), faults_end - begin);
    const std::size_t kind = draw.below(100);
    if (flaps || kind < 50) return fmt::format("at: {}, for: {}", time(begin), time(lasts));
    if (kind < 65) {
      const std::int64_t n = draw.between(2, 6);
      const std::int64_t every = (faults_end - begin) / n;
      return fmt::format("at: {}, every: {}, for: {}, count: {}", time(begin), time(every),
                         time(every / 100 * draw.between(10, 90)), n);
    }
    if (kind < 75) return fmt::format("after: {}", time(begin));  // taken away in the end
    if (kind < 85 && frames) return fmt::format("at: {}, count: {}", time(begin), draw.between(1, 50));
    const spec::PortName& port = draw.of(switch_ports_);
    return Text{"when: {}queue {}/{} {}{}, after: {}, for: {}, count: {}",
                '"',
                spec::format(port),
                draw.of(used_classes()),
                draw.percent(50) ? fmt::format("depth > {}KB", draw.between(1, 30))
                                 : fmt::format("paused > {}ns", draw.between(100, 3000)),
                '"',
                time(part(draw, 1, 20)),
                time(part(draw, 20, 200)),
                draw.between(1, 4)};
  }
  std::vector<int> dscps() const {
    std::vector<int> out;
    for (const spec::TrafficSpec& t : lab_.traffic) out.push_back(t.dscp);
    return out;
  }
  std::vector<int> used_classes() const {
    std::vector<int> out;
    for (const int dscp : dscps()) out.push_back(dscp / 8);
    return out;
  }

  // ---- Where ----

  std::string place(Draw& draw, const spec::FaultKind& kind) const {
    using enum spec::FaultScope;
    if (kind.store_and_forward) return stored_ports_.empty() ? "" : spec::format(draw.of(stored_ports_));
    switch (kind.scope) {
      case kSwitch:
        return draw.of(switches_);
      case kSwitchPort:
        return draw.percent(50) ? draw.of(switches_) : spec::format(draw.of(switch_ports_));
      case kQueue:
        return Text{"{}/{}", spec::format(draw.of(switch_ports_)), draw.of(used_classes())};
      case kHost:
        return draw.percent(20) ? "h*" : draw.of(hosts_);
      case kNic:
        return draw.percent(10) ? "rail 1" : draw.percent(30) ? draw.of(hosts_) : spec::format(draw.of(nics_));
      case kPort:
        return draw.percent(15) ? draw.of(switches_) : spec::format(draw.of(ports_));
      case kLink:
        break;
    }
    const std::string port = spec::format(draw.of(ports_));
    if (draw.percent(10)) return draw.of(switches_);
    if (draw.percent(10)) return fmt::format("[{}, {}]", port, spec::format(draw.of(ports_)));
    return port;
  }

  // ---- Which frames ----

  std::string frames(Draw& draw, bool is_chance) const {
    std::string text;
    if (draw.percent(40) && !is_chance) text += fmt::format(", probability: {}%", draw.between(1, 100));
    if (!draw.percent(35)) return text;
    const spec::TrafficSpec& t = draw.of(lab_.traffic);
    std::string match;
    switch (draw.below(11)) {
      case 0:
        match = fmt::format("ip.dscp: {}", t.dscp);
        break;
      case 1:
        match = fmt::format("bth.psn: {}", draw.between(0, 60));
        break;
      case 2:
        match = fmt::format("size: {}>{}B{}", '"', draw.between(64, 2000), '"');
        break;
      case 3:
        match = fmt::format("flow: {}{}{}", '"', draw.of(flows_), '"');
        break;
      case 4:
        match = "ip.ecn: 2";
        break;
      case 5:
        match = "bth.opcode: 0x24";  // UC SEND Only
        break;
      case 6:
        match = fmt::format("ip.src: {}10.0.0.0/{}{}", '"', draw.between(8, 30), '"');
        break;
      case 7:
        match = fmt::format("udp.dport: 4791, nth: {}", draw.between(1, 200));
        break;
      case 8:
        match = fmt::format("uet.type: {}", draw.of({2, 3, 4, 5, 7, 8, 10, 11}));  // requests, answers, NACK, CP
        break;
      case 9:
        match = Text{"uet.message_id: {}, nth: {}", draw.between(0, 10), draw.between(1, 10)};
        break;
      default:
        match = fmt::format("ip.version: {}", t.ip_version);
    }
    return text + fmt::format(", match: {{ {} }}", match);
  }

  // ---- What ----

  std::string what_where_and_when(Draw& draw) const {
    const spec::FaultKind& kind = spec::fault_kinds()[draw.below(spec::fault_kinds().size())];
    spec::FaultDraw from{draw, duration_.ps / 1000, dscps(), used_classes()};
    const std::string what = fmt::format("{}: {}", kind.key, kind.draw(from));
    std::string on = place(draw, kind);
    if (on.empty()) return {};
    if (kind.scope == spec::FaultScope::kLink && kind.one_direction && !on.starts_with('[')) {
      if (kind.on_frames && kind.one_class && draw.percent(10)) on += fmt::format("/{}", draw.of(used_classes()));
      on = fmt::format("{}{}{}{}", '"', on, draw.of({"", " in", " out"}), '"');
    } else if (!on.starts_with('[')) {
      on = '"' + on + '"';
    }
    std::string yaml = fmt::format("on: {}, {}, {}", on, what, when(draw, kind.own_times, kind.on_frames));
    if (kind.on_frames && kind.one_class && yaml.find("count") == std::string::npos)
      yaml += frames(draw, kind.own_chance);
    return yaml;
  }

  Seed seed_;
  const spec::Lab& lab_;
  Duration duration_;
  std::vector<std::string> switches_;
  std::vector<std::string> hosts_;
  std::vector<spec::PortName> ports_;
  std::vector<spec::PortName> switch_ports_;
  std::vector<spec::PortName> nics_;
  std::vector<spec::PortName> stored_ports_;  // of links that no switch at either end cuts through
  std::vector<std::string> flows_;
};

}  // namespace

std::vector<GeneratedLab::Item> random_faults(Seed seed, const spec::Lab& lab) { return Faults(seed, lab).run(); }

}  // namespace railyard::swarm
