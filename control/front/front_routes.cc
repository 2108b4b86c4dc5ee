#include "control/front/front_routes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "control/api/query.h"
#include "control/daemon/routes.h"
#include "control/front/merge_findings.h"
#include "control/spec/fault_place.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"

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

json FrontRoutes::status() {
  json out = merged_status(name_, plan_, links_.ask_all("GET", "/status"), links_.states());
  for (json& port : out["ports"])
    if (port.contains("peer")) port["peer"] = map_.with_far_ends(port.value("site", ""), port["peer"]);
  return out;
}

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

Answers FrontRoutes::ask_willing(const Asked& asked, const std::vector<int>& refusals) {
  Answers out;
  std::optional<ApiError> last;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    try {
      out[links_[i].site().name] = links_[i].ask(asked.method, asked.target, asked.body, asked.turn);
    } catch (const ApiError& error) {
      if (std::ranges::find(refusals, error.status()) == refusals.end()) throw;
      last = error;
    } catch (const SiteGone& gone) {
      if (!last) last = ApiError(503, gone.what());
    }
  }
  if (out.empty()) throw *last;
  return out;
}

json FrontRoutes::set_link(const json& body) {
  const std::string port = text_of(body, "link");
  SiteLink& near = site_with(port);
  json answer;
  try {
    answer = near.ask("POST", "/links", body);
  } catch (const ApiError& error) {
    // Down at the other end, of a link between sites?
    const auto link = map_.link_at(port);
    if (error.status() != 409 || !link || body.value("up", json()) != true) throw;
    const spec::LinkSpec& l = map_.lab().links[*link];
    const std::string far = spec::format(spec::format(l.a) == port ? l.b : l.a);
    SiteLink& other = site_with(far);
    if (&other == &near) throw;
    answer = other.ask("POST", "/links", {{"link", far}, {"up", true}});
    return map_.with_far_ends(other.site().name, std::move(answer));
  }
  return map_.with_far_ends(near.site().name, std::move(answer));
}

json FrontRoutes::path_of(const json& body) {
  if (body.is_object() && body.contains("flow")) return first_that_knows("POST", "/path", body);
  SiteLink& site = site_with(text_of(body, "from"));
  return map_.with_far_ends(site.site().name, site.ask("POST", "/path", body));
}

json FrontRoutes::route(const Asked& asked) {
  const auto& [method, path, target, query, body, turn] = asked;
  const auto is = [&](const char* m, const char* p) { return method == m && path == p; };
  const auto below = [&](const char* m, const char* p) {
    return method == m && path.starts_with(p) && path.size() > std::string_view(p).size();
  };
  const auto name = [&](const char* p) { return path.substr(std::string_view(p).size()); };
  if (is("POST", "/down")) {
    down_();
    return {{"down", true}};
  }
  if (is("GET", "/lab")) return merged_lab(name_, plan_, links_.ask_all("GET", "/lab"), links_.states());
  if (is("GET", "/status")) return status();
  if (is("GET", "/audit")) return merged_audit(links_.ask_all("GET", "/audit"));
  if (is("GET", "/flows")) return merged_lists(links_.ask_all("GET", "/flows", nullptr, turn), {"flows", "uet_nics", "traffic"});
  if (is("GET", "/collectives"))
    return merged_lists(links_.ask_all("GET", "/collectives", nullptr, turn), {"agents", "collectives"});
  if (is("GET", "/faults")) return merged_lists(links_.ask_all("GET", "/faults"), {"faults"});
  if (is("GET", "/faults/log")) return merged_lists(links_.ask_all("GET", target), {"lines"});
  if (is("POST", "/faults")) return add_fault(body);
  if (below("DELETE", "/faults/")) return remove_fault(name("/faults/"));
  if (is("POST", "/web")) {
    if (!link_) throw ApiError(409, "the lab has no page; start it with `railyard up --web`");
    return link_();
  }
  if (is("POST", "/links")) return set_link(body);
  if (is("POST", "/path")) return path_of(body);
  if (is("POST", "/attachments")) return site_with(text_of(body, "to")).ask(method, target, body);
  if (is("POST", "/restart")) return site_with(text_of(body, "host")).ask(method, target, body);
  if (is("POST", "/again") || is("POST", "/stop")) return first_that_knows(method, target, body);
  if (below("GET", "/hosts/")) return site_with(name("/hosts/")).ask(method, target, nullptr, turn);
  if (is("GET", "/routes")) return merged_lists(links_.ask_all("GET", "/routes"), {"switches", "reroutings"});
  if (below("GET", "/routes/")) {
    SiteLink& site = site_with(name("/routes/"));
    return map_.with_far_ends(site.site().name, site.ask(method, target, nullptr, turn));
  }
  if (is("GET", "/settings") || below("GET", "/settings/")) return merged_settings(ask_willing(asked, {404}));
  if (is("POST", "/settings")) {
    const Answers answers = links_.ask_all(method, target, body);
    if (answers.empty()) throw ApiError(503, "no site answers");
    return merged_changes(answers);
  }
  // Sites may differ, where one of them was away.
  if (is("POST", "/hold")) return ask_willing(asked, {409}).begin()->second;
  if (is("POST", "/captures")) return captures_.start(site_with(text_of(body, "port")), body);
  if (is("POST", "/captures/stop")) return captures_.stop(text_of(body, "id"));
  if (below("DELETE", "/captures/")) return captures_.end(name("/captures/"));
  if (json answer = page_route(asked); !answer.is_null()) return answer;
  throw ApiError(409, fmt::format("a lab over several sites does not answer {} {}; ask one site's part: `--lab {}` on its "
                                  "machine",
                                  method, path, links_[0].site().lab));
}

api::Response FrontRoutes::answer(const api::Request& request, std::chrono::milliseconds turn) {
  const auto [path, query] = api::parse_target(request.target);
  try {
    if (request.method == "GET" && path == "/events") {
      api::Response out{200, nullptr};
      out.events = watch_.stream(daemon::asked_every(query));
      return out;
    }
    constexpr std::string_view kCaptures = "/captures/", kFile = "/file";
    if (request.method == "GET" && path.starts_with(kCaptures) && path.ends_with(kFile) && path.size() > kCaptures.size() + kFile.size())
      return captures_.file(path.substr(kCaptures.size(), path.size() - kCaptures.size() - kFile.size()));
    if (request.method == "GET" && path.starts_with("/report/")) return site_report(path.substr(8));
    std::unique_lock lock(one_at_a_time_, std::defer_lock);
    if (request.method != "GET") lock.lock();
    json answer = route({request.method, path, request.target, query, request.body, turn});
    if (request.method != "GET") watch_.look_soon();
    return {request.target == "/down" ? 202 : 200, std::move(answer)};
  } catch (const SiteGone& gone) {
    throw ApiError(503, gone.what());
  } catch (const json::exception& error) {
    throw ApiError(503, fmt::format("a site answered with something else ({}); expected a railyard of the same version",
                                    error.what()));
  }
}

}  // namespace railyard::front
