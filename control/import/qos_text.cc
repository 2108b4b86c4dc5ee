#include "control/import/qos_text.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "control/base/short_quote.h"
#include "control/import/most_common.h"
#include "control/spec/value.h"

namespace railyard::importing {
namespace {

constexpr std::size_t kTextWidth = 120;

// GroupBuffer without where it comes from.
struct Thresholds {
  std::optional<int> alpha_exponent;
  std::optional<std::int64_t> limit;
  std::optional<std::int64_t> xon_offset;
  std::optional<std::int64_t> headroom;

  bool operator==(const Thresholds&) const = default;
};

Thresholds thresholds_of(const std::optional<GroupBuffer>& g) {
  return g ? Thresholds{g->alpha_exponent, g->limit, g->xon_offset, g->headroom} : Thresholds{};
}

std::string octets(const char* key, std::int64_t value) { return fmt::format("{}: {}B", key, value); }

// What of `other` is not as in `base`, as keys of a class.
std::vector<std::string> differing(const Thresholds& base, const Thresholds& other) {
  std::vector<std::string> out;
  if (other.limit && other.limit != base.limit) out.push_back(octets("xoff", *other.limit));
  if (other.alpha_exponent && (other.alpha_exponent != base.alpha_exponent || base.limit))
    out.push_back("alpha: " + spec::format_power_of_two(*other.alpha_exponent));
  if (other.xon_offset && other.xon_offset != base.xon_offset) out.push_back(octets("xon-offset", *other.xon_offset));
  if (other.headroom && other.headroom != base.headroom) out.push_back(octets("headroom", *other.headroom));
  return out;
}

class QosWriter {
 public:
  explicit QosWriter(const SwitchConfig& from) : from_(from) {}

  QosText write() {
    out_.profile = "qos:\n  default:\n";
    code_points();
    out_.profile += "    classes:\n";
    for (std::size_t c = 0; c < kClasses; ++c) write_class(c);
    return std::move(out_);
  }

 private:
  void note(const std::string& text) {
    if (std::ranges::find(out_.notes, printable(text)) == out_.notes.end()) out_.notes.push_back(printable(text));
  }

  void code_points() {
    const ClassMaps& maps = from_.maps;
    for (const std::string& source : from_.sources_of_maps)
      out_.profile += fmt::format("    # {}\n", printable(source));
    std::vector<std::string> items;
    if (maps.trust_pcp) {
      for (std::size_t pcp = 0; pcp < maps.class_of_pcp.size(); ++pcp)
        items.push_back(fmt::format("{}: {}", pcp, maps.class_of_pcp[pcp]));
      out_.profile += "    trust: pcp\n    pcp: { " + wrapped(items, 11, 11) + " }\n";
      return;
    }
    for (std::size_t dscp = 0; dscp < maps.class_of_dscp.size(); ++dscp)
      items.push_back(fmt::format("{}: {}", dscp, maps.class_of_dscp[dscp]));
    out_.profile += "    dscp: { " + wrapped(items, 12, 12) + " }\n";
  }

  void write_class(std::size_t c) {
    const bool lossless = from_.is_lossless(c);
    std::vector<std::string> keys;
    std::vector<std::string> sources;
    std::vector<std::string> by_rate;
    if (lossless) keys.emplace_back("lossless: true");
    groups(c, lossless, keys, by_rate, sources);
    queue(c, lossless, keys, sources);
    scheduling(c, lossless, keys, sources);
    if (keys.empty() && by_rate.empty() && !from_.maps.is_reached[c]) return;
    if (!by_rate.empty()) keys.push_back("by-rate: { " + fmt::format("{}", fmt::join(by_rate, ", ")) + " }");
    for (const std::string& source : from_.sources[c]) out_.profile += fmt::format("      # {}\n", printable(source));
    if (!sources.empty()) out_.profile += printable(fmt::format("      # {}", fmt::join(sources, "; "))) + "\n";
    out_.profile += fmt::format("      {}: {{ {} }}\n", c, keys.empty() ? "weight: 1" : wrapped(keys, 11, 11));
  }

  bool counts(std::size_t i, std::size_t c, bool lossless) const {
    return from_.ports[i].linked && (!lossless || from_.maps.has_pfc[i][c]);
  }

  void groups(std::size_t c, bool lossless, std::vector<std::string>& keys, std::vector<std::string>& by_rate,
              std::vector<std::string>& sources) {
    std::vector<Thresholds> all;
    std::vector<std::int64_t> reserved;
    std::set<std::string> profiles;
    for (std::size_t i = 0; i < from_.ports.size(); ++i) {
      if (!counts(i, c, lossless)) continue;
      const std::optional<GroupBuffer>& g = from_.buffers.groups[i][c];
      all.push_back(thresholds_of(g));
      reserved.push_back(g ? g->reserved : 0);
      if (g && !g->profile.empty()) profiles.insert(g->profile);
    }
    const Thresholds base = most_common(all);
    const std::vector<std::string> said = differing({}, base);
    keys.insert(keys.end(), said.begin(), said.end());
    // The configuration's headroom is what it is: `railyard check` shows beside it what the links need.
    const bool said_headroom = from_.buffers.memory.headroom_pool > 0 ||
                               std::ranges::any_of(all, [](const Thresholds& t) { return t.headroom.has_value(); });
    if (lossless && said_headroom) keys.emplace_back("accept-loss: true");
    if (const std::int64_t most = most_common(reserved); most > 0) keys.push_back(octets("reserved", most));
    if (std::set(reserved.begin(), reserved.end()).size() > 1)  // of SONiC alone
      note(fmt::format("BUFFER_PROFILE: size of priority group {}: not the same at all ports; that of most is taken",
                       from_.maps.group_of_class[c]));
    if (!profiles.empty())
      sources.push_back(fmt::format("PG {}: {}", from_.maps.group_of_class[c], fmt::join(profiles, ", ")));
    differences(c, lossless, base, by_rate);
  }

