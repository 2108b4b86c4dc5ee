#include "control/report/thresholds.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/report/framing.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::report {
namespace {

std::int64_t up(std::int64_t octets, std::int64_t cell) { return (octets + cell - 1) / cell; }

// By class of `qos`: the longest data frame that traffic has in it.
std::map<int, std::uint32_t> frames_of(const spec::Lab& lab, const spec::QosProfile& qos) {
  std::map<int, std::uint32_t> frames;
  const auto see = [&](const spec::TrafficSpec& t) {
    std::uint32_t& most = frames[qos.class_of_untagged(t.dscp)];
    most = std::max(most, static_cast<std::uint32_t>(data_frame_octets(t, lab.hosts.begin()->second.uet)));
  };
  for (const spec::TrafficSpec& t : lab.traffic) see(t);
  for (const spec::CollectiveSpec& c : lab.collectives) {
    spec::TrafficSpec like;
    like.dscp = c.dscp;
    like.ip_version = c.ip_version;
    like.roce.path_mtu = c.path_mtu;
    like.transport = c.transport == spec::CollectiveTransport::kUet ? spec::TrafficSpec::Transport::kUet
                                                                     : spec::TrafficSpec::Transport::kRoce;
    see(like);
  }
  return frames;
}

// Rates of the links of switches of this profile.
std::set<std::int64_t> rates_of(const spec::Lab& lab, const std::string& profile) {
  std::set<std::int64_t> rates;
  for (const spec::LinkSpec& l : lab.links)
    for (const spec::PortName& end : {l.a, l.b}) {
      const spec::NodeSpec& n = *lab.find(end.node);
      if (n.kind == spec::NodeSpec::Kind::kSwitch && n.profile == profile) rates.insert(l.rate.bps);
    }
  return rates;
}

}  // namespace

std::vector<EffectiveThreshold> effective_thresholds(const spec::Lab& lab) {
  std::set<std::string> profiles;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == spec::NodeSpec::Kind::kSwitch) profiles.insert(n.profile);
  std::vector<EffectiveThreshold> all;
  for (const std::string& profile : profiles) {
    const spec::SwitchProfile& s = lab.switches.at(profile);
    const spec::QosProfile& qos = lab.qos.at(s.qos);
    const std::int64_t cell = s.cell.n;
    for (const auto& [priority, frame] : frames_of(lab, qos)) {
      const spec::TrafficClass& c = qos.classes[static_cast<std::size_t>(priority)];
      const std::int64_t each = up(frame, cell);  // cells of a frame
      const auto add = [&](const char* name, std::string rate, Bytes configured, std::int64_t cells,
                           std::int64_t frames) {
        all.push_back({profile, priority, name, std::move(rate), configured, static_cast<std::uint32_t>(cells), frame,
                       Bytes{frames * frame}});
      };
      const auto add_mark = [&](const char* name, const std::string& rate, Bytes configured) {
        add(name, rate, configured, configured.n / cell, configured.n / cell / each);
      };
      if (c.ecn.enabled && !c.ecn.auto_thresholds) {
        add_mark("kmin", "", c.ecn.kmin);
        add_mark("kmax", "", c.ecn.kmax);
      } else if (c.ecn.enabled) {
        for (const std::int64_t bps : rates_of(lab, profile)) {
          const std::string rate = spec::format(BitRate{bps});
          add_mark("kmin", rate, spec::automatic_kmin(BitRate{bps}));
          add_mark("kmax", rate, spec::automatic_kmax(BitRate{bps}));
        }
      }
      if (c.lossless && !c.cbfc && c.xoff) {
        const std::int64_t cells = up(c.xoff->n, cell);
        add("xoff", "", *c.xoff, cells, up(cells + up(c.reserved.n, cell), each));
      }
      if (!c.lossless && c.queue_limit) {
        const std::int64_t cells = up(c.queue_limit->n, cell);
        add("queue-limit", "", *c.queue_limit, cells, (cells + up(c.queue_reserved.n, cell)) / each);
      }
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
                   {"link_rate", t.rate.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(t.rate)},
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
                       t.rate.empty() ? std::string() : " at " + t.rate, count_text(t.cells),
                       size_text(static_cast<std::uint64_t>(t.effective.n)));
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace railyard::report
