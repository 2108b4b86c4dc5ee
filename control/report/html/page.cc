#include "control/report/html/page.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/report/doctor_text.h"
#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/report/html/style.h"
#include "control/report/summary.h"
#include "control/report/units.h"

namespace railyard::report {
namespace {

std::string verdict_list(const Report& r) {
  std::string out = "<ul class=\"verdicts\">\n";
  for (const Verdict& v : r.verdicts())
    out += fmt::format("<li><span class=\"pill {0}\">{0}</span><b>{1}</b> {2}</li>\n", word(v.answer),
                       escaped_html(v.name), escaped_html(v.text));
  for (const Expectation& e : r.expectations)
    out += fmt::format("<li><span class=\"pill {}\">{}</span><b>{}</b> {}{}</li>\n", e.met ? "pass" : "fail",
                       e.met ? "met" : "missed", escaped_html(e.text), escaped_html(e.found_text),
                       e.where.empty() ? "" : escaped_html(" (" + e.where + ")"));
  return out + "</ul>\n";
}

std::string tiles(const Report& r) {
  static constexpr std::pair<const char*, const char*> kTiles[] = {
      {"busbw", "busbw, median collective"},
      {"collective_time", "iteration time, median collective"},
      {"goodput", "goodput of all flows"},
      {"share_p50", "share of the theoretical limit, median flow"},
      {"fct_p50", "FCT p50"},
      {"fct_p99", "FCT p99"},
      {"slowdown_p99", "slowdown p99"},
      {"latency_p50", "packet latency p50"},
      {"latency_p99", "packet latency p99"},
      {"latency_p9999", "packet latency p99.99"},
      {"ecn_marked", "frames marked CE"},
      {"xoff_sent", "PFC XOFFs sent"},
      {"drops", "frames dropped"},
      {"retransmitted", "packets retransmitted"},
      {"max_queue", "deepest queue"}};
  const std::vector<Figure> figures = summary(r);
  std::string out = "<div class=\"tiles\">\n";
  for (const auto& [name, title] : kTiles) {
    const auto found = std::ranges::find(figures, name, &Figure::name);
    if (found == figures.end()) continue;
    out +=
        fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n",
                    std::string_view(name) == "share_p50" ? percent_text(found->value)
                                                          : escaped_html(figure_text(found->value, kind_of(name).unit)),
                    title);
  }
  return out + "</div>\n";
}

// "4 collectives over uet/rud, "; empty without.
std::string collectives_text(const Report& r) {
  if (r.collectives.empty()) return {};
  std::vector<std::string> over;
  for (const CollectiveReport& c : r.collectives)
    if (std::ranges::find(over, c.transport) == over.end()) over.push_back(c.transport);
  return fmt::format("{} collective{} over {}, ", r.collectives.size(), r.collectives.size() == 1 ? "" : "s",
                     fmt::join(over, " and "));
}

std::string heading(const Report& r) {
  std::string out = fmt::format("<h1>{}</h1>\n", escaped_html(r.run.name));
  out += paragraph(
      fmt::format("{} of simulated time, {} clock{}, seed {}; {} host{}, {} switch{}, {} links; {}{} RoCE flow{}, "
                  "{} UET, {} generator{}. {} payload.",
                  time_text(Duration{static_cast<std::int64_t>(r.engine.simulated_seconds * 1e12)}),
                  escaped_html(r.run.clock), r.run.scale == "1" ? "" : " at scale " + escaped_html(r.run.scale),
                  r.run.seed, r.lab.hosts, r.lab.hosts == 1 ? "" : "s", r.lab.switches, r.lab.switches == 1 ? "" : "es",
                  r.lab.links, collectives_text(r), r.lab.roce_flows, r.lab.roce_flows == 1 ? "" : "s", r.lab.uet_flows,
                  r.lab.generator_flows,
                  r.lab.attached_nics > 0 ? fmt::format("; {} attached NICs", r.lab.attached_nics) : std::string(),
                  r.run.payload == "real" ? "Real" : "Elided"),
      "lead");
  return out;
}

std::string rates(const PageOptions& options) {
  const std::string flows = options.flow_series_file.empty() ? "" : flow_rates_section(options.flow_series_file);
  const std::string links = options.series_file.empty() ? "" : link_rates_section(options.series_file);
  return (flows.empty() ? "" : "<h3>Flows</h3>\n" + flows) + (links.empty() ? "" : "<h3>Links</h3>\n" + links);
}

}  // namespace

std::string html(const Report& r, const PageOptions& options) {
  struct Part {
    const char* id;
    const char* title;
    std::string content;
  };
  const Part parts[] = {
      {"topology", "Topology", options.lab != nullptr ? topology_section(*options.lab) : std::string()},
      {"diagnosis", "Diagnosis", diagnosis_section(r)},
      {"causes", "Likely causes", options.causes != nullptr ? doctor_section(*options.causes) : doctor_section(findings(r))},
      {"collectives", "Collectives", collectives_section(r)},
      {"timelines", "Timelines", timelines_section(r)},
      {"traffic", "Traffic", traffic_section(r)},
      {"flows", "Flows", flows_section(r)},
      {"links", "Links", links_section(r)},
      {"queues", "Queues, CE and PFC", queues_section(r)},
      {"rates", "Rates over time", rates(options)},
      {"series", "Queues over time", options.series_file.empty() ? std::string() : series_section(options.series_file)},
      {"drops", "Drops and faults", drops_section(r)},
      {"engine", "Emulator", engine_section(r)},
      {"repeat", "How to repeat the run", repeat_section(r)}};
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"/><title>{} · Railyard</title><style>{}</style></head>\n<body>\n",
      escaped_html(r.run.name), kStyle);
  out += heading(r);
  out += "<nav>";
  for (const Part& p : parts)
    if (!p.content.empty()) out += fmt::format("<a href=\"#{}\">{}</a> ", p.id, escaped_html(p.title));
  out += "</nav>\n" + verdict_list(r) + tiles(r);
  for (const Part& p : parts) out += section(p.id, p.title, p.content);
  return out + "</body></html>\n";
}

}  // namespace railyard::report
