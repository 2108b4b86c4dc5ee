#include "control/front/merge.h"

#include <algorithm>
#include <set>

#include <unistd.h>

#include "control/lab/version.h"

namespace railyard::front {

using nlohmann::json;

std::map<std::string, ClockOffset> clock_offsets(const SitePlan& plan, const Answers& statuses, const std::string& first) {
  struct Measured {
    std::string from, to;
    ClockOffset offset;
  };
  std::vector<Measured> all;
  for (const auto& [site, status] : statuses)
    for (const json& t : status.at("trunks")) {
      const auto known = plan.trunks.at(site).find(t.at("name").get<std::string>());
      if (known == plan.trunks.at(site).end() || !t.at("up").get<bool>()) continue;
      const ClockOffset c{t.at("clock_offset_ns").get<std::int64_t>(), t.at("clock_error_ns").get<std::int64_t>()};
      all.push_back({site, known->second.other, c});
      all.push_back({known->second.other, site, {-c.offset_ns, c.error_ns}});
    }
  // The least error first (Dijkstra).
  std::map<std::string, ClockOffset> best{{first, {}}};
  std::set<std::string> done;
  for (;;) {
    const std::string* next = nullptr;
    for (const auto& [site, c] : best)
      if (!done.contains(site) && (next == nullptr || c.error_ns < best.at(*next).error_ns)) next = &site;
    if (next == nullptr) return best;
    const std::string from = *next;
    done.insert(from);
    for (const Measured& m : all) {
      if (m.from != from) continue;
      const ClockOffset c{best.at(from).offset_ns + m.offset.offset_ns, best.at(from).error_ns + m.offset.error_ns};
      const auto [known, is_new] = best.try_emplace(m.to, c);
      if (!is_new && c.error_ns < known->second.error_ns) known->second = c;
    }
  }
}

json merged_lab(const std::string& name, const SitePlan& plan, const Answers& answers, const std::vector<SiteState>& states) {
  std::size_t switches = 0, hosts = 0;
  for (const spec::NodeSpec& n : plan.lab.nodes) {
    switches += n.kind == spec::NodeSpec::Kind::kSwitch ? 1 : 0;
    hosts += n.kind == spec::NodeSpec::Kind::kHost && !n.reduces ? 1 : 0;
  }
  std::uint64_t flows = 0, collectives = 0;
  bool held = false;
  for (const auto& [site, a] : answers) {
    flows += a.at("size").at("flows").get<std::uint64_t>();
    collectives += a.at("size").at("collectives").get<std::uint64_t>();
    held |= a.at("held").get<bool>();
  }
  json sites = json::array();
  for (const SiteState& s : states) {
    json hosts_there = json::array();
    for (const spec::NodeSpec& n : plan.lab.nodes)
      if (n.kind == spec::NodeSpec::Kind::kHost && !n.reduces && plan.site_of.at(n.name) == s.name) hosts_there.push_back(n.name);
    json site{{"name", s.name}, {"lab", s.lab}, {"up", s.why_gone.empty()}, {"hosts", std::move(hosts_there)}};
    if (!s.why_gone.empty()) site["why"] = s.why_gone;
    sites.push_back(std::move(site));
  }
  return {{"name", name},
          {"version", lab::version()},
          {"pid", ::getpid()},
          {"size",
           {{"switches", switches},
            {"hosts", hosts},
            {"links", plan.lab.links.size()},
            {"flows", flows},
            {"collectives", collectives}}},
          {"held", held},
          {"sites", std::move(sites)}};
}

namespace {

// Of all sites: the slowest, the busiest.
json merged_engine(const Answers& answers) {
  json out{{"modelled_seconds", 0.0}, {"wall_seconds", 0.0}, {"busy_seconds", 0.0}, {"slip_ns", 0}, {"slips", 0},
           {"lateness_ns", {{"p50", 0}, {"p99", 0}, {"max", 0}}}};
  for (const auto& [site, a] : answers) {
    const json& e = a.at("engine");
    for (const char* key : {"modelled_seconds", "wall_seconds", "busy_seconds"})
      out[key] = std::max(out[key].get<double>(), e.at(key).get<double>());
    for (const char* key : {"slip_ns", "slips"}) out[key] = std::max(out[key].get<std::uint64_t>(), e.at(key).get<std::uint64_t>());
    for (const char* key : {"p50", "p99", "max"})
      out["lateness_ns"][key] =
          std::max(out["lateness_ns"][key].get<std::uint64_t>(), e.at("lateness_ns").at(key).get<std::uint64_t>());
  }
  return out;
}

}  // namespace

json merged_lists(const Answers& answers, const std::vector<std::string>& lists) {
  json out = json::object();
  std::string text;
  for (const auto& [site, a] : answers) {
    if (out.empty()) {
      out = a;
      for (const std::string& key : lists) out[key] = json::array();
    }
    for (const std::string& key : lists)
      for (json item : a.value(key, json::array())) {
        if (item.is_object()) item["site"] = site;
        out[key].push_back(std::move(item));
      }
    text += a.value("text", "");
  }
  if (out.empty())
    for (const std::string& key : lists) out[key] = json::array();
  out["text"] = text;
  return out;
}

void add_hosts_of_sites_away(const SitePlan& plan, const std::vector<SiteState>& states, json& hosts) {
  for (const SiteState& s : states) {
    if (s.why_gone.empty()) continue;
    for (const spec::NodeSpec& n : plan.lab.nodes)
      if (n.kind == spec::NodeSpec::Kind::kHost && !n.reduces && plan.site_of.at(n.name) == s.name)
        hosts.push_back({{"name", n.name}, {"nics", json::array()}, {"site", s.name}, {"state", "down"},
                         {"site_is_down", true}, {"why", "site " + s.name + ": " + s.why_gone}});
  }
}

json merged_status(const std::string& name, const SitePlan& plan, const Answers& answers, const std::vector<SiteState>& states) {
  json out = merged_lists(answers, {"hosts", "ports", "attachments", "applications", "trunks"});
  out.update(merged_lab(name, plan, answers, states));
  out["engine"] = merged_engine(answers);
  out.erase("text");
  for (json& trunk : out["trunks"]) {
    const auto& known = plan.trunks.at(trunk["site"].get<std::string>());
    if (const auto t = known.find(trunk["name"].get<std::string>()); t != known.end()) trunk["to_site"] = t->second.other;
  }
  add_hosts_of_sites_away(plan, states, out["hosts"]);
  if (!answers.empty()) {
    std::string first;
    for (const SiteState& s : states)
      if (first.empty() && answers.contains(s.name)) first = s.name;
    const auto clocks = clock_offsets(plan, answers, first);
    for (json& site : out["sites"])
      if (const auto c = clocks.find(site["name"].get<std::string>()); c != clocks.end() && site["up"].get<bool>())
        site["clock"] = {{"relative_to", first}, {"offset_ns", c->second.offset_ns}, {"error_ns", c->second.error_ns}};
  }
  return out;
}

json merged_audit(const Answers& answers) {
  json out{{"balanced", true}, {"at_seconds", 0.0}, {"unbalanced", json::array()}};
  for (const char* key : {"generated", "consumed", "dropped", "lost_on_links", "queued", "on_the_wire"}) out[key] = 0;
  for (const auto& [site, a] : answers) {
    out["balanced"] = out["balanced"].get<bool>() && a.at("balanced").get<bool>();
    out["at_seconds"] = std::max(out["at_seconds"].get<double>(), a.at("at_seconds").get<double>());
    for (const char* key : {"generated", "consumed", "dropped", "lost_on_links", "queued", "on_the_wire"})
      out[key] = out[key].get<std::uint64_t>() + a.at(key).get<std::uint64_t>();
    for (const json& line : a.at("unbalanced")) out["unbalanced"].push_back("site " + site + ": " + line.get<std::string>());
  }
  return out;
}

}  // namespace railyard::front
