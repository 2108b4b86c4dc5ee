#include "control/daemon/routes.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace railyard::daemon {

using api::ApiError;
using api::Request;
using nlohmann::json;

namespace {

struct Route {
  std::string_view method;
  std::string_view target;  // ends in '/': what follows is a name
  json (*answer)(LiveLab& lab, const std::string& name, const json& body);
};

template <class T>
T wanted(const json& body, const char* key) {
  if (!body.is_object() || !body.contains(key))
    throw ApiError(400, fmt::format("key '{}' is missing in the body", key));
  try {
    return body.at(key).get<T>();
  } catch (const json::exception&) {
    throw ApiError(400, fmt::format("key '{}' has a wrong type", key));
  }
}

constexpr std::array kRoutes{
    Route{"GET", "/lab", [](LiveLab& l, const std::string&, const json&) { return l.about(); }},
    Route{"GET", "/status", [](LiveLab& l, const std::string&, const json&) { return l.status(); }},
    Route{"GET", "/audit", [](LiveLab& l, const std::string&, const json&) { return l.audit(); }},
    Route{"GET", "/pauses", [](LiveLab& l, const std::string&, const json&) { return l.pauses(); }},
    Route{"GET", "/collectives", [](LiveLab& l, const std::string&, const json&) { return l.collectives(); }},
    Route{"GET", "/flows", [](LiveLab& l, const std::string&, const json&) { return l.flows(); }},
    Route{"GET", "/report", [](LiveLab& l, const std::string&, const json&) { return l.report(); }},
    Route{"GET", "/routes", [](LiveLab& l, const std::string&, const json&) { return l.routes(""); }},
    Route{"GET", "/routes/", [](LiveLab& l, const std::string& name, const json&) { return l.routes(name); }},
    Route{"POST", "/path", [](LiveLab& l, const std::string&, const json& body) { return l.path(body); }},
    Route{"GET", "/agents/", [](LiveLab& l, const std::string& name, const json&) { return l.agent(name); }},
    Route{"GET", "/series", [](LiveLab& l, const std::string&, const json&) { return l.series().show(); }},
    Route{"POST", "/series",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto file = wanted<std::string>(body, "file");
            return l.series().start(file, wanted<std::string>(body, "every"));
          }},
    Route{"DELETE", "/series", [](LiveLab& l, const std::string&, const json&) { return l.series().end(); }},
    Route{"GET", "/int", [](LiveLab& l, const std::string&, const json&) { return l.in_band().show(); }},
    Route{"POST", "/int",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto what = wanted<std::string>(body, "what");
            return l.in_band().start(what, body.contains("file") ? wanted<std::string>(body, "file") : std::string());
          }},
    Route{"DELETE", "/int", [](LiveLab& l, const std::string&, const json&) { return l.in_band().end(); }},
    Route{"GET", "/hosts/", [](LiveLab& l, const std::string& name, const json&) { return l.host(name); }},
    Route{
        "POST", "/restart",
        [](LiveLab& l, const std::string&, const json& body) { return l.restart(wanted<std::string>(body, "host")); }},
    Route{"POST", "/again",
          [](LiveLab& l, const std::string&, const json& body) { return l.again(wanted<std::string>(body, "name")); }},
    Route{"POST", "/links",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto link = wanted<std::string>(body, "link");
            return l.set_link(link, wanted<bool>(body, "up"));
          }},
    Route{"POST", "/attachments",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto to = wanted<std::string>(body, "to");
            return l.attach(to, wanted<json>(body, "attach"));
          }},
    Route{"POST", "/hold",
          [](LiveLab& l, const std::string&, const json& body) { return l.hold(wanted<bool>(body, "on")); }},
    Route{"GET", "/captures", [](LiveLab& l, const std::string&, const json&) { return l.captures().list(); }},
    Route{"POST", "/captures",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto port = wanted<std::string>(body, "port");
            return l.captures().start(l.port_named(port), port, body);
          }},
    Route{"GET", "/replays", [](LiveLab& l, const std::string&, const json&) { return l.replays().list(); }},
    Route{"GET", "/replays/", [](LiveLab& l, const std::string& id, const json&) { return l.replays().show(id); }},
    Route{"POST", "/replays",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto at = wanted<std::string>(body, "at");
            return l.replays().start(l.port_named(at), at, wanted<std::string>(body, "file"), body);
          }},
    Route{"DELETE", "/replays/", [](LiveLab& l, const std::string& id, const json&) { return l.replays().end(id); }},
    Route{"DELETE", "/captures/", [](LiveLab& l, const std::string& id, const json&) { return l.captures().end(id); }},
    Route{"GET", "/faults", [](LiveLab& l, const std::string&, const json&) { return l.faults().list(); }},
    Route{"GET", "/faults/log", [](LiveLab& l, const std::string&, const json&) { return l.faults().log(); }},
    Route{"POST", "/faults",
          [](LiveLab& l, const std::string&, const json& body) {
            return l.faults().add(wanted<std::string>(body, "fault"));
          }},
    Route{"DELETE", "/faults/",
          [](LiveLab& l, const std::string& name, const json&) { return l.faults().remove(name); }},
    Route{"GET", "/settings", [](LiveLab& l, const std::string&, const json&) { return l.settings(""); }},
    Route{"GET", "/settings/", [](LiveLab& l, const std::string& path, const json&) { return l.settings(path); }},
    Route{"POST", "/settings",
          [](LiveLab& l, const std::string&, const json& body) {
            return l.set(wanted<std::vector<std::string>>(body, "set"));
          }},
};

}  // namespace

api::Response public_route(const LiveLab& lab, const Request& request) {
  if (request.target != "/metrics") throw ApiError(404, fmt::format("there is no {}; expected /metrics", request.target));
  if (request.method != "GET") throw ApiError(405, fmt::format("{} excludes /metrics", request.method));
  const exposition::Format format = exposition::accepted(request.accept);
  return {200, nullptr, lab.metrics(format), std::string(exposition::content_type(format))};
}

api::Response route(LiveLab& lab, const std::function<void()>& down, const Request& request) {
  if (request.method == "POST" && request.target == "/down") {
    down();
    return {202, {{"down", true}}};
  }
  if (request.target == "/metrics") return public_route(lab, request);
  bool known = false;
  for (const Route& r : kRoutes) {
    const bool named = r.target.ends_with('/');
    if (named ? !request.target.starts_with(r.target) || request.target.size() == r.target.size()
              : request.target != r.target)
      continue;
    known = true;
    if (request.method == r.method)
      return {200, r.answer(lab, named ? request.target.substr(r.target.size()) : std::string(), request.body)};
  }
  if (known) throw ApiError(405, fmt::format("{} excludes {}", request.method, request.target));
  throw ApiError(404, fmt::format("there is no {}", request.target));
}

}  // namespace railyard::daemon
