#include "control/acceptance/live/trains.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/report/units.h"
#include "control/spec/port_class.h"

namespace railyard::acceptance::live {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kAloneFrames = 64;
constexpr std::uint32_t kTogetherFrames = 256;
constexpr std::uint32_t kIncastFrames = 256;
constexpr std::size_t kSteadyFrames = 200'000;  // of all NICs together
constexpr std::size_t kLatencySamples = 10'000;
constexpr std::size_t kMostSenders = 32;

std::string nic(const Subject& s, std::size_t n) { return fmt::format("{}:{}", s.nics[n].node, s.nics[n].port); }

std::int64_t whole_nanoseconds(Duration d) { return (d.ps + 999) / 1000; }

std::uint32_t payload_of(const Subject& s) { return static_cast<std::uint32_t>(s.like.roce.path_mtu) & ~3u; }

// How long `frames` take on the pair's slower link.
Duration train_time(const Subject& s, const Pair& p, std::uint32_t frames) {
  constexpr double kAround = 110;  // headers, FCS, preamble and gap
  return {static_cast<std::int64_t>((payload_of(s) + kAround) * 8e12 * frames / static_cast<double>(s.pair_bps(p)))};
}

class Requests {
 public:
  explicit Requests(const Subject& s) : s_(s) {}
  void add(const Pair& p, Duration start, std::uint32_t frames, Duration gap = {}) {
    if (out_.empty() || out_.back().pairs.size() == kMostTrains) next();
    Request& r = out_.back();
    r.body["trains"].push_back(
        {nic(s_, p.from), nic(s_, p.to), whole_nanoseconds(start), frames, whole_nanoseconds(gap)});
    r.pairs.push_back(p);
  }
  // What follows is sent when all before has come.
  void next() {
    if (!out_.empty() && out_.back().pairs.empty()) return;
    nlohmann::json body{{"payload", payload_of(s_)},
                        {"dscp", s_.like.dscp},
                        {"ect", s_.like.ect},
                        {"ip", s_.like.ip_version},
                        {"trains", nlohmann::json::array()}};
    if (s_.like.priority) body["class"] = *s_.like.priority;
    out_.push_back({std::move(body), {}});
  }
  bool full() const { return !out_.empty() && out_.back().pairs.size() == kMostTrains; }
  std::vector<Request> take() {
    std::erase_if(out_, [](const Request& r) { return r.pairs.empty(); });
    return std::move(out_);
  }

