// Messages over RoCEv2 and UET, and collectives of theirs: NICs, traffic, operations.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/collectives/reduction.h"
#include "control/collectives/registry.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/reducers.h"
#include "control/spec/select.h"
#include "control/swarm/draw.h"
#include "control/swarm/generate.h"
#include "transports/roce/congestion/kinds.h"

namespace railyard::swarm {
namespace {

constexpr unsigned kMessagesPercent = 70;  // of labs
constexpr unsigned kEachPercent = 65;      // of these: RoCE, UET
constexpr unsigned kCollectivePercent = 30;

// Half of the labs have NICs that wait longer for an answer than any fault lasts, so that nothing may fail there; the
// others give up soon. spec::Lab says it of each flow (transport_promises.h).
bool is_patient(Seed seed) { return Draw(seed, "swarm/patience").percent(50); }

// ---- NICs ----

// Settings of a congestion control, of those values that its table has for trials.
template <class K>
std::string settings_of(Draw& draw) {
  std::string text;
  for (const auto& p : K::parameters()) {
    if (p.trials.empty() || draw.percent(50)) continue;
    const auto n = draw.below(p.trials.size());
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", p.name, p.trials[n]);
  }
  return text.empty() ? text : fmt::format(", {}: {{ {} }}", K::kName, text);
}

// As often none as each kind.
std::string congestion(Draw& draw) {
  const std::size_t drawn = draw.below(std::tuple_size_v<roce::CongestionKinds> + 1);
  std::string text = ", congestion: none";
  roce::for_each_congestion_kind([&]<class K>(std::type_identity<K>, std::size_t i) {
    if (i == drawn) text = fmt::format(", congestion: {}{}", K::kName, settings_of<K>(draw));
  });
  return text;
}

std::string selective_repeat(Draw& draw, bool patient) {
  const std::int64_t packets = draw.between(4, 300);
  const std::int64_t rto = patient ? draw.between(5000, 15'000) : draw.between(60, 1500);
  return Text{
      ", loss-recovery: selective-repeat, selective-repeat: {{ bdp-packets: {}, window-packets: {}, reorder-packets: "
      "{}, "
      "rto-low: {}us, rto-high: {}us }}",
      packets,
      std::max<std::int64_t>(64, packets * draw.between(1, 3)),
      draw.between(1, 20),
      rto,
      rto * draw.between(1, 3)};
}

std::string roce_nic(Seed seed) {
  Draw draw(seed, "swarm/roce/nic");
  const bool patient = is_patient(seed);
  std::string text = Text{"roce: {{ ack-timeout: {}, retry-count: {}, min-rnr-timer: {}, ack-every: {}",
                          patient ? draw.between(11, 13) : draw.between(4, 8), patient ? 7 : draw.between(0, 7),
                          draw.between(1, 10), draw.of({1, 4, 64, 64})};
  text += congestion(draw);
  if (draw.percent(40)) text += fmt::format(", window: {}", draw.between(1, 200));
  if (draw.percent(40)) text += fmt::format(", max-reads: {}", draw.between(1, 8));
  if (draw.percent(45)) text += selective_repeat(draw, patient);
  return text + " }";
}

// DSCPs that end in 7 are those of control packets, so that no data have them.
constexpr int kControl = 7;

std::string uet_nic(Seed seed) {
  Draw draw(seed, "swarm/uet/nic");
  const bool patient = is_patient(seed);
  const std::int64_t range = draw.of({128, 256, 512, 1024});
  std::string text = Text{
      "uet: {{ path-policy: {}, paths: {}, ack-cc: {}, ack-bytes: {}B, rto: {}us, retries: {}, window: {}, mp-range: "
      "{}",
      draw.of({"mixed", "mixed", "reps", "bitmap", "oblivious", "single"}),
      draw.of({1, 4, 16, 64, 256}),
      draw.percent(85),
      draw.of({0, 4096, 16'384, 16'384, 65'536}),
      patient ? draw.between(500, 2000) : draw.between(50, 1000),
      patient ? 7 : draw.between(0, 5),
      draw.percent(50) ? range : draw.between(1, range),
      range};
  text += Text{", idle-close: {}us, control-dscp: {}", draw.of({10, 100, 1000}), 8 * draw.below(8) + kControl};
  const bool uncontrolled = draw.percent(25);
  if (Draw credit(seed, "swarm/uet/credit"); credit.percent(35)) {
    text += fmt::format(", congestion: {}, rccc: {{ max-window: {}, grant-packets: {} }}", credit.of({"rccc", "both"}),
                        credit.of({"1/10", "3/2", "3/2", "4"}), credit.of({1, 4, 4, 16}));
  } else if (uncontrolled) {
    text += ", congestion: none";
  }
  if (draw.percent(30)) text += fmt::format(", loss-inference: {}", draw.percent(50));
  Draw timers(seed, "swarm/uet/timers");
  if (timers.percent(30)) text += ", rto-timer: packet";
  if (timers.percent(20)) text += ", rto-backoff: none";
  if (draw.percent(25)) text += ", probe: true";
  if (draw.percent(30)) text += fmt::format(", rudi-window: {}", draw.between(1, 64));
  if (draw.percent(15)) text += ", encapsulation: ip";
  if (draw.percent(15)) text += ", crc: false";
  if (draw.percent(15)) text += ", nscc: { max-window: 1/2 }";
  // Few: ends wait for PDCs of their own and of others.
  if (Draw pdcs(seed, "swarm/uet/pdcs"); pdcs.percent(15)) text += fmt::format(", pdcs: {}", pdcs.of({2, 3, 4, 8, 32}));
  return text + " }";
}

// ---- Traffic and collectives ----

class Messages {
 public:
  Messages(Seed seed, const spec::Lab& lab) : seed_(seed), lab_(lab) {
    std::set<std::size_t> nics;
    for (const spec::NodeSpec& n : lab.nodes) {
      if (n.kind != spec::NodeSpec::Kind::kHost || n.reduces) continue;
      hosts_.push_back(n.name);
      nics.insert(n.nics.size());
    }
    alike_ = nics.size() == 1;
    Draw draw(seed, "swarm/messages");
    const bool any = draw.percent(kMessagesPercent);
    roce_ = draw.percent(kEachPercent) && any;
    uet_ = (draw.percent(kEachPercent) || !roce_) && any;
    for (DataClass& c : uet_data_) {
      const int first = 8 * uet_class(draw);
      c.dscp = first + static_cast<int>(draw.below(kControl));
      c.ect = draw.percent(75);
    }
    uet_ip_ = draw.of({4, 4, 6});
    uet_mtu_ = draw.of(path_mtus(1024));
  }

  std::vector<GeneratedLab::Item> traffic() {
    Draw draw(seed_, "swarm/messages/traffic");
    const std::int64_t of_roce = draw.between(1, 2);
    const std::int64_t of_uet = draw.between(1, 3);
    if (roce_)
      for (std::int64_t i = 0; i < of_roce; ++i) add("r", i, [&](Draw& d) { return over_roce(d); });
    if (uet_)
      for (std::int64_t i = 0; i < of_uet; ++i) add("u", i, [&](Draw& d) { return over_uet(d); });
    return std::move(items_);
  }

  std::vector<GeneratedLab::Item> collectives() {
    Draw draw(seed_, "swarm/messages/collectives");
    const bool first = draw.percent(kCollectivePercent);
    const bool second = draw.percent(kCollectivePercent);
    if (roce_ && first && hosts_.size() > 1) add("c", 0, [&](Draw& d) { return collective(d, false); });
    if (uet_ && second && hosts_.size() > 1) add("c", 1, [&](Draw& d) { return collective(d, true); });
    return std::move(items_);
  }

 private:
  template <class F>
  void add(const char* kind, std::int64_t i, F&& make) {
    const std::string name = fmt::format("{}{}", kind, i + 1);
    Draw draw(seed_, "swarm/messages/" + name);
    items_.push_back({name, make(draw)});
  }

  const spec::QosProfile& qos() const { return lab_.qos.at("default"); }
  // Where switches trim, if they do; else any.
  int uet_class(Draw& draw) const {
    std::vector<int> trimming;
    for (int c = 0; c < 8; ++c)
      if (qos().classes[static_cast<std::size_t>(c)].trim) trimming.push_back(c);
    const auto any = static_cast<int>(draw.below(8));
    return trimming.empty() || draw.percent(35) ? any : draw.of(trimming);
  }
  // RoCE is mostly where it belongs.
  int roce_class(Draw& draw) const {
    const auto any = static_cast<int>(draw.below(8));
    return draw.percent(50) ? 3 : any;
  }
  int roce_dscp(Draw& draw) const {
    const int first = 8 * roce_class(draw);
    return first + static_cast<int>(draw.below(8));
  }
  // With the headers of either and IPv6.
  std::vector<int> path_mtus(int least) const {
    constexpr int kHeaders = 120;
    std::vector<int> out;
    for (const int mtu : {256, 512, 1024, 2048, 4096})
      if (mtu >= least && mtu + kHeaders <= lab_.links.front().mtu) out.push_back(mtu);
    return out;
  }

  std::string ends(Draw& draw) const {
    const auto most = static_cast<std::int64_t>(hosts_.size()) - 1;
    const std::string from = alike_ ? "" : R"(, from: "h*:1")";
    const std::string to = alike_ ? "" : R"(, to: "h*:1")";
    const std::string nic = alike_ ? "" : ":1";
    switch (draw.below(5)) {
      case 0:
      case 1:
        return fmt::format("pattern: permutation{}{}", from, to);
      case 2:
        return Text{"pattern: incast{}, to: \"{}{}\", fan-in: {}", from, draw.of(hosts_), nic,
                    draw.between(std::min<std::int64_t>(2, most), std::min<std::int64_t>(6, most))};
      case 3:
        return fmt::format("pattern: random{}{}, flows: {}", from, to, draw.between(1, 2));
      default:
        return fmt::format("pattern: pairs, from: \"{}{}\", to: \"{}{}\", flows: {}", hosts_.front(), nic,
                           hosts_.back(), nic, draw.between(1, 4));
    }
  }
  // How much, how fast, when. `most`: octets of a message.
  std::string amount(Draw& draw, std::int64_t most) const {
    const bool ends = draw.percent(75);
    const std::int64_t units = draw.between(1, 400);
    const std::int64_t bytes = units * draw.of({100, 1000, 1000});
    const std::int64_t pieces = draw.between(1, 60);
    const std::int64_t message = std::min(most, std::max(bytes / 300, pieces * draw.of({16, 512, 2048})));
    std::string text =
        Text{", message: {}B, outstanding: {}, qps: {}", message, draw.between(1, 6), draw.of({1, 1, 1, 2, 4})};
    if (ends) text += fmt::format(", bytes: {}B", bytes);
    const std::int64_t percent = draw.between(2, 25);
    if (!ends || draw.percent(30)) text += fmt::format(", rate: {}Mbps", gbps_of_hosts(lab_) * 10 * percent);
    if (draw.percent(40)) text += fmt::format(", start: {}us", draw.between(0, 30));
    if (draw.percent(15)) text += fmt::format(", stagger: {}ns", draw.between(10, 2000));
    return text;
  }
  static std::string receiving(Draw& draw) {
    std::string text;
    if (draw.percent(40)) text += fmt::format(", receives: {}", draw.between(1, 6));
    if (draw.percent(20)) text += fmt::format(", repost-after: {}us", draw.between(1, 10));
    return text;
  }

  std::string over_roce(Draw& draw) const {
    const std::string operation = draw.of<std::string>({"write", "write", "send", "read"});
    std::string text = Text{"{}, transport: roce, operation: {}, path-mtu: {}, dscp: {}, ip: {}, ecn: {}",
                            ends(draw),
                            operation,
                            draw.of(path_mtus(256)),
                            roce_dscp(draw),
                            draw.of({4, 4, 6}),
                            draw.percent(75)};
    if (operation != "read" && draw.percent(20)) text += ", qp-type: uc";
    text += amount(draw, 1 << 20);
    return operation == "send" ? text + receiving(draw) : text;
  }
  std::string over_uet(Draw& draw) const {
    const std::string service = draw.of<std::string>({"rud", "rud", "rud", "rod", "rod", "rudi", "uud"});
    const std::string operation =
        service == "uud" ? "send" : draw.of<std::string>({"write", "read", service == "rudi" ? "write" : "send"});
    std::string text =
        Text{"{}, transport: uet, service: {}, operation: {}{}", ends(draw), service, operation, uet_packets(draw)};
    text += amount(draw, service == "uud" ? uet_mtu_ : 1 << 20);
    if (operation != "send") return text;
    text += receiving(draw);
    return service != "uud" && draw.percent(40) ? text + ", tagged: true" : text;
  }
  // All of it at a NIC has the MTU and the version of IP in common.
  std::string uet_packets(Draw& draw) const {
    const DataClass& data = draw.percent(70) ? uet_data_[0] : uet_data_[1];
    return fmt::format(", path-mtu: {}, dscp: {}, ip: {}, ecn: {}", uet_mtu_, data.dscp, uet_ip_, data.ect);
  }

  // Any that can be used among all hosts; mostly that in switches, if they reduce.
  const collectives::Algorithm& algorithm(Draw& draw, collectives::Operation operation) const {
    const std::vector<spec::PortName> nics = spec::rank_nics(lab_, {"h*:1"});
    const collectives::Layout layout = spec::layout(lab_, nics);
    std::vector<const collectives::Algorithm*> all = collectives::algorithms(operation);
    std::erase_if(all, [&](const auto* a) {
      return a->refusal(layout) || (a->in_switches && collectives::reduction_problem(
                                                          {.host = spec::places(lab_, nics).host,
                                                           .reduction = spec::reduction_network(lab_, nics)},
                                                          static_cast<std::uint32_t>(nics.size())));
    });
    const auto in_switches = std::ranges::find_if(all, [](const auto* a) { return a->in_switches; });
    return in_switches != all.end() && draw.percent(70) ? **in_switches : *draw.of(all);
  }

  std::string collective(Draw& draw, bool uet) const {
    const auto n = static_cast<std::int64_t>(hosts_.size());
    using enum collectives::Operation;
    const collectives::Operation operation =
        draw.of({kAllReduce, kAllReduce, kAllReduce, kReduceScatter, kAllGather, kAllToAll, kBroadcast});
    const std::string what = fmt::format("collective: {}, algorithm: {}", name(operation), algorithm(draw, operation).name);
    const std::string carrier = uet ? Text{"uet, service: {}{}", draw.of({"rud", "rod"}), uet_packets(draw)}
                                    : Text{"roce, path-mtu: {}, dscp: {}, ip: {}, ecn: {}", draw.of(path_mtus(256)),
                                           roce_dscp(draw), draw.of({4, 4, 6}), draw.percent(75)};
    return Text{"{}, transport: {}, ranks: \"h*:1\", size: {}B, chunk: {}B, channels: {}, repeats: {}, start: {}us",
                what,
                carrier,
                4 * n * draw.between(1, 4000),
                4 * draw.between(256, 16'384),
                draw.of({1, 1, 2}),
                draw.of({1, 2, 3}),
                draw.between(0, 20)};
  }

  Seed seed_;
  const spec::Lab& lab_;
  std::vector<std::string> hosts_;
  bool alike_ = true;  // all have as many NICs
  bool roce_ = false;
  bool uet_ = false;
  struct DataClass {
    int dscp = 0;
    bool ect = true;
  };
  std::array<DataClass, 2> uet_data_;
  int uet_ip_ = 4;
  int uet_mtu_ = 1024;
  std::vector<GeneratedLab::Item> items_;
};

}  // namespace

std::int64_t gbps_of_hosts(const spec::Lab& lab) {
  for (const spec::LinkSpec& l : lab.links)
    if (lab.find(l.a.node)->kind == spec::NodeSpec::Kind::kHost) return l.rate.bps / 1'000'000'000;
  return 1;
}

// Both ends of a flow have the same.
std::string random_endpoints(Seed seed) { return roce_nic(seed) + ", " + uet_nic(seed); }

std::vector<GeneratedLab::Item> random_messages(Seed seed, const spec::Lab& lab) {
  return Messages(seed, lab).traffic();
}

std::vector<GeneratedLab::Item> random_collectives(Seed seed, const spec::Lab& lab) {
  return Messages(seed, lab).collectives();
}

}  // namespace railyard::swarm