  // Ports whose thresholds are not those of the class: all ports of a rate, or single ones.
  void differences(std::size_t c, bool lossless, const Thresholds& base, std::vector<std::string>& by_rate) {
    std::map<std::int64_t, std::vector<Thresholds>> of_rate;
    for (std::size_t i = 0; i < from_.ports.size(); ++i)
      if (counts(i, c, lossless)) of_rate[from_.ports[i].speed].push_back(thresholds_of(from_.buffers.groups[i][c]));
    std::set<std::int64_t> said;
    for (const auto& [speed, all] : of_rate) {
      bool alike = all[0] != base;
      for (const Thresholds& t : all) alike = alike && t == all[0];
      if (!alike) continue;
      said.insert(speed);
      if (const std::vector<std::string> keys = differing(base, all[0]); !keys.empty())
        by_rate.push_back(fmt::format("{}: {{ {} }}", rate_text(speed), fmt::join(keys, ", ")));
    }
    for (std::size_t i = 0; i < from_.ports.size(); ++i) {
      const PortConfig& port = from_.ports[i];
      if (!port.linked) continue;
      std::vector<std::string> keys;
      if (lossless && !from_.maps.has_pfc[i][c]) keys.emplace_back("pfc: off");
      if (counts(i, c, lossless) && !said.contains(port.speed))
        keys = differing(base, thresholds_of(from_.buffers.groups[i][c]));
      if (!keys.empty()) out_.ports[port.number].push_back(fmt::format("{}: {{ {} }}", c, fmt::join(keys, ", ")));
    }
  }

  void queue(std::size_t c, bool lossless, std::vector<std::string>& keys, std::vector<std::string>& sources) {
    const std::optional<QueueBuffer>& q = from_.buffers.queues[c];
    if (!q) return;
    if (!q->profile.empty()) sources.push_back(fmt::format("queue: {}", q->profile));
    if (lossless) {
      if (q->limit || q->alpha_exponent)
        note(q->profile.empty() ? fmt::format("class {}: the limit of the queue (that of a lossless class has none)", c)
                                : fmt::format("BUFFER_PROFILE|{}: {} (the queue of a lossless class has no limit)",
                                              q->profile, q->limit ? "static_th" : "dynamic_th"));
    } else if (q->limit) {
      keys.push_back(octets("queue-limit", *q->limit));
    } else if (q->alpha_exponent) {
      keys.push_back("queue-alpha: " + spec::format_power_of_two(*q->alpha_exponent));
    }
    if (q->reserved > 0) keys.push_back(octets("queue-reserved", q->reserved));
    if (q->trims && lossless)
      note(fmt::format("BUFFER_PROFILE|{}: packet_discard_action (a lossless class never trims)", q->profile));
    if (q->trims && !lossless && from_.trimming)
      keys.push_back(fmt::format("trim: {{ keep: {}B, dscp: {}, class: {} }}", from_.trimming->size,
                                 from_.trimming->dscp, from_.trimming->to_class));
  }

  void scheduling(std::size_t c, bool lossless, std::vector<std::string>& keys, std::vector<std::string>& sources) {
    const QueueSettings& q = from_.queues[c];
    if (q.strict) keys.emplace_back("strict: true");
    if (q.weight) keys.push_back(fmt::format("weight: {}", *q.weight));
    if (!q.names.empty()) sources.push_back(q.names);
    if (!q.wred) return;
    if (q.wred->marks)
      keys.push_back(fmt::format("ecn: {{ kmin: {}B, kmax: {}B, pmax: {}%{} }}", q.wred->min, q.wred->max,
                                 q.wred->percent, lossless || !q.wred->drops_others ? "" : ", drop-not-ect: true"));
    else if (!lossless)
      keys.push_back(
          fmt::format("drop: {{ min: {}B, max: {}B, probability: {}% }}", q.wred->min, q.wred->max, q.wred->percent));
    else
      note(q.names.empty() ? fmt::format("class {}: early drops (a lossless class has none)", c)
                           : fmt::format("WRED_PROFILE|{}: green thresholds (lossless class {} has no early drops)",
                                         q.names, c));
  }

  const SwitchConfig& from_;
  QosText out_;
};

}  // namespace

QosText qos_text(const SwitchConfig& from) { return QosWriter(from).write(); }

std::string wrapped(const std::vector<std::string>& items, std::size_t used, std::size_t indent) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (i > 0 && used + item.size() + 3 > kTextWidth) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (i > 0) {
      out += ' ';
      ++used;
    }
    out += item;
    used += item.size();
  }
  return out;
}

std::string rate_text(std::int64_t mbps) {
  return mbps % 1000 == 0 ? fmt::format("{}Gbps", mbps / 1000) : fmt::format("{}Mbps", mbps);
}

}  // namespace railyard::importing
