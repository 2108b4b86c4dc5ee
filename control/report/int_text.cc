#include "control/report/int_text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "control/report/pause_json.h"
#include "control/report/units.h"

namespace railyard::report {

using telemetry::IntReport;
using Json = nlohmann::ordered_json;

namespace {

Json waited_json(const Histogram& waited) {
  if (waited.count() == 0) return nullptr;
  return {
      {"p50", waited.percentile(0.5) / 1000}, {"p99", waited.percentile(0.99) / 1000}, {"max", waited.max() / 1000}};
}

Json port_json(int port) { return port == 0 ? Json(nullptr) : Json(port); }

Json hop_json(const IntReport::Hop& h) {
  return {{"node", h.node},
          {"in", port_json(h.in)},
          {"out", port_json(h.out)},
          {"class", h.priority},
          {"ingress_ns", instant_json(h.ingress)},
          {"egress_ns", instant_json(h.egress)},
          {"waited_ns", nanoseconds(h.waited)},
          {"queue_bytes", h.queue_octets},
          {"ce", h.marked}};
}

std::string time_text_of(std::uint64_t ps) { return time_text(Duration{static_cast<std::int64_t>(ps)}); }

void counts(std::string& text, const IntReport& r) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "In-band telemetry: 1 packet in {} sampled ({} packets): {} arrived", count_text(r.one_in),
                 count_text(r.sampled), count_text(r.arrived));
  if (r.dropped > 0) fmt::format_to(out, ", {} dropped", count_text(r.dropped));
  if (r.lost > 0) fmt::format_to(out, ", {} lost on links", count_text(r.lost));
  if (r.under_way > 0) fmt::format_to(out, ", {} in flight", count_text(r.under_way));
  fmt::format_to(out, "; {} records\n", count_text(r.records));
  if (r.not_kept > 0)
    fmt::format_to(out, "  {} not recorded: no free record; raise run.int.packets or run.int.one-in\n",
                   count_text(r.not_kept));
  if (r.hops_not_kept > 0)
    fmt::format_to(out, "  {} hops not recorded: these packets passed too many switches\n",
                   count_text(r.hops_not_kept));
}

void queue_table(std::string& text, const IntReport& r) {
  constexpr std::size_t kMost = 6;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>8} {:>10} {:>10} {:>10} {:>10} {:>7}\n", "queue", "towards", "class",
                 "packets", "wait p50", "p99", "longest", "found", "CE");
  for (std::size_t i = 0; i < std::min(r.queues.size(), kMost); ++i) {
    const IntReport::Queue& q = r.queues[i];
    fmt::format_to(out, "  {:<14} {:<14} {:>5} {:>8} {:>10} {:>10} {:>10} {:>10} {:>7}\n",
                   fmt::format("{}:{}", q.node, q.port), q.peer, q.priority, count_text(q.waited.count()),
                   time_text_of(q.waited.percentile(0.5)), time_text_of(q.waited.percentile(0.99)),
                   time_text_of(q.waited.max()), size_text(q.max_depth), count_text(q.marked));
  }
  if (r.queues.size() > kMost) fmt::format_to(out, "  and {} more\n", r.queues.size() - kMost);
  fmt::format_to(out, "  {:<35} {:>8} {:>10} {:>10} {:>10}\n", "all", count_text(r.waited.count()),
                 time_text_of(r.waited.percentile(0.5)), time_text_of(r.waited.percentile(0.99)),
                 time_text_of(r.waited.max()));
}

void slowest(std::string& text, const IntReport& r) {
  constexpr std::size_t kMost = 3;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  Slowest packets, with their waiting time per hop:\n");
  for (std::size_t i = 0; i < std::min(r.slowest.size(), kMost); ++i) {
    const IntReport::Packet& p = r.slowest[i];
    fmt::format_to(out, "  {} at {}: {}\n", p.flow, p.offset, time_text(p.latency));
    for (const IntReport::Hop& h : p.hops)
      if (h.in != 0 && h.out != 0)
        fmt::format_to(out, "    {:<14} {:>3} -> {:<3} {:>10} behind {}{}\n", h.node, h.in, h.out, time_text(h.waited),
                       size_text(h.queue_octets), h.marked ? ", marked CE" : "");
  }
}

}  // namespace

Json int_json(const IntReport& r) {
  Json j = {{"one_in", r.one_in},
            {"sampled", r.sampled},
            {"not_kept", r.not_kept},
            {"arrived", r.arrived},
            {"dropped", r.dropped},
            {"lost", r.lost},
            {"under_way", r.under_way},
            {"records", r.records},
            {"hops_not_kept", r.hops_not_kept},
            {"waited_ns", waited_json(r.waited)}};
  j["queues"] = Json::array();
  for (const IntReport::Queue& q : r.queues)
    j["queues"].push_back({{"node", q.node},
                           {"port", q.port},
                           {"peer", q.peer},
                           {"class", q.priority},
                           {"packets", q.waited.count()},
                           {"waited_ns", waited_json(q.waited)},
                           {"max_queue_bytes", q.max_depth},
                           {"ce", q.marked}});
  j["slowest"] = Json::array();
  for (const IntReport::Packet& p : r.slowest) {
    Json hops = Json::array();
    for (const IntReport::Hop& h : p.hops) hops.push_back(hop_json(h));
    j["slowest"].push_back(
        {{"flow", p.flow}, {"offset", p.offset}, {"latency_ns", nanoseconds(p.latency)}, {"hops", std::move(hops)}});
  }
  return j;
}

std::string int_text(const IntReport& r) {
  std::string text;
  counts(text, r);
  if (!r.queues.empty()) queue_table(text, r);
  if (!r.slowest.empty()) slowest(text, r);
  return text;
}

}  // namespace railyard::report
