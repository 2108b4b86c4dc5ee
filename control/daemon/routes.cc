#include "control/daemon/routes.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/api/query.h"
#include "control/daemon/openapi.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using api::ApiError;
using api::Request;
using nlohmann::json;

namespace {

struct Route {
  std::string_view method;
  std::string_view target;  // ends in '/': what follows is a name
  json (*answer)(LiveLab& lab, const std::string& name, const json& body);  // of GET the query is in the place of a body
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

// Of a query; empty where it is not said.
std::string asked(const json& query, const char* key) {
  if (!query.is_object() || !query.contains(key)) return "";
  return query.at(key).get<std::string>();
}

// "true" or "false"; false where it is not said.
bool asked_yes(const json& query, const char* key) {
  const std::string said = asked(query, key);
  if (said.empty() || said == "false") return false;
  if (said == "true") return true;
  throw ApiError(400, fmt::format("{}: '{}'; expected true or false", key, said));
}

// Zero where it is not said. `what`: "a happening".
std::uint64_t asked_number(const json& query, const char* key, const char* what) {
  const std::string said = asked(query, key);
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), n);
  if (said.empty() || (error == std::errc{} && end == said.data() + said.size())) return n;
  throw ApiError(400, fmt::format("{}: '{}'; expected the number of {}", key, said, what));
}

}  // namespace

std::chrono::milliseconds asked_every(const json& query) {
  const std::string every = asked(query, "every");
  if (every.empty()) return std::chrono::milliseconds(500);
  const auto said = spec::parse_duration(every);
  if (!said) throw ApiError(400, fmt::format("every: {}", said.error()));
  const std::chrono::milliseconds ms(said->ps / 1'000'000'000);
  if (ms < Watch::kLeastEvery || ms > Watch::kMostEvery)
    throw ApiError(400, fmt::format("every: {}; expected {}ms to {}s", every, Watch::kLeastEvery.count(),
                                    Watch::kMostEvery.count() / 1000));
  return ms;
}

double asked_at(const json& query) {
  const std::string at = asked(query, "at");
  double seconds = 0;
  const auto [end, error] = std::from_chars(at.data(), at.data() + at.size(), seconds);
  if (error == std::errc{} && end == at.data() + at.size() && std::isfinite(seconds)) return seconds;
  throw ApiError(400, fmt::format("at: '{}'; expected seconds since 1970", at));
}

std::uint64_t asked_after(const json& query) { return asked_number(query, "after", "a happening"); }

namespace {

// How many of the last rounds; one if it is not said.
std::size_t asked_last(const json& query) {
  const std::string last = asked(query, "last");
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), n);
  if (last.empty()) return 1;
  if (error == std::errc{} && end == last.data() + last.size()) return n;
  throw ApiError(400, fmt::format("last: '{}'; expected a number of rounds", last));
}

