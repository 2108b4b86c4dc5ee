#include "control/report/thresholds.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/report/framing.h"
#include "control/report/units.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"
#include "control/spec/port_class.h"
#include "control/spec/value.h"

namespace railyard::report {
namespace {

std::int64_t up(std::int64_t octets, std::int64_t cell) { return (octets + cell - 1) / cell; }

// By class of `qos`: the longest data frame that traffic has in it.
std::map<int, std::uint32_t> frames_of(const spec::Lab& lab, const spec::QosProfile& qos) {
  std::map<int, std::uint32_t> frames;
  const auto see = [&](const spec::TrafficSpec& t) {
    std::uint32_t& most = frames[spec::class_at_switch(lab, qos, t)];
    most = std::max(most, static_cast<std::uint32_t>(data_frame_octets(t, lab.hosts.begin()->second.uet)));
  };
  for (const spec::TrafficSpec& t : lab.traffic) see(t);
  for (const spec::CollectiveSpec& c : lab.collectives)
    for (spec::TrafficSpec like : spec::all_like_traffic(c)) {
      like.priority.reset();
      see(like);
    }
  return frames;
}

struct Port {
  const spec::NodeSpec* node;
  int number;
  BitRate rate;
};

// Ports of the switches of this profile.
std::vector<Port> ports_of(const spec::Lab& lab, const std::string& profile) {
  std::vector<Port> ports;
  for (const spec::LinkSpec& l : lab.links)
    for (const spec::PortName& end : {l.a, l.b}) {
      const spec::NodeSpec& n = *lab.find(end.node);
      if (n.kind == spec::NodeSpec::Kind::kSwitch && n.profile == profile) ports.push_back({&n, end.port, l.rate});
    }
  return ports;
}

// Thresholds of one class of one profile.
class Builder {
 public:
  Builder(const spec::Lab& lab, const std::vector<Port>& ports, EffectiveThreshold like, Bytes cell,
          std::vector<EffectiveThreshold>& to)
      : lab_(lab), ports_(ports), like_(std::move(like)), cell_(cell.n), each_(up(like_.frame, cell.n)), to_(to) {}

  void add_all(const spec::TrafficClass& c) {
    if (c.ecn.enabled) add_ecn(c.ecn);
    if (!c.lossless) {
      add_ramp("drop", c.drop.all);
      add_ramp("drop.ect", c.drop.ect);
      add_ramp("drop.not-ect", c.drop.not_ect);
    }
    if (c.lossless && !c.cbfc) add_xoff(c);
    if (!c.lossless && c.queue_limit) {
      const std::int64_t cells = up(c.queue_limit->n, cell_);
      add("queue-limit", "", *c.queue_limit, cells, (cells + up(c.queue_reserved.n, cell_)) / each_);
    }
  }

 private:
  void add(std::string name, std::string where, Bytes configured, std::int64_t cells, std::int64_t frames) {
    EffectiveThreshold t = like_;
    t.name = std::move(name);
    t.where = std::move(where);
    t.configured = configured;
    t.cells = static_cast<std::uint32_t>(cells);
    t.effective = Bytes{frames * t.frame};
    to_.push_back(std::move(t));
  }
  // Depths that a queue is compared with.
  void add_depth(std::string name, const std::string& where, Bytes configured) {
    add(std::move(name), where, configured, configured.n / cell_, configured.n / cell_ / each_);
  }

  void add_ecn(const spec::Ecn& ecn) {
    if (!ecn.auto_thresholds) {
      add_depth("kmin", "", ecn.kmin);
      add_depth("kmax", "", ecn.kmax);
      return;
    }
    std::set<std::int64_t> rates;
    for (const Port& p : ports_) rates.insert(p.rate.bps);
    for (const std::int64_t bps : rates) {
      const std::string rate = spec::format(BitRate{bps});
      add_depth("kmin", rate, spec::automatic_kmin(BitRate{bps}));
      add_depth("kmax", rate, spec::automatic_kmax(BitRate{bps}));
    }
  }

