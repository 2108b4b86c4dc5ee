// What may happen to packets: too long, in another class, lost.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"
#include "control/routing/class_walk.h"
#include "control/spec/port_class.h"

namespace railyard::acceptance {
namespace {

// "all 6 pairs that failed are from or to h1": empty, if they have no end in common.
std::string common_end(const std::vector<PairFigure>& pairs) {
  std::map<std::string, std::size_t> ends;
  std::size_t failed = 0;
  for (const PairFigure& p : pairs) {
    if (p.goodput_bps) continue;
    ++failed;
    ++ends[p.from];
    ++ends[p.to];
  }
  for (const auto& [end, n] : ends)
    if (failed > 1 && n == failed) return fmt::format("all {} pairs that failed are from or to {}", failed, end);
  return {};
}

Finding mtu(const Subject& s, const Runs& runs) {
  const auto& report = report_of(runs, ProbeKind::kPairsAlone);
  Finding f;
  f.threshold = "none dropped as too long";
  std::uint64_t dropped = 0;
  for (const char* reason : {"too_big", "giant"})
    for (const auto& [port, n] : drops_for(report, reason)) {
      dropped += n;
      if (f.evidence.size() < 10) f.evidence.push_back(fmt::format("{}: {} {}", port, reason, report::count_text(n)));
    }
  if (const std::string end = common_end(pairs_of(s, report)); dropped > 0 && !end.empty())
    f.evidence.insert(f.evidence.begin(), end);
  int least = 0;
  for (const spec::LinkSpec& link : s.lab.links) least = least == 0 ? link.mtu : std::min(least, link.mtu);
  f.answer = dropped == 0 ? Answer::kPass : Answer::kFail;
  f.found =
      dropped == 0
          ? fmt::format("path MTU {} on all pairs; the links' smallest MTU is {}", s.like.roce.path_mtu, least)
          : fmt::format("{} packets of path MTU {} were too long", report::count_text(dropped), s.like.roce.path_mtu);
  if (dropped > 0)
    f.remedy =
        "Set the MTU of the links next to these ports as on the rest of the path, headers of RoCEv2 or UET included "
        "(9216).";
  return f;
}

// The classes in which RDMA packets may come to each switch port: data and what answers them.
using Expected = std::map<std::tuple<std::size_t, std::size_t>, std::set<int>>;  // node, port from 0

Finding classes(const Subject& s, const Runs& runs) {
  const routing::Graph graph(s.lab);
  routing::ClassWalk walk(graph);
  Finding f;
  f.threshold = "each switch takes packets in the class in which its neighbour sent them";
  Expected expected;
  std::set<std::string> said;
  std::set<std::tuple<std::size_t, std::size_t, routing::CodePoint>> walked;
  const auto qos = [&](std::size_t node) -> const spec::QosProfile& { return spec::qos_of(s.lab, s.lab.nodes[node]); };
  const auto disagree = [&](std::size_t from, int sent, std::size_t to, const routing::CodePoint& point) {
    const int got = routing::class_of(qos(to), point);
    if (got == sent) return;
    const std::string line = fmt::format("{} sends DSCP {} in class {}, {} takes it as class {}",
                                         s.lab.nodes[from].name, point.dscp, sent, s.lab.nodes[to].name, got);
    if (said.insert(line).second) f.evidence.push_back(line);
  };
  std::set<int> dscps{s.like.dscp};
  for (const auto& [name, host] : s.lab.hosts) {
    dscps.insert(host.roce.cnp.dscp);
    if (host.roce.ack.dscp) dscps.insert(*host.roce.ack.dscp);
  }
  // Links into switches that packets of the DSCP take, from hosts and from switches.
  std::set<std::tuple<std::size_t, std::size_t>> hops;  // the receiving node, its port from 0
  std::set<std::size_t> senders;                        // NICs
  for (const Pair& pair : s.pairs) {
    for (const int dscp : dscps) {
      spec::TrafficSpec like = s.like;
      like.dscp = dscp;
      if (dscp != s.like.dscp) like.priority.reset();
      const routing::CodePoint sent = routing::sent_by(s.lab, s.nics[pair.from], like);
      const std::size_t host = graph.node(s.nics[pair.from].node);
      if (dscp == s.like.dscp && senders.insert(pair.from).second)
        disagree(host, like.priority.value_or(qos(host).dscp_to_class[static_cast<std::size_t>(dscp)]),
                 s.edge[pair.from], sent);
      if (!walked.emplace(s.edge[pair.from], s.edge[pair.to], sent).second) continue;
      for (const routing::ClassStep& step : walk.steps(s.edge[pair.from], s.edge[pair.to], sent))
        for (const auto& exit : step.next) {
          if (dscp == s.like.dscp && graph.is_switch(exit.edge->neighbour))
            hops.emplace(exit.edge->neighbour, exit.edge->neighbour_port.index());
          expected[{exit.edge->neighbour, exit.edge->neighbour_port.index()}].insert(
              routing::class_of(qos(exit.edge->neighbour), exit.leaves));
          if (dscp == s.like.dscp) disagree(step.node, exit.out_class, exit.edge->neighbour, exit.leaves);
        }
    }
  }
  // And as it was: a port that has packets in a class in which none should come.
  for (const auto& p : report_of(runs, ProbeKind::kPairsAlone)["ports"]) {
    const auto known = graph.node(p["node"].get<std::string>());
    const auto of_port = expected.find({known, p["port"].get<std::size_t>() - 1});
    if (of_port == expected.end()) continue;
    for (const auto& c : p["classes"]) {
      const auto n = c["rx"]["packets"].get<std::uint64_t>();
      if (n == 0 || of_port->second.contains(c["class"].get<int>())) continue;
      f.evidence.push_back(
          fmt::format("{}:{} had {} packets in class {}, where none should come: {} or the link to it changed them",
                      s.lab.nodes[known].name, p["port"].get<int>(), report::count_text(n), c["class"].get<int>(),
                      p["peer"].get<std::string>()));
    }
  }
  f.answer = f.evidence.empty() ? Answer::kPass : Answer::kFail;
  f.found = f.evidence.empty()
                ? fmt::format("DSCP {} keeps its class on all {} links into switches: {} from NICs, {} from switches",
                              s.like.dscp, report::count_text(senders.size() + hops.size()),
                              report::count_text(senders.size()), report::count_text(hops.size()))
                : fmt::format("the first wrong hop: {}", f.evidence.front());
  if (!f.evidence.empty())
    f.remedy = "Map the DSCP to the same class at both ends; trust DSCP, not PCP; look for a device that rewrites it.";
  constexpr std::size_t kMost = 10;
  if (f.evidence.size() > kMost) f.evidence.resize(kMost);
  return f;
}

Finding loss(const Subject&, const Runs& runs) {
  Finding f;
  f.threshold = "none: one packet fails";
  std::uint64_t packets = 0;
  for (const ProbeKind kind : {ProbeKind::kSteady, ProbeKind::kIncast, ProbeKind::kPairsTogether}) {
    const auto run = runs.find(kind);
    if (run == runs.end() || run->second.report.is_null()) continue;
    for (const auto& t : run->second.report["traffic"]) {
      packets += t["packets"].get<std::uint64_t>();
      if (const auto lost = t["lost"].is_number() ? t["lost"].get<std::uint64_t>() : 0; lost > 0)
        f.evidence.push_back(fmt::format("{}: {} packets lost", name(kind), report::count_text(lost)));
    }
    const auto v = verdict_of(run->second.report, "lossless");
    if (v && v->first == "fail") f.evidence.push_back(fmt::format("{}: {}", name(kind), v->second));
  }
  f.answer = f.evidence.empty() ? Answer::kPass : Answer::kFail;
  f.found = f.evidence.empty() ? fmt::format("none of {} packets", report::count_text(packets)) : f.evidence.front();
  if (!f.evidence.empty())
    f.remedy = "Where frames were dropped: `railyard run` of the probe names port, class and reason.";
  return f;
}

}  // namespace

namespace list {
const Item kMtu{"mtu",
                "Do packets of the path MTU pass on every pair, unfragmented?",
                "design guides: MTU with DF on every pair",
                {ProbeKind::kPairsAlone},
                mtu};
const Item kClasses{"classes",
                    "Do packets keep their class, hop by hop?",
                    "design guides: DSCP and class traced hop by hop",
                    {ProbeKind::kPairsAlone},
                    classes};
const Item kLoss{"loss",
                 "Are packets of RDMA traffic lost?",
                 "design guides: any loss in the RoCE class is a problem",
                 {ProbeKind::kSteady, ProbeKind::kPairsTogether},
                 loss};
}  // namespace list

}  // namespace railyard::acceptance
