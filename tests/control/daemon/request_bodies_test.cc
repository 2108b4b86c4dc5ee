// Bodies that do not fit the schema of their route (openapi.json), and ids that nobody has: each is refused with a sentence,
// and nothing has changed.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/daemon/openapi.h"
#include "control/daemon/routes.h"
#include "tests/control/daemon/running_lab_fixture.h"

namespace railyard::daemon {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

class RequestBodies : public RunningLabFixture {
 protected:
  RequestBodies() : RunningLabFixture(kTwoHosts) {}

  struct Refusal {
    int status = 0;  // 200: it was not refused
    std::string why;
  };
  Refusal refusal(const std::string& method, const std::string& target, const json& body) {
    try {
      ask(method, target, body);
      return {200, ""};
    } catch (const api::ApiError& error) {
      return {error.status(), error.what()};
    } catch (const json::exception& error) {  // what the server answers with 400
      return {400, error.what()};
    }
  }
  // A body that fits, as far as types go; nothing that it names is there.
  static json fitting(const json& schema) {
    json out = json::object();
    for (const auto& [key, part] : schema["properties"].items()) {
      const std::string type = part.value("type", "");
      if (part.contains("enum"))
        out[key] = part["enum"][0];
      else if (type == "string")
        out[key] = "nobody";
      else if (type == "boolean")
        out[key] = true;
      else if (type == "array")
        out[key] = json::array({"nobody.x=1"});
      else if (type == "integer" || type == "number")
        out[key] = 1;
      else
        out[key] = "built-in";
    }
    return out;
  }
  // Values of other types.
  static std::vector<json> misfits(const json& part) {
    const std::string type = part.value("type", "");
    std::vector<json> out;
    const auto other = [&](const char* of, json value) {
      if (type != of && !(type == "number" && std::string(of) == "integer")) out.push_back(std::move(value));
    };
    if (part.contains("enum")) return {"sideways", json::array(), 5};
    if (type.empty()) return {};  // anything
    other("string", "x");
    other("boolean", true);
    other("integer", 7);
    other("array", json::array({json::object()}));
    other("object", json::object());
    if (type == "array") out.push_back(json::array({7}));
    if (type == "integer") out.push_back(1.5);
    out.push_back(nullptr);
    return out;
  }

  // Of each route: its method, its target, the schema of its body.
  std::vector<std::pair<std::string, json>> bodies() const {
    std::vector<std::pair<std::string, json>> out;
    for (const auto& [path, methods] : doc_["paths"].items())
      if (path != "/session" && methods.contains("post") && methods["post"].contains("requestBody"))
        out.emplace_back(path, methods["post"]["requestBody"]["content"]["application/json"]["schema"]);
    return out;
  }

  const json doc_ = json::parse(openapi());
};

TEST_F(RequestBodies, WhatIsNoObjectIsRefused) {
  ASSERT_GE(bodies().size(), 12u);
  for (const auto& [path, schema] : bodies())
    for (const json& body : {json(nullptr), json::array(), json("x"), json(7), json(true), json::array({json::object()})}) {
      const Refusal r = refusal("POST", path, body);
      EXPECT_EQ(r.status, 400) << path << " " << body.dump() << ": " << r.why;
      EXPECT_NE(r.why, "") << path;
    }
}

TEST_F(RequestBodies, AKeyThatIsMissingIsNamed) {
  for (const auto& [path, schema] : bodies())
    for (const json& key : schema.value("required", json::array())) {
      json body = fitting(schema);
      body.erase(key.get<std::string>());
      // Others of the body may be refused before: only what is asked for first is said.
      const Refusal r = refusal("POST", path, body);
      EXPECT_THAT(r.status, AllOf(Ge(400), Le(409))) << path << " " << body.dump();
      if (r.status == 400 && schema["required"][0] == key)
        EXPECT_THAT(r.why, HasSubstr("'" + key.get<std::string>() + "'")) << path;
    }
}

TEST_F(RequestBodies, AValueOfAnotherTypeIsRefused) {
  const json before = ask("GET", "/settings");
  for (const auto& [path, schema] : bodies())
    for (const auto& [key, part] : schema["properties"].items())
      for (const json& value : misfits(part)) {
        json body = fitting(schema);
        body[key] = value;
        const Refusal r = refusal("POST", path, body);
        EXPECT_THAT(r.status, AllOf(Ge(400), Le(409))) << path << " " << body.dump();
        EXPECT_NE(r.why, "") << path << " " << body.dump();
      }
  EXPECT_EQ(ask("GET", "/settings"), before);
  EXPECT_TRUE(ask("GET", "/faults")["faults"].empty());
  EXPECT_FALSE(ask("GET", "/lab")["held"].get<bool>());
}

TEST_F(RequestBodies, AKeyThatIsThereAndOfAnotherTypeIsToldFromOneThatIsNot) {
  EXPECT_EQ(error_of(400, "POST", "/hold", {{"on", "yes"}}), "key 'on' has a wrong type");
  EXPECT_EQ(error_of(400, "POST", "/hold", json::object()), "key 'on' is missing in the body");
  EXPECT_EQ(error_of(400, "POST", "/settings", {{"set", json::array({7})}}), "key 'set' has a wrong type");
}

TEST_F(RequestBodies, IdsThatNobodyHasAreNotFound) {
  for (const auto& [method, target] : std::vector<std::pair<std::string, std::string>>{{"GET", "/hosts/nobody"},
                                                                                        {"GET", "/agents/nobody"},
                                                                                        {"GET", "/routes/nobody"},
                                                                                        {"GET", "/settings/nobody"},
                                                                                        {"GET", "/replays/99"},
                                                                                        {"GET", "/replays/x"},
                                                                                        {"DELETE", "/replays/99"},
                                                                                        {"DELETE", "/captures/99"},
                                                                                        {"DELETE", "/captures/-1"},
                                                                                        {"DELETE", "/faults/nobody"}}) {
    const Refusal r = refusal(method, target, nullptr);
    EXPECT_EQ(r.status, 404) << method << " " << target << ": " << r.why;
  }
  EXPECT_EQ(refusal("POST", "/links", {{"link", "nobody:1"}, {"up", false}}).status, 404);
  EXPECT_EQ(refusal("POST", "/restart", {{"host", "nobody"}}).status, 404);
  EXPECT_EQ(refusal("POST", "/path", {{"from", "nobody:1"}, {"to", "h1:1"}}).status, 404);
}

}  // namespace
}  // namespace railyard::daemon