  void add_ramp(const std::string& name, const std::optional<spec::WredRamp>& ramp) {
    if (!ramp) return;
    add_depth(name + ".min", "", ramp->min);
    add_depth(name + ".max", "", ramp->max);
  }

  // `by-rate` and single ports may have another one, or none.
  void add_xoff(const spec::TrafficClass& c) {
    const auto add_one = [&](const std::string& where, Bytes xoff) {
      const std::int64_t cells = up(xoff.n, cell_);
      add("xoff", where, xoff, cells, up(cells + up(c.reserved.n, cell_), each_));
    };
    std::map<std::int64_t, std::optional<Bytes>> by_rate;
    for (const Port& p : ports_)
      if (!says_more(p)) by_rate.emplace(p.rate.bps, at(p));
    std::set<std::optional<Bytes>> different;
    for (const auto& [bps, xoff] : by_rate) different.insert(xoff);
    for (const auto& [bps, xoff] : by_rate)
      if (xoff) {
        add_one(different.size() == 1 ? std::string() : spec::format(BitRate{bps}), *xoff);
        if (different.size() == 1) break;
      }
    for (const Port& p : ports_)
      if (says_more(p))
        if (const auto xoff = at(p)) add_one(fmt::format("{}:{}", p.node->name, p.number), *xoff);
  }
  bool says_more(const Port& p) const {
    const auto found = p.node->ports.find(p.number);
    return found != p.node->ports.end() && found->second.classes.contains(like_.priority);
  }
  std::optional<Bytes> at(const Port& p) const {
    return spec::class_at(lab_, *p.node, p.number, p.rate, static_cast<std::size_t>(like_.priority)).xoff;
  }

  const spec::Lab& lab_;
  const std::vector<Port>& ports_;
  EffectiveThreshold like_;
  std::int64_t cell_;
  std::int64_t each_;  // cells of a frame
  std::vector<EffectiveThreshold>& to_;
};

}  // namespace

std::vector<EffectiveThreshold> effective_thresholds(const spec::Lab& lab) {
  std::set<std::string> profiles;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == spec::NodeSpec::Kind::kSwitch) profiles.insert(n.profile);
  std::vector<EffectiveThreshold> all;
  for (const std::string& profile : profiles) {
    const spec::SwitchProfile& s = lab.switches.at(profile);
    const spec::QosProfile& qos = lab.qos.at(s.qos);
    const std::vector<Port> ports = ports_of(lab, profile);
    for (const auto& [priority, frame] : frames_of(lab, qos)) {
      EffectiveThreshold like;
      like.profile = profile;
      like.priority = priority;
      like.frame = frame;
      Builder(lab, ports, std::move(like), s.cell, all).add_all(qos.classes[static_cast<std::size_t>(priority)]);
    }
  }
  return all;
}

nlohmann::ordered_json thresholds_json(const std::vector<EffectiveThreshold>& thresholds) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const EffectiveThreshold& t : thresholds)
    all.push_back({{"profile", t.profile},
                   {"class", t.priority},
                   {"threshold", t.name},
                   {"where", t.where.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(t.where)},
                   {"configured_bytes", t.configured.n},
                   {"cells", t.cells},
                   {"frame_bytes", t.frame},
                   {"effective_bytes", t.effective.n}});
  return all;
}

std::string thresholds_text(const std::vector<EffectiveThreshold>& thresholds, const std::string& indent) {
  std::string out;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    const EffectiveThreshold& t = thresholds[i];
    const bool begins = i == 0 || t.profile != thresholds[i - 1].profile || t.priority != thresholds[i - 1].priority;
    if (begins)
      out += fmt::format("{}{}class {} of {}, frames of {} B: ", i == 0 ? "" : "\n", indent, t.priority, t.profile,
                         t.frame);
    out += fmt::format("{}{} {}{} ({} cells, effective {})", begins ? "" : ", ", t.name,
                       size_text(static_cast<std::uint64_t>(t.configured.n)),
                       t.where.empty() ? std::string() : " at " + t.where, count_text(t.cells),
                       size_text(static_cast<std::uint64_t>(t.effective.n)));
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace railyard::report
