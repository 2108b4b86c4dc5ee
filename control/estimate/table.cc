#include "control/estimate/table.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "control/report/inference_json.h"
#include "control/report/storage_json.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::estimate {
namespace {

using report::percent_text;

std::string time_text(Duration time) { return report::nanoseconds_text(static_cast<std::uint64_t>(time.ps / 1000)); }
std::string gbps(double bps) { return bps > 0 ? fmt::format("{:.1f}", bps / 1e9) : "-"; }

std::size_t width_of(const std::vector<CollectiveEstimate>& all, std::size_t least) {
  for (const CollectiveEstimate& c : all) least = std::max(least, c.name.size());
  return least;
}

// Links of the same load and kind.
struct LinkGroup {
  const LinkEstimate* first = nullptr;
  std::size_t alike = 0;  // beside it
};

// As many groups as asked for; and of links between switches at least the busiest. `links`: the busiest first.
std::vector<LinkGroup> busiest(const std::vector<LinkEstimate>& links, std::size_t most) {
  constexpr double kAlike = 0.001;
  std::vector<LinkGroup> groups;
  for (const LinkEstimate& l : links) {
    // Groups before the last few have a higher load.
    auto same = groups.rbegin();
    const auto has_load = [&] { return same != groups.rend() && same->first->utilisation * (1 - kAlike) <= l.utilisation; };
    while (has_load() && !(same->first->between_switches == l.between_switches && same->first->is_uplink == l.is_uplink)) ++same;
    if (has_load())
      ++same->alike;
    else
      groups.push_back({&l, 0});
  }
  const auto is_fabric = [](const LinkGroup& g) { return g.first->between_switches; };
  const auto fabric = std::ranges::find_if(groups, is_fabric);
  std::vector<LinkGroup> out(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(std::min(most, groups.size())));
  if (most > 0 && fabric != groups.end() && std::ranges::none_of(out, is_fabric)) out.push_back(*fabric);
  return out;
}

}  // namespace

bool is_network_bound(const CollectiveEstimate& c) noexcept {
  return c.figures && c.figures->ideal_ns > 0 && c.figures->efficiency && *c.figures->efficiency < 0.5;
}

std::string text(const Named& n, std::size_t links) {
  std::string out = fmt::format("Estimate of {} ({}): messages are fluid; queues, marks, pauses and losses are left out\n\n", n.lab, n.file);
  const auto to = std::back_inserter(out);
  const std::size_t width = width_of(n.of.collectives, 4);
  fmt::format_to(to, "  {:<{}}  {:<14}  {:<17}  {:<9} {:>5} {:>10} {:>10} {:>8} {:>11}\n", "name", width, "collective", "algorithm",
                 "transport", "ranks", "size", "time", "busbw", "utilisation");
  for (const CollectiveEstimate& c : n.of.collectives) {
    const bool is_job = c.figures.has_value();  // what it sends is not one size
    fmt::format_to(to, "  {:<{}}  {:<14}  {:<17}  {:<9} {:>5} {:>10} {:>10} {:>8} {:>11}\n", c.name, width, c.collective, c.algorithm,
                   c.transport, c.ranks, is_job ? "-" : report::size_text(c.bytes), time_text(c.time), gbps(c.busbw_bps),
                   is_job || c.computed > 0 ? percent_text(c.computed) : "-");
  }
  for (const CollectiveEstimate& c : n.of.collectives) {
    if (c.figures) out += report::job_text(c.name, *c.figures);
    if (c.storage) out += report::storage_text(c.name, *c.storage);
    if (c.scale_up > 0)
      fmt::format_to(to, "  {}: in its scale-up network the busiest rank sends {} of the time\n", c.name, percent_text(c.scale_up));
    if (is_network_bound(c))
      fmt::format_to(to, "  {}: bound by the network: an ideal one would be {:.1f} times as fast\n", c.name, 1 / *c.figures->efficiency);
  }
  if (n.of.links.empty()) return out;
  out += "\nBusiest links, one direction; alike: of the same load\n";
  for (const LinkGroup& g : busiest(n.of.links, links))
    fmt::format_to(to, "  {:<28} {:>10}  {:>6} of the time at link rate\n",
                   g.alike > 0 ? fmt::format("{} and {} alike", g.first->name, g.alike) : g.first->name,
                   report::size_text(static_cast<std::uint64_t>(g.first->bytes)), percent_text(g.first->utilisation));
  return out;
}

