#include "control/compare/overrides.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "control/spec/collective_ranks.h"
#include "control/spec/frame_tags.h"

namespace railyard::compare {
namespace {

using Kind = spec::Column::Kind;

// A class of a QoS profile: those of the switches, and of the hosts, whose NICs queue by it.
struct ClassName {
  std::string profile;
  int number = 0;

  auto operator<=>(const ClassName&) const = default;
  std::string path() const { return fmt::format("qos.{}.classes.{}", profile, number); }
};

struct Carried {
  std::vector<std::string> paths;    // "traffic.all", "collectives.train"
  std::set<std::string> uet;         // those that the file carries over UET,
  std::set<std::string> roce_flows;  // and traffic over RoCE
  std::set<ClassName> at_switches;   // of their data
  std::set<ClassName> at_hosts;
};

bool is_carried(const spec::TrafficSpec& t) { return t.transport != spec::TrafficSpec::Transport::kGenerator; }

// Which class a DSCP is in, by every profile in use.
void add_classes(const spec::Lab& lab, int dscp, Carried& to) {
  const auto add = [&](const std::string& profile, std::set<ClassName>& classes) {
    const auto found = lab.qos.find(profile);
    if (found == lab.qos.end()) return;
    const spec::QosProfile& qos = found->second;
    classes.insert({profile, spec::class_at_switch(lab, qos, dscp)});
  };
  for (const spec::NodeSpec& node : lab.nodes) {
    if (node.kind == spec::NodeSpec::Kind::kSwitch) add(lab.switches.at(node.profile).qos, to.at_switches);
    if (node.kind == spec::NodeSpec::Kind::kHost) add(lab.hosts.at(node.profile).qos, to.at_hosts);
  }
}

Carried carried(const spec::Lab& lab) {
  Carried all;
  for (const spec::TrafficSpec& t : lab.traffic) {
    if (!is_carried(t)) continue;
    if (t.roce.operation == spec::RoceOperation::kRping)
      throw std::invalid_argument(
          fmt::format("traffic.{}: rping exists over RoCEv2 only (rdma_cm); expected write, send or read", t.name));
    all.paths.push_back("traffic." + t.name);
    (t.is_uet() ? all.uet : all.roce_flows).insert(all.paths.back());
    add_classes(lab, t.dscp, all);
  }
  for (const spec::CollectiveSpec& c : lab.collectives) {
    all.paths.push_back(c.path());
    if (c.is_uet()) all.uet.insert(all.paths.back());
    for (const spec::TrafficSpec& like : spec::all_like_traffic(c)) add_classes(lab, like.dscp, all);
  }
  if (all.paths.empty())
    throw std::invalid_argument(
        "the lab has no RDMA traffic to compare; expected collectives, or traffic with transport: roce or uet");
  return all;
}

// The class of trimmed frames: strict priority, lossy.
int class_for_trimmed(const spec::Lab& lab, const ClassName& from, const std::set<ClassName>& data) {
  const spec::QosProfile& qos = lab.qos.at(from.profile);
  for (int k = 7; k >= 0; --k) {
    const spec::TrafficClass& c = qos.classes[static_cast<std::size_t>(k)];
    if (c.strict && !c.lossless && !data.contains({from.profile, k})) return k;
  }
  throw std::invalid_argument(
      fmt::format("trim: qos.{} has no class for trimmed frames; expected a strict, lossy class, e.g. "
                  "qos.{}.classes.6={{ strict: true }}",
                  from.profile, from.profile));
}

int dscp_of_class(const spec::QosProfile& qos, const ClassName& of, int number) {
  // The class selector code point, if it still maps to that class.
  if (qos.dscp_to_class[static_cast<std::size_t>(number * 8)] == number) return number * 8;
  for (int dscp = 63; dscp >= 0; --dscp)
    if (qos.dscp_to_class[static_cast<std::size_t>(dscp)] == number) return dscp;
  throw std::invalid_argument(
      fmt::format("trim: no DSCP maps to class {} of qos.{}, the class of trimmed frames", number, of.profile));
}

class Writer {
 public:
  using IsSaid = std::function<bool(const std::string& path)>;
  Writer(const spec::Lab& lab, const spec::Column& column, const IsSaid& is_said)
      : lab_(lab), column_(column), is_said_(is_said), carried_(carried(lab)) {}

  std::vector<Override> all() {
    transport();
    nics();
    for (const ClassName& c : carried_.at_switches) path(c);
    std::set<ClassName> classes = carried_.at_switches;
    classes.insert(carried_.at_hosts.begin(), carried_.at_hosts.end());
    for (const ClassName& c : classes) loss(c);
    if (column_.word(Kind::kLink) == "llr") set(Kind::kLink, "defaults.link.llr", "on");
    for (const std::string& own : column_.sets) out_.push_back({own, ""});
    return std::move(out_);
  }

 private:
  // For the column's word of this kind.
  void set(Kind kind, const std::string& path, std::string_view value) {
    out_.push_back({fmt::format("{}={}", path, value), std::string(column_.word(kind))});
  }

  void transport() {
    const std::string_view service = column_.word(Kind::kService);
    for (const std::string& path : carried_.paths) {
      set(Kind::kTransport, path + ".transport", column_.word(Kind::kTransport));
      // What the file says of the other transport has no meaning here.
      for (const char* key : {".service", ".tagged"})
        if (carried_.uet.contains(path) && !column_.is_uet() && is_said_(path + key))
          set(Kind::kTransport, path + key, "");
      for (const char* key : {".qp-type", ".vlan", ".pcp"})
        if (carried_.roce_flows.contains(path) && column_.is_uet() && is_said_(path + key))
          set(Kind::kTransport, path + key, "");
      const bool collective = !path.starts_with("traffic.");
      if (collective && service == "uc")
        throw std::invalid_argument(
            fmt::format("{}: uc may lose messages, and collectives need all of them; expected rc", path));
      if (service.empty() || (collective && service == "rc")) continue;
      set(Kind::kService, path + (column_.is_uet() ? ".service" : ".qp-type"), service);
    }
  }

