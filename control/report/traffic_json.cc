#include "control/report/traffic_json.h"

#include "control/report/json_values.h"

namespace railyard::report {

using OrderedJson = nlohmann::ordered_json;

namespace {

// Nothing rather than zeros where there is nothing to say.
OrderedJson spread_json(const Spread& s) {
  if (s.count == 0) return nullptr;
  return {{"count", s.count}, {"mean", s.mean}, {"min", s.min},   {"p50", s.p50}, {"p90", s.p90},
          {"p95", s.p95},     {"p99", s.p99},   {"p999", s.p999}, {"max", s.max}};
}

OrderedJson distribution_json(std::uint64_t samples, const Percentiles& p,
                              const std::vector<TrafficReport::Point>& points) {
  if (samples == 0) return nullptr;
  OrderedJson j = {{"samples", samples}, {"p50", p.p50},   {"p90", p.p90},     {"p95", p.p95},
                   {"p99", p.p99},       {"p999", p.p999}, {"p9999", p.p9999}, {"max", p.max}};
  j["points"] = OrderedJson::array();
  for (const TrafficReport::Point& point : points) j["points"].push_back({point.fraction, point.ns});
  return j;
}

}  // namespace

OrderedJson traffic_json(const TrafficReport& t) {
  // What only receivers count; also of a traffic that has no flows.
  const auto received = [&](std::uint64_t count) { return known_or_null(t.measured > 0 || t.flows == 0, count); };
  OrderedJson j = {
      {"name", t.name},
      {"pattern", t.pattern},
      {"transport", t.transport},
      {"flows", t.flows},
      {"with_end", t.with_end},
      {"complete", t.complete},
      {"failed", t.failed},
      {"delivered_bytes", received(t.delivered_bytes)},
      {"packets", t.packets},
      {"lost", received(t.lost)},
      {"reordered", received(t.reordered)},
      {"retransmitted", t.retransmitted},
      {"marked", received(t.marked)},
      {"ce_share", known_or_null(t.arrived > 0, ratio_of(t.marked, t.arrived))},
      {"retransmission_share", known_or_null(t.requester_packets > 0, ratio_of(t.retransmitted, t.requester_packets))},
      {"cnps", t.cnps},
      {"goodput_total_bps", or_null(t.goodput_total_bps)},
      {"goodput_bps", spread_json(t.goodput_bps)},
      {"jain_index", known_or_null(t.jain > 0, t.jain)},
      {"share", spread_json(t.share)},
      {"fct_ns", spread_json(t.fct_ns)},
      {"slowdown", spread_json(t.slowdown)}};
  j["latency_ns"] = distribution_json(t.latency_samples, t.latency_ns, t.latency_points);
  j["message_ns"] = distribution_json(t.message_samples, t.message_ns, t.message_points);
  j["by_size"] = OrderedJson::array();
  for (const SizeBin& b : t.by_size)
    j["by_size"].push_back({{"from_bytes", b.from},
                            {"below_bytes", b.below},
                            {"flows", b.flows},
                            {"fct_ns", spread_json(b.fct_ns)},
                            {"slowdown", spread_json(b.slowdown)}});
  return j;
}

OrderedJson link_tiers_json(const std::vector<LinkTier>& tiers) {
  OrderedJson all = OrderedJson::array();
  for (const LinkTier& t : tiers)
    all.push_back(
        {{"name", t.name},
         {"links", t.links},
         {"bytes", t.bytes},
         {"utilisation", {{"mean", t.mean_utilisation}, {"p95", t.p95_utilisation}, {"max", t.max_utilisation}}},
         {"max_over_mean", known_or_null(t.bytes > 0, t.max_over_mean)},
         {"jain_index", known_or_null(t.bytes > 0, t.jain)},
         {"busiest", t.busiest}});
  return all;
}

OrderedJson verdicts_json(const std::vector<Verdict>& verdicts) {
  OrderedJson all = OrderedJson::array();
  for (const Verdict& v : verdicts) all.push_back({{"name", v.name}, {"verdict", word(v.answer)}, {"text", v.text}});
  return all;
}

}  // namespace railyard::report
