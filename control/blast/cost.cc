#include "control/blast/cost.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace railyard::blast {
namespace {

using Json = nlohmann::ordered_json;

std::map<std::string, std::uint64_t> lost_of(const Json& report) {
  std::map<std::string, std::uint64_t> lost;
  for (const Json& d : report["drops"]) lost[d["reason"].get<std::string>()] += d["frames"].get<std::uint64_t>();
  for (const Json& p : report["ports"]) {
    lost["lost_on_link"] += p["lost_on_link"].get<std::uint64_t>();
    lost["lost_to_faults"] += p["lost_to_faults"].get<std::uint64_t>();
  }
  return lost;
}

bool ends(const Json& report, const Json& flow) {
  const std::string name = flow["name"].get<std::string>();
  for (const Json& t : report["traffic"]) {
    const std::string group = t["name"].get<std::string>();
    if (name == group || name.starts_with(group + "/")) return t["with_end"].get<std::uint64_t>() > 0;
  }
  return false;
}

// With an end: whether it came to it. Without: whether it still delivered in the last tenth of `duration`.
bool came_back(const Json& flow, bool with_end, Duration duration) {
  if (with_end) return !flow["fct_ns"].is_null();
  const Json& last = flow["last_delivered_ns"];
  return last.is_number() && last.get<double>() * 1000 >= static_cast<double>(duration.ps) * 0.9;
}

// Whether one of `hosts` sends or receives a flow: its name is TRAFFIC/SOURCE->DESTINATION, these as HOST or HOST:NIC.
bool is_at(const std::string& flow, const std::vector<std::string>& hosts) {
  const std::size_t arrow = flow.find("->");
  if (arrow == std::string::npos) return false;
  const auto is_of = [](std::string_view end, const std::string& host) {
    return end.starts_with(host) && (end.size() == host.size() || std::string_view(":#").contains(end[host.size()]));
  };
  const std::size_t from = flow.rfind('/', arrow) + 1;
  const std::string_view source = std::string_view(flow).substr(from, arrow - from);
  const std::string_view destination = std::string_view(flow).substr(arrow + 2);
  return std::ranges::any_of(hosts, [&](const std::string& host) { return is_of(source, host) || is_of(destination, host); });
}

// What is sent by or to `hosts`, which fail themselves, is not looked at.
std::vector<std::string> gone(const Json& report, const Json& without, const std::vector<std::string>& hosts,
                              Duration duration) {
  std::vector<std::string> out;
  const Json& flows = report["flows"];
  for (std::size_t i = 0; i < flows.size() && i < without["flows"].size(); ++i) {
    if (is_at(flows[i]["name"].get<std::string>(), hosts)) continue;
    const bool with_end = ends(without, flows[i]);
    if (came_back(without["flows"][i], with_end, duration) && !came_back(flows[i], with_end, duration))
      out.push_back(flows[i]["name"].get<std::string>());
  }
  const Json& collectives = report["collectives"];
  for (std::size_t i = 0; i < collectives.size() && i < without["collectives"].size(); ++i)
    if (without["collectives"][i]["completed"].get<bool>() && !collectives[i]["completed"].get<bool>())
      out.push_back(collectives[i]["name"].get<std::string>());
  return out;
}

std::optional<double> delivered(const Json& report) {
  double all = 0;
  for (const Json& f : report["flows"]) all += f["delivered_bytes"].get<double>();
  return all > 0 ? std::optional(all) : std::nullopt;
}

void add_routing(Cost& cost, const Json& report, std::int64_t at_ns, std::int64_t back_ns) {
  for (const Json& r : report["reroutings"]) {
    const auto began = r["began_ns"].get<std::int64_t>();
    const Json& first = r["first_change_ns"];
    const Json& last = r["last_change_ns"];
    if (began < at_ns || !last.is_number() || last.get<std::int64_t>() < 0) continue;
    const bool is_failure = back_ns == 0 || began < back_ns;
    if (is_failure && !cost.first_change_ns) cost.first_change_ns = first.get<std::int64_t>() - at_ns;
    // A failure that is over before routing is at rest and its return are one reaction.
    if (is_failure && (back_ns == 0 || last.get<std::int64_t>() < back_ns))
      cost.repaired_ns = last.get<std::int64_t>() - at_ns;
    else
      cost.restored_ns = last.get<std::int64_t>() - back_ns;
  }
}

}  // namespace

std::optional<double> job_time(const Json& report) {
  double end = 0;
  bool any = false;
  for (const Json& f : report["flows"]) {
    if (!ends(report, f)) continue;
    if (f["fct_ns"].is_null()) return std::nullopt;
    end = std::max(end, f["start_ns"].get<double>() + f["fct_ns"].get<double>());
    any = true;
  }
  for (const Json& c : report["collectives"])
    for (const Json& i : c["iterations"]) {
      if (i["time_ns"].is_null()) return std::nullopt;
      end = std::max(end, i["start_ns"].get<double>() + i["time_ns"].get<double>());
      any = true;
    }
  return any ? std::optional(end) : std::nullopt;
}

Cost cost_of(Element element, const Json& report, const Json& without, Duration at, Duration lasts, Duration duration) {
  Cost cost{.element = std::move(element), .failure = {}};
  const std::map<std::string, std::uint64_t> before = lost_of(without);
  for (const auto& [reason, n] : lost_of(report)) {
    const auto known = before.find(reason);
    const std::uint64_t usual = known == before.end() ? 0 : known->second;
    if (n <= usual) continue;
    cost.reasons.emplace_back(reason, n - usual);
    cost.lost += n - usual;
  }
  std::ranges::stable_sort(cost.reasons, std::greater{}, &std::pair<std::string, std::uint64_t>::second);
  const Json& flows = report["flows"];
  for (std::size_t i = 0; i < flows.size() && i < without["flows"].size(); ++i)
    cost.hit += flows[i]["lost"].get<std::uint64_t>() > without["flows"][i]["lost"].get<std::uint64_t>() ? 1u : 0u;
  cost.gone = gone(report, without, cost.element.hosts, duration);
  add_routing(cost, report, at.ps / 1000, lasts.ps > 0 ? (at + lasts).ps / 1000 : 0);
  const std::optional<double> usual = job_time(without);
  if (usual) {
    if (const auto with = job_time(report); with && *usual > 0) cost.stretch = *with / *usual;
  } else if (const auto usually = delivered(without)) {
    if (const auto with = delivered(report)) cost.stretch = *usually / *with;
  }
  return cost;
}

void sort_by_cost(std::vector<Cost>& costs) {
  std::ranges::stable_sort(costs, [](const Cost& a, const Cost& b) {
    const auto key = [](const Cost& c) {
      return std::tuple(!c.failure.empty(), c.single_point(), c.gone.size(), c.stretch.value_or(0), c.lost);
    };
    return key(a) > key(b);
  });
}

}  // namespace railyard::blast