std::string comparison_text(const std::vector<Named>& all) {
  std::size_t width = 4;
  for (const Named& n : all) width = std::max(width, n.lab.size());
  std::string out;
  const auto to = std::back_inserter(out);
  for (const CollectiveEstimate& c : all.front().of.collectives) {
    fmt::format_to(to, "{}: side by side\n  {:<{}} {:>10} {:>8} {:>10} {:>7}  {}\n", c.name, "lab", width, "time", "factor", "efficiency",
                   "MFU", "busiest link");
    for (const Named& n : all) {
      const auto other = std::ranges::find(n.of.collectives, c.name, &CollectiveEstimate::name);
      if (other == n.of.collectives.end()) continue;
      const auto& f = other->figures;
      fmt::format_to(to, "  {:<{}} {:>10} {:>8.2f} {:>10} {:>7}  {}\n", n.lab, width, time_text(other->time),
                     c.time > Duration{} ? static_cast<double>(other->time.ps) / static_cast<double>(c.time.ps) : 0,
                     f && f->efficiency ? percent_text(*f->efficiency) : "-",
                     f && f->training && f->training->mfu ? percent_text(*f->training->mfu) : "-",
                     n.of.links.empty() ? std::string("-")
                                        : fmt::format("{}, {}", n.of.links[0].name, percent_text(n.of.links[0].utilisation)));
    }
  }
  return out;
}

nlohmann::ordered_json json(const std::vector<Named>& all) {
  using Json = nlohmann::ordered_json;
  Json out = Json::array();
  for (const Named& n : all) {
    Json collectives = Json::array();
    for (const CollectiveEstimate& c : n.of.collectives) {
      Json one{{"name", c.name},   {"collective", c.collective}, {"algorithm", c.algorithm}, {"transport", c.transport},
               {"ranks", c.ranks}, {"bytes", c.bytes},           {"time_ps", c.time.ps},     {"utilisation", c.computed}, {"scale_up", c.scale_up}};
      one["busbw_bps"] = c.busbw_bps > 0 ? Json(c.busbw_bps) : Json(nullptr);
      one["framing_limit_bps"] = c.limit_bps > 0 ? Json(c.limit_bps) : Json(nullptr);
      if (c.figures) {
        one["ideal_ns"] = c.figures->ideal_ns;
        one["efficiency"] = c.figures->efficiency ? Json(*c.figures->efficiency) : Json(nullptr);
        if (const auto& t = c.figures->training) {
          one["tokens"] = t->tokens;
          one["tokens_per_second"] = t->tokens_per_second ? Json(*t->tokens_per_second) : Json(nullptr);
          one["mfu"] = t->mfu ? Json(*t->mfu) : Json(nullptr);
          for (const auto& v : t->volumes) one["sent_bytes"][v.kind] = v.bytes;
        }
        if (c.figures->inference) one["inference"] = report::inference_json(*c.figures->inference);
        one["network_bound"] = is_network_bound(c);
      }
      if (const auto& s = c.storage)
        one["storage"] = {{"checkpoint_bytes", s->checkpoint_bytes},
                          {"checkpoint_ns", s->checkpoint_ns ? Json(*s->checkpoint_ns) : Json(nullptr)},
                          {"restore_ns", s->restore_ns ? Json(*s->restore_ns) : Json(nullptr)},
                          {"lost_steps", s->lost_steps},
                          {"ettr", s->ettr ? Json(*s->ettr) : Json(nullptr)},
                          {"eras", report::eras_json(*s)}};
      collectives.push_back(std::move(one));
    }
    Json links = Json::array();
    for (const LinkEstimate& l : n.of.links)
      links.push_back({{"port", l.name}, {"bytes", l.bytes}, {"utilisation", l.utilisation}, {"between_switches", l.between_switches}});
    out.push_back({{"file", n.file}, {"lab", n.lab}, {"time_ps", n.of.time.ps}, {"messages", n.of.messages},
                   {"collectives", std::move(collectives)}, {"links", std::move(links)}});
  }
  return out;
}

}  // namespace railyard::estimate