  void nics() {
    const std::string_view cc = column_.word(Kind::kCongestion);
    const std::string_view recovery = column_.word(Kind::kRecovery);
    const std::string_view path = column_.word(Kind::kPath);
    for (const auto& [name, profile] : lab_.hosts) {
      const std::string nic = fmt::format("hosts.{}.{}", name, column_.word(Kind::kTransport));
      if (!recovery.empty())
        set(Kind::kRecovery, nic + ".loss-recovery", recovery == "gbn" ? "go-back-n" : "selective-repeat");
      if (!cc.empty()) set(Kind::kCongestion, nic + ".congestion", cc == "no-cc" ? "none" : cc);
      if (path.empty() || !column_.is_uet()) continue;
      if (!sprays())
        set(Kind::kPath, nic + ".path-policy", "single");
      else if (path != "spray")
        set(Kind::kPath, nic + ".path-policy", path);
      else if (profile.uet.path_policy == spec::UetPathPolicy::kSingle)  // the file's own, if it is one that sprays
        set(Kind::kPath, nic + ".path-policy", "reps");
    }
    if (path == "spray" && column_.is_uet() && without_udp()) hash_entropy();
  }

  // Whether a NIC puts UET directly into IP, by the file or by what the column says behind its words.
  bool without_udp() const {
    return std::ranges::any_of(lab_.hosts, [](const auto& h) { return !h.second.uet.udp; }) ||
           std::ranges::any_of(column_.sets, [](const std::string& set) {
             return set.ends_with("encapsulation=ip") || set.ends_with("profile=ref-prov");
           });
  }

  // Its entropy is then in a header that switches hash if they are told to.
  void hash_entropy() {
    for (const auto& [name, profile] : lab_.switches) {
      const spec::EcmpSpec& e = profile.ecmp;
      if (e.uet_entropy) continue;
      std::string fields;
      for (const auto& [has, word] :
           {std::pair{e.addresses, "addresses"}, std::pair{e.ports, "ports"},
            std::pair{e.destination_qp, "destination-qp"}, std::pair{e.ingress_port, "ingress-port"}})
        if (has) fields += fmt::format("{}, ", word);
      set(Kind::kPath, fmt::format("switches.{}.ecmp.fields", name), fmt::format("[{}uet-entropy]", fields));
    }
  }

  // UET: the sender gives each packet its own path.
  bool sprays() const {
    constexpr std::string_view kWords[] = {"spray", "oblivious", "bitmap", "reps", "mixed"};
    return std::ranges::find(kWords, column_.word(Kind::kPath)) != std::end(kWords);
  }

  void path(const ClassName& c) {
    const std::string_view word = column_.word(Kind::kPath);
    if (word.empty()) return;
    // UET sprays by the entropy of its packets, which switches hash.
    set(Kind::kPath, c.path() + ".path", column_.is_uet() && sprays() ? "ecmp" : word);
  }

  void loss(const ClassName& c) {
    const std::string_view word = column_.word(Kind::kLoss);
    if (word.empty()) return;
    const spec::TrafficClass& now = lab_.qos.at(c.profile).classes[static_cast<std::size_t>(c.number)];
    const bool lossless = word == "pfc" || word == "cbfc";
    set(Kind::kLoss, c.path() + ".lossless", lossless ? "true" : "false");
    if (word == "cbfc" && !now.cbfc) set(Kind::kLoss, c.path() + ".cbfc", "on");
    if (word == "pfc" && now.cbfc) set(Kind::kLoss, c.path() + ".cbfc", "off");
    if (now.trim && word != "trim") set(Kind::kLoss, c.path() + ".trim", "");
    if (lossless) {
      // What a lossless class has no use for.
      if (now.queue_alpha_exponent != 0) set(Kind::kLoss, c.path() + ".queue-alpha", "");
      if (now.queue_limit) set(Kind::kLoss, c.path() + ".queue-limit", "");
      if (now.ecn.drop_not_ect) set(Kind::kLoss, c.path() + ".ecn.drop-not-ect", "");
      if (now.drop.any()) set(Kind::kLoss, c.path() + ".drop", "");
    }
    if (now.pfc != spec::PfcMode::kAuto) set(Kind::kLoss, c.path() + ".pfc", "auto");
    if (word == "trim" && !now.trim) {
      std::set<ClassName> data = carried_.at_switches;
      data.insert(carried_.at_hosts.begin(), carried_.at_hosts.end());
      const int to = class_for_trimmed(lab_, c, data);
      set(Kind::kLoss, c.path() + ".trim",
          fmt::format("{{ class: {}, dscp: {} }}", to, dscp_of_class(lab_.qos.at(c.profile), c, to)));
    }
  }

  const spec::Lab& lab_;
  const spec::Column& column_;
  const IsSaid& is_said_;
  Carried carried_;
  std::vector<Override> out_;
};

}  // namespace

std::vector<Override> overrides(const spec::Lab& lab, const spec::Column& column,
                                const std::function<bool(const std::string& path)>& is_said) {
  return Writer(lab, column, is_said).all();
}

std::vector<std::string> sets_of(const std::vector<Override>& overrides) {
  std::vector<std::string> sets;
  for (const Override& o : overrides) sets.push_back(o.set);
  return sets;
}

}  // namespace railyard::compare
