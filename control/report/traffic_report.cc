#include "control/report/traffic_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "control/report/report.h"
#include "dataplane/base/histogram.h"

namespace railyard::report {
namespace {

// By half decades: 1 KB, 3 KB, 10 KB, ...: from which bound on a size counts.
std::uint64_t bin_of(std::uint64_t octets) {
  std::uint64_t decade = 100;
  if (octets < decade) return 0;
  while (octets >= decade * 10) decade *= 10;
  return octets >= decade * 3 ? decade * 3 : decade;
}

std::uint64_t end_of_bin(std::uint64_t from) {
  if (from == 0) return 100;
  std::uint64_t decade = 100;
  while (from >= decade * 10) decade *= 10;
  return from == decade ? decade * 3 : decade * 10;
}

std::vector<TrafficReport::Point> points_of(const Histogram& h) {
  constexpr double kFractions[] = {0,    0.01, 0.05, 0.1,   0.2,  0.3,   0.4,    0.5,   0.6,    0.7,   0.8,
                                   0.85, 0.9,  0.95, 0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.9999};
  std::vector<TrafficReport::Point> points;
  if (h.count() == 0) return points;
  for (const double f : kFractions) points.push_back({f, (f > 0 ? h.percentile(f) : h.min()) / 1000});
  points.push_back({1, h.max() / 1000});
  return points;
}

struct Samples {
  std::vector<double> goodput, share, fct, slowdown;
  GoodputSum together;
  Histogram latency, messages;
  struct Bin {
    std::uint64_t flows = 0;
    std::vector<double> fct, slowdown;
  };
  std::map<std::uint64_t, Bin> bins;
  std::set<std::int64_t> sizes;
};

void add(const build::Flow& flow, const FlowReport& f, TrafficReport& t, Samples& s) {
  ++t.flows;
  t.measured += f.measured ? 1 : 0;
  t.delivered_bytes += f.delivered_bytes;
  t.packets += f.packets;
  t.lost += f.lost;
  t.marked += f.marked;
  t.arrived += f.arrived_packets;
  t.requester_packets += f.requester_packets;
  t.reordered += f.out_of_order();
  if (f.roce) {
    t.cnps += f.roce->cnp_handled + f.roce->cnp_ignored;
  }
  t.retransmitted += f.retransmitted();
  if (f.failed()) ++t.failed;
  s.together.add(f);
  if (const auto bps = f.goodput_bps()) s.goodput.push_back(*bps);
  if (const auto share = f.share()) s.share.push_back(*share);
  s.latency.merge(flow.received().latency);
  if (flow.is_roce()) s.messages.merge(flow.messages().latency);
  if (flow.is_uet()) s.messages.merge(flow.uet->messages().latency);
  if (flow.total.n == 0 || !f.was_offered) return;
  ++t.with_end;
  s.sizes.insert(flow.total.n);
  Samples::Bin& bin = s.bins[bin_of(static_cast<std::uint64_t>(flow.total.n))];
  ++bin.flows;
  if (!f.fct_ns) {
    if (f.ended_with_loss) {
      ++t.ended_with_loss;
      t.lost_of_these += f.lost;
    }
    return;
  }
  ++t.complete;
  s.fct.push_back(static_cast<double>(*f.fct_ns));
  bin.fct.push_back(static_cast<double>(*f.fct_ns));
  if (const auto slowdown = f.slowdown()) {
    s.slowdown.push_back(*slowdown);
    bin.slowdown.push_back(*slowdown);
  }
}

void finish(TrafficReport& t, Samples& s) {
  t.goodput_total_bps = s.together.bps();
  t.jain = jain_index(s.goodput);
  t.goodput_bps = Spread::of(std::move(s.goodput));
  t.share = Spread::of(std::move(s.share));
  t.fct_ns = Spread::of(std::move(s.fct));
  t.slowdown = Spread::of(std::move(s.slowdown));
  t.latency_samples = s.latency.count();
  t.latency_ns = Percentiles::of(s.latency);
  t.latency_points = points_of(s.latency);
  t.message_samples = s.messages.count();
  t.message_ns = Percentiles::of(s.messages);
  t.message_points = points_of(s.messages);
  if (s.sizes.size() < 2) return;
  for (auto& [from, bin] : s.bins)
    t.by_size.push_back(
        {from, end_of_bin(from), bin.flows, Spread::of(std::move(bin.fct)), Spread::of(std::move(bin.slowdown))});
}

}  // namespace

std::string_view word(spec::TrafficSpec::Pattern pattern) {
  using Pattern = spec::TrafficSpec::Pattern;
  switch (pattern) {
    case Pattern::kPairs:
      return "pairs";
    case Pattern::kIncast:
      return "incast";
    case Pattern::kPermutation:
      return "permutation";
    case Pattern::kAllToAll:
      return "all-to-all";
    case Pattern::kRandom:
      return "random";
    case Pattern::kFile:
      return "file";
  }
  return "";
}

std::vector<TrafficReport> traffic_reports(const spec::Lab& lab, const std::vector<build::Flow>& flows,
                                           const std::vector<FlowReport>& reports) {
  std::vector<TrafficReport> out(lab.traffic.size());
  std::vector<Samples> samples(lab.traffic.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const spec::TrafficSpec& t = lab.traffic[i];
    out[i].name = t.name;
    out[i].pattern = word(t.pattern);
    out[i].transport = t.is_roce() ? "roce" : t.is_uet() ? "uet" : "generator";
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::size_t t = flows[i].plan.traffic;
    add(flows[i], reports[i], out[t], samples[t]);
  }
  for (std::size_t i = 0; i < out.size(); ++i) finish(out[i], samples[i]);
  return out;
}

}  // namespace railyard::report
