// What a live lab shows of itself to those who watch it.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/daemon/layout.h"
#include "control/daemon/live_lab.h"
#include "control/spec/json_schema.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

Watch& LiveLab::watch() const {
  if (watch_ == nullptr) throw ApiError(503, "the lab is still starting: nothing can be watched yet");
  return *watch_;
}

json LiveLab::layout(const std::string& folding) const {
  if (folding.empty() || folding == "readable") return layout_json(session_.lab().spec(), picture::Folding::kReadable);
  if (folding == "none") return layout_json(session_.lab().spec(), picture::Folding::kNone);
  throw ApiError(400, fmt::format("folding: '{}'; expected readable or none", folding));
}

json LiveLab::overview(const std::string& folding) const {
  json out = about();
  out["read_only"] = read_only_;
  out["layout"] = layout(folding);
  out["sample"] = watch().last_sample();
  out["happenings"] = watch().happened(0)["happenings"];
  return out;
}

json LiveLab::news(std::uint64_t seen, std::uint64_t state) const {
  json out = watch().news(seen, state);
  out["trunks"] = json::array();
  for (const lab::Session::Trunk& t : session_.trunks()) {
    json status = trunk_status(t);
    json& trunk = out["trunks"].emplace_back();
    for (const char* key : {"name", "up", "clock_offset_ns", "clock_error_ns"}) trunk[key] = std::move(status[key]);
  }
  return out;
}

json LiveLab::state() {
  json out = about();
  out["faults"] = faults_.list()["faults"];
  const spec::Lab& lab = session_.lab().spec();
  for (json& f : out["faults"])
    f["touches"] = touched_json(lab, f["on"].get<std::string>(), f["what"].get<std::string>());
  out["links_down"] = json::array();
  for (const spec::LinkSpec& link : lab.links)
    if (down_.contains(session_.lab().port(link.a))) out["links_down"].push_back(fmt::format("{}:{}", link.a.node, link.a.port));
  out["hosts"] = json::array();
  for (const spec::NodeSpec& node : lab.nodes)
    if (node.kind == spec::NodeSpec::Kind::kHost) out["hosts"].push_back(host_status(node));
  out["collectives"] = collective_states();
  return out;
}

json LiveLab::fault_log(bool links) const {
  std::vector<fault::LoggedEvent> all = faults_.events();
  if (links) std::ranges::move(link_log_->events(), std::back_inserter(all));
  std::ranges::stable_sort(all, {}, &fault::LoggedEvent::effective);
  json lines = json::array();
  for (const fault::LoggedEvent& e : all) lines.push_back(fault::line_of(e));
  return {{"lines", std::move(lines)}};
}

json LiveLab::schema() { return json::parse(spec::json_schema()); }

json LiveLab::web() const {
  if (!link_) throw ApiError(409, "the lab has no page; start it with `railyard up --web`");
  return link_();
}

}  // namespace railyard::daemon
