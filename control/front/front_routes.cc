#include "control/front/front_routes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "control/api/query.h"
#include "control/spec/fault_place.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"

namespace railyard::front {

using api::ApiError;
using nlohmann::json;

namespace {

std::string text_of(const json& body, const char* key) {
  if (!body.is_object() || !body.contains(key) || !body[key].is_string())
    throw ApiError(400, fmt::format("key '{}' is missing in the body, or is no text", key));
  return body[key].get<std::string>();
}

}  // namespace

SiteLink& FrontRoutes::site_with(const std::string& node) {
  const std::string name = node.substr(0, node.find_first_of(":/ "));
  const auto found = plan_.site_of.find(name);
  if (found != plan_.site_of.end()) return links_.at(found->second);
  std::vector<std::string> known;
  for (const auto& [n, site] : plan_.site_of) known.push_back(n);
  throw ApiError(404, fmt::format("there is no node '{}'{}", name, spec::did_you_mean(name, known)));
}

json FrontRoutes::status() { return merged_status(name_, plan_, links_.ask_all("GET", "/status"), links_.states()); }

// Each site gets the places that it has, all of them the same name.
json FrontRoutes::add_fault(const json& body) {
  spec::Lab lab = plan_.lab;
  for (const auto& [site, faults] : links_.ask_all("GET", "/faults"))
    for (const json& f : faults.at("faults"))
      if (!f.at("removed").get<bool>()) lab.faults.emplace_back().name = f.at("name").get<std::string>();
  spec::FaultSpec fault;
  try {
    fault = spec::parse_fault(lab, text_of(body, "fault"), "fault");
  } catch (const spec::SpecError& error) {
    throw ApiError(400, error.what());
  }
  std::map<std::string, spec::FaultSpec> parts;  // by site
  for (const spec::FaultPlace& place : fault.on) {
    std::set<std::string> sites;
    for (const spec::NodeSpec* node : spec::nodes_at(lab, place)) sites.insert(plan_.site_of.at(node->name));
    for (const std::string& site : sites) {
      spec::FaultSpec& part = parts.try_emplace(site, fault).first->second;
      if (part.on.size() == fault.on.size()) part.on.clear();
      part.on.push_back(place);
    }
  }
  if (parts.size() == 1) parts.begin()->second.on = fault.on;
  if (fault.when && (parts.size() > 1 || parts.begin()->first != plan_.site_of.at(fault.when->node)))
    throw ApiError(400, fmt::format("the fault waits for a queue of {}, which is at site {}; expected places at this site",
                                    fault.when->node, plan_.site_of.at(fault.when->node)));
  for (const auto& [site, part] : parts)
    if (const std::string why = links_.at(site).why_gone(); !why.empty())
      throw ApiError(503, fmt::format("site {}: {}", site, why));
  json answer;
  for (const auto& [site, part] : parts) answer = links_.at(site).ask("POST", "/faults", {{"fault", spec::to_text(part)}});
  return answer;
}

json FrontRoutes::remove_fault(const std::string& name) {
  json answer;
  std::vector<std::string> known;
  for (const auto& [site, faults] : links_.ask_all("GET", "/faults"))
    for (const json& f : faults.at("faults")) {
      if (f.at("removed").get<bool>()) continue;
      known.push_back(f.at("name").get<std::string>());
      if (known.back() != name) continue;
      const json removed = links_.at(site).ask("DELETE", "/faults/" + name);
      if (answer.is_null())
        answer = removed;
      else if (removed.at("frames").is_number())
        answer["frames"] = answer["frames"].get<std::uint64_t>() + removed["frames"].get<std::uint64_t>();
      break;
    }
  if (answer.is_null())
    throw ApiError(404, known.empty() ? fmt::format("there is no fault '{}'; the lab has none", name)
                                      : fmt::format("there is no fault '{}'{}", name, spec::meant_or_known(name, known)));
  return answer;
}

json FrontRoutes::pages() {
  json sites = json::array();
  for (auto& [site, page] : links_.ask_all("POST", "/web")) {
    page["site"] = site;
    page["target"] = links_.at(site).site().target;
    sites.push_back(std::move(page));
  }
  return {{"sites", std::move(sites)}};
}

json FrontRoutes::first_that_knows(const std::string& method, const std::string& target, const json& body) {
  std::optional<ApiError> last;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    try {
      return links_[i].ask(method, target, body);
    } catch (const ApiError& error) {
      if (error.status() != 404) throw;
      last = error;
    } catch (const SiteGone& gone) {
      if (!last) last = ApiError(503, gone.what());
    }
  }
  throw *last;
}

json FrontRoutes::route(const std::string& method, const std::string& path, const std::string& target, const json& body) {
  const auto is = [&](const char* m, const char* p) { return method == m && path == p; };
  const auto below = [&](const char* m, const char* p) { return method == m && path.starts_with(p) && path.size() > std::string_view(p).size(); };
  const auto name = [&](const char* p) { return path.substr(std::string_view(p).size()); };
  if (is("POST", "/down")) {
    down_();
    return {{"down", true}};
  }
  if (is("GET", "/lab")) return merged_lab(name_, plan_, links_.ask_all("GET", "/lab"), links_.states());
  if (is("GET", "/status")) return status();
  if (is("GET", "/audit")) return merged_audit(links_.ask_all("GET", "/audit"));
  if (is("GET", "/flows")) return merged_lists(links_.ask_all("GET", "/flows"), {"flows", "uet_nics", "traffic"});
  if (is("GET", "/collectives")) return merged_lists(links_.ask_all("GET", "/collectives"), {"agents", "collectives"});
  if (is("GET", "/faults")) return merged_lists(links_.ask_all("GET", "/faults"), {"faults"});
  if (is("GET", "/faults/log")) return merged_lists(links_.ask_all("GET", target), {"lines"});
  if (is("POST", "/faults")) return add_fault(body);
  if (below("DELETE", "/faults/")) return remove_fault(name("/faults/"));
  if (is("POST", "/web")) return pages();
  if (is("POST", "/links")) return site_with(text_of(body, "link")).ask(method, target, body);
  if (is("POST", "/attachments")) return site_with(text_of(body, "to")).ask(method, target, body);
  if (is("POST", "/restart")) return site_with(text_of(body, "host")).ask(method, target, body);
  if (is("POST", "/again") || is("POST", "/stop")) return first_that_knows(method, target, body);
  if (below("GET", "/hosts/")) return site_with(name("/hosts/")).ask(method, target);
  if (is("GET", "/routes")) return merged_lists(links_.ask_all("GET", "/routes"), {"switches", "reroutings"});
  if (below("GET", "/routes/")) return site_with(name("/routes/")).ask(method, target);
  if (method == "GET" && (path == "/settings" || path.starts_with("/settings/"))) return first_that_knows(method, target, body);
  if (is("POST", "/settings") || is("POST", "/hold")) {
    const Answers answers = links_.ask_all(method, target, body);
    if (answers.empty()) throw ApiError(503, "no site answers");
    return answers.begin()->second;
  }
  throw ApiError(409, fmt::format("a lab over several sites does not answer {} {}; ask one site's part: `--lab {}` on its machine",
                                  method, path, links_[0].site().lab));
}

api::Response FrontRoutes::answer(const api::Request& request) {
  const auto [path, query] = api::parse_target(request.target);
  try {
    return {request.target == "/down" ? 202 : 200, route(request.method, path, request.target, request.body)};
  } catch (const SiteGone& gone) {
    throw ApiError(503, gone.what());
  }
}

}  // namespace railyard::front