constexpr std::array kRoutes{
    Route{"GET", "/overview",
          [](LiveLab& l, const std::string&, const json& q) { return l.overview(asked(q, "folding")); }},
    Route{"GET", "/layout", [](LiveLab& l, const std::string&, const json& q) { return l.layout(asked(q, "folding")); }},
    Route{"GET", "/history", [](LiveLab& l, const std::string&, const json& q) { return l.watch().history(asked(q, "of")); }},
    Route{"GET", "/snapshot", [](LiveLab& l, const std::string&, const json& q) { return l.watch().snapshot(asked_at(q)); }},
    Route{"GET", "/happenings",
          [](LiveLab& l, const std::string&, const json& q) { return l.watch().happened(asked_after(q)); }},
    Route{"GET", "/news",
          [](LiveLab& l, const std::string&, const json& q) {
            return l.news(asked_after(q), asked_number(q, "state", "a state"));
          }},
    Route{"GET", "/schema", [](LiveLab&, const std::string&, const json&) { return LiveLab::schema(); }},
    Route{"GET", "/openapi.json", [](LiveLab&, const std::string&, const json&) { return json::parse(openapi()); }},
    Route{"POST", "/web", [](LiveLab& l, const std::string&, const json&) { return l.web(); }},
    Route{"GET", "/lab", [](LiveLab& l, const std::string&, const json&) { return l.about(); }},
    Route{"GET", "/status", [](LiveLab& l, const std::string&, const json&) { return l.status(); }},
    Route{"GET", "/audit", [](LiveLab& l, const std::string&, const json&) { return l.audit(); }},
    Route{"GET", "/pauses",
          [](LiveLab& l, const std::string&, const json& q) {
            return asked(q, "at").empty() ? l.pauses() : l.watch().pauses(asked_at(q));
          }},
    Route{"GET", "/collectives", [](LiveLab& l, const std::string&, const json&) { return l.collectives(); }},
    Route{"GET", "/flows", [](LiveLab& l, const std::string&, const json&) { return l.flows(); }},
    Route{"GET", "/diagnosis", [](LiveLab& l, const std::string&, const json&) { return l.diagnosis(); }},
    Route{"GET", "/report", [](LiveLab& l, const std::string&, const json&) { return l.report(); }},
    Route{"GET", "/routes", [](LiveLab& l, const std::string&, const json&) { return l.routes(""); }},
    Route{"GET", "/routes/", [](LiveLab& l, const std::string& name, const json&) { return l.routes(name); }},
    Route{"GET", "/outages", [](LiveLab& l, const std::string&, const json&) { return l.outages(); }},
    Route{"POST", "/outages",
          [](LiveLab& l, const std::string&, const json& body) { return l.set_outages_elsewhere(body); }},
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
    Route{"POST", "/stop",
          [](LiveLab& l, const std::string&, const json& body) { return l.stop(wanted<std::string>(body, "name")); }},
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
    Route{"POST", "/captures/stop",
          [](LiveLab& l, const std::string&, const json& body) { return l.captures().stop(wanted<std::string>(body, "id")); }},
    Route{"GET", "/replays", [](LiveLab& l, const std::string&, const json&) { return l.replays().list(); }},
    Route{"GET", "/replays/", [](LiveLab& l, const std::string& id, const json&) { return l.replays().show(id); }},
    Route{"POST", "/replays",
          [](LiveLab& l, const std::string&, const json& body) {
            const auto at = wanted<std::string>(body, "at");
            return l.replays().start(l.port_named(at), at, wanted<std::string>(body, "file"), body);
          }},
    Route{"DELETE", "/replays/", [](LiveLab& l, const std::string& id, const json&) { return l.replays().end(id); }},
    Route{"DELETE", "/captures/", [](LiveLab& l, const std::string& id, const json&) { return l.captures().end(id); }},
    Route{"GET", "/probes",
          [](LiveLab& l, const std::string&, const json& q) { return l.probes().rounds(asked_last(q)); }},
    Route{"POST", "/probes", [](LiveLab& l, const std::string&, const json& body) { return l.probes().start(body); }},
    Route{"GET", "/probes/result", [](LiveLab& l, const std::string&, const json&) { return l.probes().result(); }},
    Route{"DELETE", "/probes", [](LiveLab& l, const std::string&, const json&) { return l.probes().cancel(); }},
    Route{"GET", "/faults", [](LiveLab& l, const std::string&, const json&) { return l.faults().list(); }},
    Route{"GET", "/faults/log",
          [](LiveLab& l, const std::string&, const json& q) { return l.fault_log(asked_yes(q, "links")); }},
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

// Requests whose answer is a file.
struct FileRoute {
  std::string_view target;  // what stands in the place of "*" is a name
  api::Response (*answer)(LiveLab& lab, const std::string& name);
};

// A page of the lab's own, which may have its own style, but no script, and no session (CSP Level 3: sandbox).
constexpr const char* kReportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

api::Response capture_file(LiveLab& lab, const std::string& id) {
  Captures::File file = lab.captures().file(id);
  api::Response out{200, nullptr, std::move(file.octets), "application/x-pcapng"};
  out.fields = {{"Content-Disposition", fmt::format("attachment; filename=\"{}\"", file.name)}};
  return out;
}

constexpr std::array kFileRoutes{
    FileRoute{"/captures/*/file", capture_file},
    FileRoute{"/report/*", [](LiveLab& lab, const std::string& name) { return report_file(lab.report(), name); }}};

// What stands in the place of "*"; nothing: the path is another one.
std::optional<std::string> name_in(std::string_view path, std::string_view target) {
  const std::string_view before = target.substr(0, target.find('*'));
  const std::string_view after = target.substr(before.size() + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after)) return std::nullopt;
  const std::string_view name = path.substr(before.size(), path.size() - before.size() - after.size());
  if (name.find('/') != name.npos) return std::nullopt;
  return std::string(name);
}

}  // namespace

api::Response report_file(const json& files, const std::string& name) {
  if (!files.contains(name) || !files[name].is_string())
    throw ApiError(404, fmt::format("a report has no '{}'; expected report.html, report.json, report.txt or lab.yaml", name));
  const char* type = name.ends_with(".html") ? "text/html; charset=utf-8"
                     : name.ends_with(".json") ? "application/json"
                                               : "text/plain; charset=utf-8";
  api::Response out{200, nullptr, files[name].get<std::string>(), type};
  out.fields = {{"Content-Security-Policy", kReportPolicy}};
  return out;
}

api::Response public_route(LiveLab& lab, const Request& request) {
  if (request.target != "/metrics") throw ApiError(404, fmt::format("there is no {}; expected /metrics", request.target));
  if (request.method != "GET") throw ApiError(405, fmt::format("{} excludes /metrics", request.method));
  const exposition::Format format = exposition::accepted(request.accept);
  return {200, nullptr, lab.metrics(format), std::string(exposition::content_type(format))};
}

std::vector<KnownRoute> known_routes() {
  std::vector<KnownRoute> out{{"POST", "/down"}, {"GET", "/metrics"}, {"GET", "/events"}};
  for (const Route& r : kRoutes) out.push_back({std::string(r.method), std::string(r.target)});
  for (const FileRoute& r : kFileRoutes) out.push_back({"GET", std::string(r.target)});
  return out;
}

api::Response route(LiveLab& lab, const std::function<void()>& down, const Request& request) {
  const auto [path, query] = api::parse_target(request.target);
  if (request.method == "POST" && path == "/down") {
    down();
    return {202, {{"down", true}}};
  }
  if (path == "/metrics") return public_route(lab, request);
  if (request.method == "GET" && path == "/events") {
    api::Response out{200, nullptr};
    out.events = lab.watch().stream(asked_every(query));
    return out;
  }
  bool known = path == "/events" || path == "/down";
  for (const FileRoute& r : kFileRoutes) {
    const std::optional<std::string> name = name_in(path, r.target);
    if (!name) continue;
    if (request.method == "GET") return r.answer(lab, *name);
    known = true;
  }
  for (const Route& r : kRoutes) {
    const bool named = r.target.ends_with('/');
    if (named ? !path.starts_with(r.target) || path.size() == r.target.size() : path != r.target) continue;
    known = true;
    if (request.method != r.method) continue;
    json answer = r.answer(lab, named ? path.substr(r.target.size()) : std::string(),
                           request.method == "GET" ? query : request.body);
    if (request.method != "GET") lab.note_change();
    return {200, std::move(answer)};
  }
  if (known) throw ApiError(405, fmt::format("{} excludes {}", request.method, path));
  throw ApiError(404, fmt::format("there is no {}", path));
}

}  // namespace railyard::daemon
