#include "control/front/front_captures.h"

#include <cctype>

#include <fmt/format.h>

namespace railyard::front {

using api::ApiError;
using nlohmann::json;

namespace {

// With its name in the whole lab.
json named(const std::string& site, json capture) {
  if (!capture.is_object() || !capture.value("id", json()).is_string())
    throw ApiError(503, fmt::format("site {}: a capture without an id; expected a railyard of the same version", site));
  capture["id"] = site + "." + capture["id"].get<std::string>();
  capture["site"] = site;
  capture.erase("socket");
  return capture;
}

}  // namespace

std::pair<SiteLink*, std::string> FrontCaptures::find(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::string id = dot == name.npos ? std::string() : name.substr(dot + 1);
  bool is_one = !id.empty();
  for (const char c : id) is_one = is_one && std::isdigit(static_cast<unsigned char>(c)) != 0;
  if (is_one)
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (links_[i].site().name == name.substr(0, dot)) return {&links_[i], id};
  throw ApiError(404, fmt::format("there is no capture '{}'; expected one such as {}.1", name, links_[0].site().name));
}

json FrontCaptures::list(std::chrono::milliseconds turn) {
  json out = json::array();
  for (auto& [site, answer] : links_.ask_all("GET", "/captures", nullptr, turn))
    for (const json& capture : answer.at("captures")) out.push_back(named(site, capture));
  return {{"captures", std::move(out)}};
}

json FrontCaptures::start(SiteLink& site, const json& body) {
  if (!body.is_object() || body.value("keep", json()) != true)
    throw ApiError(409, fmt::format("the socket of a capture is at the machine of its site; expected \"keep\": true, or "
                                    "`railyard capture`, which goes to site {}",
                                    site.site().name));
  return named(site.site().name, site.ask("POST", "/captures", body));
}

json FrontCaptures::stop(const std::string& name) {
  const auto [site, id] = find(name);
  return named(site->site().name, site->ask("POST", "/captures/stop", {{"id", id}}));
}

json FrontCaptures::end(const std::string& name) {
  const auto [site, id] = find(name);
  return named(site->site().name, site->ask("DELETE", "/captures/" + id));
}

api::Response FrontCaptures::file(const std::string& name) {
  const auto [site, id] = find(name);
  api::Response out{200, nullptr, site->ask_for_file("/captures/" + id + "/file"), "application/x-pcapng"};
  out.fields = {{"Content-Disposition", fmt::format("attachment; filename=\"{}.pcapng\"", name)}};
  return out;
}

}  // namespace railyard::front