 private:
  const Subject& s_;
  std::vector<Request> out_;
};

std::vector<Request> alone(const Subject& s) {
  Requests out(s);
  Duration start{};
  for (const Pair& p : s.pairs) {
    if (out.full()) start = {};
    out.add(p, start, kAloneFrames);
    start = start + train_time(s, p, kAloneFrames) * 2 + s.one_way * 2;
  }
  return out.take();
}

std::vector<Request> together(const Subject& s) {
  Requests out(s);
  for (const std::vector<Pair>& round : rounds_of(s)) {
    out.next();
    for (const Pair& p : round) out.add(p, {}, kTogetherFrames);
  }
  return out.take();
}

std::vector<Request> idle(const Subject& s) {
  constexpr std::size_t kMostPairs = 500;
  Requests out(s);
  const std::size_t n = std::min(s.pairs.size(), kMostPairs);
  const auto each = static_cast<std::uint32_t>((kLatencySamples + n - 1) / n);
  Duration start{};
  for (std::size_t i = 0; i < n; ++i) {
    const Pair& p = s.pairs[i * s.pairs.size() / n];
    const Duration gap = train_time(s, p, 2) + s.one_way;  // one packet at a time
    out.add(p, start, each, gap);
    start = start + gap * std::int64_t{each} + s.one_way;
  }
  return out.take();
}

std::vector<Pair> far_pairs(const Subject& s) {
  const auto rounds = rounds_of(s);
  std::vector<Pair> pairs = rounds[rounds.size() / 2];
  if (pairs.size() > kMostTrains) pairs.resize(kMostTrains);
  return pairs;
}

// Every NIC to one far away, at this share of the link's rate.
std::vector<Request> steady(const Subject& s, std::int64_t percent) {
  Requests out(s);
  const std::vector<Pair> pairs = far_pairs(s);
  const auto frames = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kSteadyFrames / std::max<std::size_t>(pairs.size(), 1), 64, 10'000));
  for (const Pair& p : pairs) out.add(p, {}, frames, percent == 100 ? Duration{} : train_time(s, p, 1) * 100 / percent);
  return out.take();
}

std::vector<Request> incast(const Subject& s) {
  Requests out(s);
  const std::size_t to = s.nics.size() - 1;
  std::size_t senders = 0;
  for (const Pair& p : s.pairs)
    if (p.to == to && senders++ < kMostSenders) out.add(p, {}, kIncastFrames);
  if (senders < 2) return {};
  return out.take();
}

Json flow_of(const Subject& s, const Pair& pair, const nlohmann::json& t) {
  const std::uint64_t sent = t["sent"], received = t["received"];
  Json f{{"src", t["from"]}, {"dst", t["to"]}, {"packets", sent}, {"lost", t["lost"]}, {"corrupted", t["corrupted"]}};
  const double payload = payload_of(s);
  constexpr double kAround =
      82;  // Ethernet, IPv4, UDP, BTH, ICRC, FCS, preamble, gap: what a NIC's link carries besides
  f["limit_bps"] = static_cast<double>(s.pair_bps(pair)) * payload / (payload + kAround);
  const bool complete = sent > 0 && received >= sent && t["bps"].is_number();
  f["fct_ns"] =
      complete ? Json(t["last_ns"].get<std::int64_t>() - t["first_sent_ns"].get<std::int64_t>()) : Json(nullptr);
  f["goodput_bps"] = complete ? Json(t["bps"].get<double>()) : Json(nullptr);
  f["latency_ns"] = t["latency_ns"].is_object() ? Json{{"p50", t["latency_ns"]["p50"]}} : Json(nullptr);
  return f;
}

// Of a class's counter, since `before`.
std::uint64_t since(const Json* before, const Json& now, const char* group, const char* key) {
  const auto value = [&](const Json& c) {
    return group != nullptr ? c[group][key].get<std::uint64_t>() : c[key].get<std::uint64_t>();
  };
  return value(now) - (before != nullptr ? value(*before) : 0);
}

Json drops_between(const Json* before, const Json& now) {
  Json out = Json::object();
  for (const auto& [reason, n] : now.items()) {
    const std::uint64_t was =
        before != nullptr && before->contains(reason) ? (*before)[reason].get<std::uint64_t>() : 0;
    if (n.get<std::uint64_t>() > was) out[reason] = n.get<std::uint64_t>() - was;
  }
  return out;
}

const Json* class_of(const Json& port, int number) {
  for (const Json& c : port["classes"])
    if (c["class"] == number) return &c;
  return nullptr;
}

// "3 at leaf1:3 (headroom_full)", the most first; nothing: no port dropped any.
std::string drops_text(const Json& ports) {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  const auto add = [&](const Json& port, const Json& drops) {
    for (const auto& [reason, n] : drops.items())
      all.emplace_back(n.get<std::uint64_t>(),
                       fmt::format("{} at {}:{} ({})", report::count_text(n.get<std::uint64_t>()),
                                   port["node"].get<std::string>(), port["port"].get<int>(), reason));
  };
  for (const Json& port : ports) {
    add(port, port["drops"]);
    for (const Json& c : port["classes"]) add(port, c["drops"]);
    if (const auto lost = port["lost_on_link"].get<std::uint64_t>(); lost > 0)
      all.emplace_back(lost, fmt::format("{} on the link at {}:{}", report::count_text(lost),
                                         port["node"].get<std::string>(), port["port"].get<int>()));
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &std::pair<std::uint64_t, std::string>::first);
  std::string out;
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i)
    out += fmt::format("{}{}", i > 0 ? ", " : "", all[i].second);
  return out;
}

// How long trains were on their way, ns of simulated time.
std::int64_t span_of(const std::vector<nlohmann::json>& results) {
  std::int64_t all = 0;
  for (const nlohmann::json& r : results) {
    std::optional<std::int64_t> first, last;
    for (const auto& t : r["trains"]) {
      if (t["first_sent_ns"].is_number())
        first = std::min(first.value_or(t["first_sent_ns"]), t["first_sent_ns"].get<std::int64_t>());
      if (t["last_ns"].is_number()) last = std::max(last.value_or(t["last_ns"]), t["last_ns"].get<std::int64_t>());
    }
    if (first && last) all += *last - *first;
  }
  return all;
}

Json pauses_verdict(const Subject& s, const Json& ports, std::int64_t span_ns) {
  double worst = 0;
  std::string where;
  for (const Json& port : ports)
    for (const Json& c : port["classes"]) {
      const double share = span_ns > 0 ? c["paused_ns"].get<double>() / static_cast<double>(span_ns) : 0;
      if (share <= worst) continue;
      worst = share;
      where = fmt::format("{}:{} class {}", port["node"].get<std::string>(), port["port"].get<int>(),
                          c["class"].get<int>());
    }
  const auto& limit = s.lab.run.budgets.pause_share;
  const bool over = limit && worst > static_cast<double>(limit->numerator) / static_cast<double>(limit->denominator);
  return {{"name", "pauses"},
          {"verdict", limit ? (over ? "fail" : "pass") : "note"},
          {"text", worst > 0 ? fmt::format("{} was paused for {} of the time", where, report::percent_text(worst))
                             : std::string("no class was paused")}};
}

