#include "control/report/timeline_json.h"

namespace railyard::report {
namespace {

using Json = nlohmann::ordered_json;

Json shares(const TimelineReport::Shares& s) { return {{"compute", s.compute}, {"exposed", s.exposed}, {"idle", s.idle}}; }

}  // namespace

Json timeline_json(const TimelineReport& t) {
  constexpr std::size_t kMostFigures = 100'000;
  Json ranks = Json::array();
  for (std::size_t r = 0; r < t.ranks.size(); ++r) {
    Json rank{{"rank", r}, {"name", t.names[r]}};
    rank.update(shares(t.ranks[r]));
    rank["waits_for"] = t.ranks[r].waits_for.empty() ? Json(nullptr) : Json(t.ranks[r].waits_for);
    rank["waits_ns"] = t.ranks[r].waits_ns;
    ranks.push_back(std::move(rank));
  }
  Json iterations = Json::array();
  if (3 * t.repeats.size() * t.ranks.size() <= kMostFigures)
    for (const TimelineReport::Repeat& i : t.repeats)
      iterations.push_back({{"iteration", i.repeat}, {"compute_ns", i.compute_ns}, {"exposed_ns", i.exposed_ns}, {"idle_ns", i.idle_ns}});
  Json computing = Json::array();
  for (const auto& [rank, ns] : t.path.ranks) computing.push_back({{"rank", rank}, {"ns", ns}});
  Json hops = Json::array();
  for (const TimelineReport::Hop& h : t.path.hops) {
    Json links = Json::array();
    for (const TimelineReport::Hop::Link& l : h.links) links.push_back({{"port", l.port}, {"utilisation", l.utilisation}});
    hops.push_back({{"from", h.from}, {"to", h.to}, {"messages", h.messages}, {"bytes", h.bytes}, {"ns", h.ns},
                    {"scale_up", h.scale_up}, {"links", std::move(links)}});
  }
  return {{"all", shares(t.all)},
          {"ranks", std::move(ranks)},
          {"iterations", std::move(iterations)},
          {"critical_path",
           {{"iteration", t.path.repeat},
            {"ns", t.path.ns},
            {"compute_ns", t.path.compute_ns},
            {"message_ns", t.path.message_ns},
            {"acknowledgement_ns", t.path.acknowledgement_ns},
            {"wait_ns", t.path.wait_ns},
            {"computing", std::move(computing)},
            {"messages", std::move(hops)}}}};
}

}  // namespace railyard::report
