#include "control/front/merge_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/daemon/layout.h"
#include "control/spec/value.h"

namespace railyard::front {

using nlohmann::json;

namespace {

std::string text_in(const json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_string() ? found->get<std::string>() : std::string();
}
bool is_said(const json& of, const char* key) { return of.value(key, json()) == true; }
json list_in(const json& of, const char* key) {
  json list = of.value(key, json());
  return list.is_array() ? list : json::array();
}

// A fault with its part at another site.
void join(json& fault, const json& part) {
  const std::string on = text_in(part, "on");
  if (fault["on"] != on) fault["on"] = fault["on"].get<std::string>() + ", " + on;
  fault["active"] = is_said(fault, "active") || is_said(part, "active");
  for (const char* key : {"occurrences", "frames"}) {
    const json more = part.value(key, json());
    if (!more.is_number_unsigned()) continue;
    json& all = fault[key];
    if (!all.is_number_unsigned()) all = 0u;
    all = key == std::string_view("frames") ? json(all.get<std::uint64_t>() + more.get<std::uint64_t>())
                                            : json(std::max(all.get<std::uint64_t>(), more.get<std::uint64_t>()));
  }
}

json merged_faults(const LinkMap& map, const Answers& states) {
  json out = json::array();
  std::vector<std::set<std::string>> sites;  // by fault: where it is
  for (const auto& [site, state] : states)
    for (const json& f : list_in(state, "faults")) {
      if (!f.is_object()) continue;
      json fault{{"name", text_in(f, "name")}, {"what", text_in(f, "what")}, {"on", map.with_far_ends(site, text_in(f, "on"))},
                 {"active", is_said(f, "active")}, {"removed", is_said(f, "removed")},
                 {"occurrences", f.value("occurrences", json())}, {"frames", f.value("frames", json())}};
      std::size_t same = 0;
      while (same < out.size() && (sites[same].contains(site) || out[same]["name"] != fault["name"] ||
                                   out[same]["what"] != fault["what"] || out[same]["removed"] != fault["removed"]))
        ++same;
      if (same < out.size()) {
        join(out[same], fault);
      } else {
        out.push_back(std::move(fault));
        sites.emplace_back();
      }
      sites[same].insert(site);
    }
  for (json& f : out) {
    if (!f["occurrences"].is_number_unsigned()) f["occurrences"] = 0u;
    if (!f["frames"].is_number_unsigned()) f["frames"] = nullptr;
    f["touches"] = daemon::touched_json(map.lab(), f["on"].get<std::string>(), f["what"].get<std::string>());
  }
  return out;
}

}  // namespace

bool is_state(const json& state) {
  if (!state.is_object() || !state.value("held", json()).is_boolean()) return false;
  const json size = state.value("size", json());
  return size.is_object() && size.value("flows", json()).is_number_unsigned() &&
         size.value("collectives", json()).is_number_unsigned();
}

json merged_state(const std::string& name, const SitePlan& plan, const LinkMap& map, const Answers& states,
                  const std::vector<SiteState>& sites) {
  json out = merged_lab(name, plan, states, sites);
  out["faults"] = merged_faults(map, states);
  std::set<std::size_t> down;
  for (const auto& [site, state] : states)
    for (const json& port : list_in(state, "links_down"))
      if (port.is_string())
        if (const auto link = map.link_at(map.with_far_ends(site, port.get<std::string>()))) down.insert(*link);
  out["links_down"] = json::array();
  for (const std::size_t link : down) out["links_down"].push_back(spec::format(map.lab().links[link].a));
  out["hosts"] = json::array();
  out["collectives"] = json::array();
  for (const auto& [site, state] : states)
    for (const char* key : {"hosts", "collectives"})
      for (const json& item : list_in(state, key)) {
        if (!item.is_object()) continue;
        out[key].push_back(item);
        out[key].back()["site"] = site;
      }
  add_hosts_of_sites_away(plan, sites, out["hosts"]);
  return out;
}

json whole_layout(const SitePlan& plan, const LinkMap& map, const std::string& folding) {
  const bool none = folding == "none";
  if (!none && !folding.empty() && folding != "readable")
    throw api::ApiError(400, fmt::format("folding: '{}'; expected readable or none", folding));
  json out = daemon::layout_json(map.lab(), none ? picture::Folding::kNone : picture::Folding::kReadable);
  for (json& node : out["nodes"])
    node["site"] = plan.site_of.at(node["name"].get<std::string>());
  return out;
}

}  // namespace railyard::front