// Rounds of the lab's own `probe` are none of these trains.
void leave_out_own_probes(const Subject& s, Json& ports) {
  for (Json& port : ports) {
    const spec::NodeSpec* const node = s.lab.find(port["node"].get<std::string>());
    if (node == nullptr || node->kind == spec::NodeSpec::Kind::kTrunk) continue;
    const int own = spec::qos_of(s.lab, *node).class_of_untagged(s.lab.probe->dscp);
    for (Json& c : port["classes"])
      if (c["class"] == own) c["rx"]["packets"] = 0;
  }
}

}  // namespace

std::vector<Request> requests_of(const Subject& s, ProbeKind kind) {
  if (s.pairs.empty()) return {};
  switch (kind) {
    case ProbeKind::kPairsAlone:
      return alone(s);
    case ProbeKind::kPairsTogether:
      return together(s);
    case ProbeKind::kIdleLatency:
      return idle(s);
    case ProbeKind::kSteady:
      return steady(s, 100);
    case ProbeKind::kSoak:
      return steady(s, 80);
    case ProbeKind::kIncast:
      return incast(s);
    default:
      return {};
  }
}

Json ports_between(const Json& before, const Json& after) {
  Json out = Json::array();
  for (std::size_t i = 0; i < after["ports"].size(); ++i) {
    const Json& now = after["ports"][i];
    const Json* was = i < before["ports"].size() ? &before["ports"][i] : nullptr;
    Json p{{"node", now["node"]}, {"port", now["port"]}, {"peer", now["peer"]}};
    p["lost_on_link"] = since(was, now, nullptr, "lost_on_link");
    p["drops"] = drops_between(was != nullptr ? &(*was)["drops"] : nullptr, now["drops"]);
    p["classes"] = Json::array();
    for (const Json& c : now["classes"]) {
      const Json* const c_was = was != nullptr ? class_of(*was, c["class"].get<int>()) : nullptr;
      const bool own = c_was != nullptr && (*c_was)["rx"]["packets"].get<std::uint64_t>() > 0;
      p["classes"].push_back(
          {{"class", c["class"]},
           {"rx", {{"packets", own ? 0 : since(c_was, c, "rx", "packets")}}},
           {"all_rx", since(c_was, c, "rx", "packets")},
           {"ecn_marked", since(c_was, c, nullptr, "ecn_marked")},
           {"xoff_sent", since(c_was, c, nullptr, "xoff_sent")},
           {"paused_ns", c["paused_ns"].get<double>() - (c_was != nullptr ? (*c_was)["paused_ns"].get<double>() : 0)},
           {"drops", drops_between(c_was != nullptr ? &(*c_was)["drops"] : nullptr, c["drops"])}});
    }
    out.push_back(std::move(p));
  }
  return out;
}

Json report_of_trains(const Subject& s, ProbeKind kind, const std::vector<Request>& requests,
                      const std::vector<nlohmann::json>& results, const Json& before, const Json& after) {
  Json out{{"flows", Json::array()}, {"traffic", Json::array()}, {"verdicts", Json::array()}};
  std::uint64_t packets = 0, lost = 0;
  for (std::size_t r = 0; r < results.size(); ++r)
    for (std::size_t i = 0; i < requests[r].pairs.size(); ++i) {
      const nlohmann::json& t = results[r]["trains"][i];
      packets += t["sent"].get<std::uint64_t>();
      lost += t["lost"].get<std::uint64_t>();
      out["flows"].push_back(flow_of(s, requests[r].pairs[i], t));
    }
  Json latency =
      results.size() == 1 && results[0]["latency_ns"].is_object() ? Json(results[0]["latency_ns"]) : Json(nullptr);
  if (latency.is_object())
    for (const char* key : {"p50", "p99", "p999", "max"})
      latency[key] = static_cast<std::uint64_t>(latency[key].get<double>());
  out["traffic"].push_back(
      {{"name", name(kind)}, {"packets", packets}, {"lost", lost}, {"latency_ns", std::move(latency)}});
  out["ports"] = ports_between(before, after);
  if (s.lab.probe) leave_out_own_probes(s, out["ports"]);
  out["verdicts"].push_back(pauses_verdict(s, out["ports"], span_of(results)));
  const std::string drops = drops_text(out["ports"]);
  if (lost > 0 && !drops.empty())
    out["verdicts"].push_back({{"name", "lossless"}, {"verdict", "fail"}, {"text", "dropped meanwhile: " + drops}});
  // Which came first, a mark or a pause, is known since the lab's start only.
  for (const Json& v : after["verdicts"])
    if (v["name"] == "ce-before-xoff") out["verdicts"].push_back(v);
  return out;
}

}  // namespace railyard::acceptance::live
