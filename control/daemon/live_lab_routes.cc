// Forwarding tables of a lab that is up.
#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/daemon/live_lab.h"
#include "control/rerouting/flow_key.h"
#include "control/rerouting/tables.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

int number(const json& body, const char* key, int least, int most, int without) {
  if (!body.contains(key)) return without;
  const json& value = body.at(key);
  if (!value.is_number_integer() || value < least || value > most)
    throw ApiError(400, fmt::format("key '{}': expected an integer from {} to {}", key, least, most));
  return value.get<int>();
}

spec::PortName nic(const spec::Lab& lab, const json& body, const char* key) {
  if (!body.is_object() || !body.contains(key) || !body.at(key).is_string())
    throw ApiError(400,
                   fmt::format("key '{}' is missing in the body, or is no text; expected a NIC such as h1:1", key));
  const auto text = body.at(key).get<std::string>();
  const auto name = spec::parse_port_name(text);
  if (!name) throw ApiError(400, fmt::format("key '{}': {}", key, name.error()));
  const spec::NodeSpec* node = lab.find(name->node);
  if (node == nullptr || static_cast<std::size_t>(name->port) > node->nics.size())
    throw ApiError(404, fmt::format("there is no NIC '{}'", text));
  return *name;
}

}  // namespace

json LiveLab::routes(const std::string& node) {
  const spec::NodeSpec* known = session_.lab().spec().find(node);
  if (!node.empty() && (known == nullptr || known->kind != spec::NodeSpec::Kind::kSwitch))
    throw ApiError(404, fmt::format("there is no switch '{}'", node));
  const auto out = std::make_shared<json>();
  wait(ask("", [out, node, this](Engine& engine, Instant) {
    engine.settle(engine.reached());
    *out =
        rerouting::routes_json(session_.lab(), session_.routing(), node.empty() ? std::nullopt : std::optional(node));
  }));
  return *out;
}

json LiveLab::outages() {
  const auto out = std::make_shared<rerouting::RouteUpdates::Outages>();
  wait(ask("", [out, this](Engine&, Instant) { *out = session_.routing().outages(); }));
  json down = json::array();
  for (const spec::PortName& port : out->down) down.push_back(spec::format(port));
  return {{"down", std::move(down)}, {"drained", out->drained}};
}

json LiveLab::set_outages_elsewhere(const json& body) {
  rerouting::RouteUpdates::Outages outages;
  try {
    for (const auto& text : body.at("down").get<std::vector<std::string>>()) {
      const auto port = spec::parse_port_name(text);
      if (!port) throw ApiError(400, fmt::format("key 'down': {}", port.error()));
      outages.down.push_back(*port);
    }
    outages.drained = body.at("drained").get<std::vector<std::string>>();
  } catch (const json::exception&) {
    throw ApiError(400, "expected the lists 'down' (ports) and 'drained' (switches)");
  }
  const Instant at = wait(ask("", [outages, this](Engine& engine, Instant now) {
    session_.routing().set_outages_elsewhere(now, outages);
    engine.wake_all();
  }));
  return {{"effective_seconds", seconds(at - Instant{})}};
}

// The key of a built-in flow, by its name.
json LiveLab::path_of_flow(const std::string& name) {
  const auto& flows = session_.lab().flows();
  const auto flow = std::ranges::find_if(flows, [&](const build::Flow& f) { return f.plan.name == name; });
  if (flow == flows.end()) throw ApiError(404, fmt::format("there is no built-in flow '{}'", name));
  const auto out = std::make_shared<json>();
  wait(ask("", [out, &flow = *flow, this](Engine& engine, Instant) {
    engine.settle(engine.reached());
    *out = rerouting::path_json(session_.lab(), rerouting::key_of(session_.lab(), flow));
  }));
  (*out)["name"] = name;
  return *out;
}

json LiveLab::path(const json& body) {
  if (body.is_object() && body.contains("flow")) {
    if (!body["flow"].is_string()) throw ApiError(400, "key 'flow': expected the name of a built-in flow");
    return path_of_flow(body["flow"].get<std::string>());
  }
  rerouting::FlowKey key;
  key.from = nic(session_.lab().spec(), body, "from");
  key.to = nic(session_.lab().spec(), body, "to");
  key.ip_version = number(body, "ip", 4, 6, 4) == 6 ? 6 : 4;
  key.dscp = number(body, "dscp", 0, 63, key.dscp);
  key.source_port = number(body, "source_port", 0, 65535, key.source_port);
  key.destination_qp = number(body, "destination_qp", 0, 0xFFFFFF, key.destination_qp);
  if (body.contains("entropy")) key.entropy = number(body, "entropy", 0, 65535, 0);
  const auto out = std::make_shared<json>();
  const auto error = std::make_shared<std::string>();
  wait(ask("", [out, error, key, this](Engine& engine, Instant) {
    engine.settle(engine.reached());
    try {
      *out = rerouting::path_json(session_.lab(), key);
    } catch (const spec::SpecError& e) {
      *error = e.what();
    }
  }));
  if (!error->empty()) throw ApiError(400, *error);
  return *out;
}

}  // namespace railyard::daemon
