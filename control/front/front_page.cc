// What the page of the whole lab asks for.
#include <cctype>

#include <fmt/format.h>

#include "control/daemon/live_lab.h"
#include "control/daemon/openapi.h"
#include "control/daemon/routes.h"
#include "control/front/front_routes.h"
#include "control/front/merge_findings.h"
#include "control/front/merge_samples.h"
#include "control/front/merge_state.h"

namespace railyard::front {

using api::ApiError;
using nlohmann::json;

namespace {

std::string asked_text(const json& query, const char* key) {
  return query.is_object() && query.contains(key) ? query[key].get<std::string>() : std::string();
}

// By this machine's clock, and simulated time by that of the first site.
void shift(json& history, double unix_offset, double modelled_offset) {
  for (json& t : history["t"]) t = t.get<double>() - unix_offset;
  for (json& t : history["modelled"]) t = t.get<double>() - modelled_offset;
}

// "a b" as in a query; names of nodes and ports have no other characters that need it.
std::string in_a_query(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(octet) != 0 || c == '-' || c == '_' || c == '.' || c == ':';
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", octet);
  }
  return out;
}

}  // namespace

json FrontRoutes::overview(const std::string& folding) {
  json layout = whole_layout(plan_, map_, folding);
  // The state has counters, and costs a turn with each site: this one needs none.
  json out = merged_lab(name_, plan_, {}, links_.states());
  out["read_only"] = false;
  out["layout"] = std::move(layout);
  out["sample"] = watch_.last_sample();
  out["happenings"] = watch_.happened(0)["happenings"];
  return out;
}

Answers FrontRoutes::ask_all_at(const std::string& path, double at, std::chrono::milliseconds turn) {
  Answers answers;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const std::string& site = links_[i].site().name;
    try {
      answers[site] = links_[i].ask("GET", fmt::format("{}?at={:.3f}", path, at + watch_.unix_offset(site)), nullptr, turn);
    } catch (const SiteGone&) {
      // Its links are down, now and then.
    } catch (const ApiError& error) {
      if (error.status() != 404) throw;  // it has kept nothing yet
    }
  }
  return answers;
}

json FrontRoutes::snapshot(double at) {
  const Answers answers = ask_all_at("/snapshot", at, kTurnOfPages);
  if (answers.empty()) throw ApiError(404, "nothing is kept yet; the first second is not over");
  json out = merged_sample(map_, answers);
  const auto& [site, first] = *answers.begin();
  out["number"] = 0;
  out["unix_seconds"] = first.at("unix_seconds").get<double>() - watch_.unix_offset(site);
  out["modelled_seconds"] = first.at("modelled_seconds").get<double>() - watch_.modelled_offset(site);
  return out;
}

json FrontRoutes::history(const Asked& asked) {
  const std::string of = asked_text(asked.query, "of");
  if (!of.empty()) {
    SiteLink& link = site_with(of);
    json one = link.ask("GET", "/history?of=" + in_a_query(of), nullptr, asked.turn);
    if (!is_history(one)) throw ApiError(503, fmt::format("site {}: no history in the answer", link.site().name));
    shift(one, watch_.unix_offset(link.site().name), watch_.modelled_offset(link.site().name));
    return one;
  }
  Answers answers = links_.ask_all("GET", "/history", nullptr, asked.turn);
  for (auto& [site, one] : answers)
    if (is_history(one)) shift(one, watch_.unix_offset(site), watch_.modelled_offset(site));
  return merged_history(answers);
}

json FrontRoutes::pauses(const Asked& asked) {
  if (asked_text(asked.query, "at").empty()) return merged_pauses(map_, links_.ask_all("GET", "/pauses", nullptr, asked.turn));
  const double at = daemon::asked_at(asked.query);
  return merged_pauses_at(map_, ask_all_at("/pauses", at, asked.turn), at);
}

// Of each site the files of its own.
json FrontRoutes::report() {
  json sites = json::object();
  for (auto& [site, files] : links_.ask_all("GET", "/report")) sites[site] = std::move(files);
  if (sites.empty()) throw ApiError(503, "no site answers");
  return {{"sites", std::move(sites)}};
}

// "a.report.html".
api::Response FrontRoutes::site_report(const std::string& name) {
  for (std::size_t i = 0; i < links_.size(); ++i)
    for (const char* file : {"report.html", "report.json", "report.txt", "lab.yaml", "applications.json"})
      if (name == fmt::format("{}.{}", links_[i].site().name, file)) return daemon::report_file(links_[i].ask("GET", "/report"), file);
  throw ApiError(404, fmt::format("each site has a report of its own; expected one such as {}.report.html",
                                  links_[0].site().name));
}

json FrontRoutes::page_route(const Asked& asked) {
  if (asked.method != "GET") return nullptr;
  const std::string& path = asked.path;
  const std::string folding = asked_text(asked.query, "folding");
  if (path == "/overview") return overview(folding);
  if (path == "/layout") return whole_layout(plan_, map_, folding);
  if (path == "/history") return history(asked);
  if (path == "/snapshot") return snapshot(daemon::asked_at(asked.query));
  if (path == "/happenings") return watch_.happened(daemon::asked_after(asked.query));
  if (path == "/schema") return daemon::LiveLab::schema();
  if (path == "/openapi.json") return json::parse(daemon::openapi());
  if (path == "/captures") return captures_.list(asked.turn);
  if (path == "/pauses") return pauses(asked);
  if (path == "/diagnosis") return merged_diagnosis(name_, map_, links_.ask_all("GET", "/diagnosis", nullptr, asked.turn));
  if (path == "/report") return report();
  return nullptr;
}

}  // namespace railyard::front
