// The description of the API and the handlers say the same.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/openapi.h"
#include "control/daemon/routes.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using nlohmann::json;

class OpenApi : public RunningLabFixture {
 protected:
  OpenApi() : RunningLabFixture(std::string(kTwoHosts) + "probe: { every: 100ms }\n") {}
  // "/routes/{switch}" as the table of routes has it: "/routes/"; of files, "/captures/{id}/file" is "/captures/*/file".
  static std::string as_route(const std::string& path, bool file) {
    const std::string before = path.substr(0, path.find('{'));
    return before == path || !file ? before : before + "*" + path.substr(path.find('}') + 1);
  }
  static bool is_file(const json& operation) {
    return !operation["responses"].value("200", json::object()).value("content", json::object()).contains("application/json");
  }
  // What of a schema a value does not fit; "": it does. As much of JSON Schema as the description uses.
  std::string misfit(const json& schema, const json& value, const std::string& at = "") const {
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>();
      return misfit(doc_.at(json::json_pointer(name.substr(1))), value, at);
    }
    if (schema.contains("allOf"))
      for (const json& part : schema["allOf"])
        if (const std::string m = misfit(part, value, at); !m.empty()) return m;
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
      return at + " is " + value.dump();
    if (schema.contains("type")) {
      const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
      const bool fits = std::ranges::any_of(types, [&](const json& t) {
        return (t == "object" && value.is_object()) || (t == "array" && value.is_array()) || (t == "string" && value.is_string()) ||
               (t == "boolean" && value.is_boolean()) || (t == "integer" && value.is_number_integer()) ||
               (t == "number" && value.is_number()) || (t == "null" && value.is_null());
      });
      if (!fits) return at + " is " + value.dump().substr(0, 80) + ", no " + types.dump();
    }
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"]) return at + " is below the minimum";
    for (const json& key : schema.value("required", json::array()))
      if (!value.contains(key.get<std::string>())) return at + " has no " + key.get<std::string>();
    for (const auto& [key, part] : schema.value("properties", json::object()).items())
      if (value.is_object() && value.contains(key))
        if (const std::string m = misfit(part, value[key], at + "/" + key); !m.empty()) return m;
    if (schema.contains("items") && value.is_array())
      for (const json& item : value)
        if (const std::string m = misfit(schema["items"], item, at + "/*"); !m.empty()) return m;
    return "";
  }
  json schema_of(const std::string& path, const std::string& method, const std::string& status = "200") const {
    return doc_["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"];
  }

  const json doc_ = json::parse(openapi());
};

TEST_F(OpenApi, HasEveryRouteAndNoOther) {
  std::set<std::string> described;
  for (const auto& [path, methods] : doc_["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      std::string upper = method;
      std::ranges::transform(upper, upper.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
      if (path != "/session") described.insert(upper + " " + as_route(path, is_file(operation)));  // of the TCP listener (web_access.h)
    }
  std::set<std::string> handled;
  for (const KnownRoute& r : known_routes()) handled.insert(r.method + " " + r.target);
  EXPECT_EQ(described, handled);
}

TEST_F(OpenApi, EveryPathParameterAndReferenceIsThere) {
  for (const auto& [path, methods] : doc_["paths"].items())
    for (const auto& [method, operation] : methods.items()) {
      EXPECT_FALSE(operation.value("summary", "").empty()) << path;
      std::set<std::string> named;
      for (const json& p : operation.value("parameters", json::array()))
        if (p["in"] == "path") named.insert("{" + p["name"].get<std::string>() + "}");
      for (const std::string& name : named) EXPECT_THAT(path, testing::HasSubstr(name));
      EXPECT_EQ(named.empty(), path.find('{') == path.npos) << path;
    }
  const std::string text = doc_.dump();
  for (std::size_t at = 0; (at = text.find("\"$ref\":\"#", at)) != text.npos; ++at) {
    const std::size_t from = at + 9;
    const std::string pointer = text.substr(from, text.find('"', from) - from);
    EXPECT_TRUE(doc_.contains(json::json_pointer(pointer))) << pointer;
  }
}

// All that needs no body.
TEST_F(OpenApi, AnswersAreAsDescribed) {
  wait_for_packets();
  watch_->start([this]() -> std::optional<json> { return lab_->state(); });
  ask("POST", "/faults", {{"fault", "on: leaf1:1, loss: 1%"}});
  while (ask("GET", "/history")["t"].empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const auto& [path, methods] : doc_["paths"].items()) {
    if (!methods.contains("get") || path.find('{') != path.npos || path == "/session" || path == "/events" || path == "/metrics")
      continue;
    const std::string target = path == "/snapshot" ? "/snapshot?at=0" : path;
    EXPECT_EQ(misfit(schema_of(path, "get"), ask("GET", target)), "") << path;
  }
  EXPECT_EQ(misfit(schema_of("/hosts/{host}", "get"), ask("GET", "/hosts/h1")), "");
  EXPECT_EQ(misfit(doc_["components"]["schemas"]["LabState"], lab_->state()), "");
  EXPECT_EQ(misfit(schema_of("/links", "post"), ask("POST", "/links", {{"link", "leaf1:1"}, {"up", false}})), "");
  EXPECT_EQ(misfit(doc_["components"]["schemas"]["Problem"], api::problem(404, "there is no /x").body), "");
  watch_->stop();
}

}  // namespace
}  // namespace railyard::daemon
