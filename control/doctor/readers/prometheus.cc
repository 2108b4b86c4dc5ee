// Answers of Prometheus' HTTP API (/api/v1/query): Railyard's own metrics, and node_exporter's of NICs (its collectors
// ethtool and infiniband).
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "control/doctor/readers/gathered.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

using Labels = nlohmann::json;

std::string label(const Labels& labels, const char* name) {
  const auto found = labels.find(name);
  return found != labels.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The last value of a sample; of a range its growth. Counters are text there.
std::uint64_t value_of(const nlohmann::json& sample, const std::string& file) {
  const auto number = [&](const nlohmann::json& point) {
    if (!point.is_array() || point.size() != 2 || !point[1].is_string())
      throw InputError(fmt::format("{}: a sample without a value; expected [time, \"value\"]", file));
    return std::strtod(point[1].get<std::string>().c_str(), nullptr);
  };
  double n = 0;
  if (const auto values = sample.find("values"); values != sample.end() && !values->empty())
    n = number(values->back()) - (values->size() > 1 ? number(values->front()) : 0);
  else if (const auto value = sample.find("value"); value != sample.end())
    n = number(*value);
  return std::isfinite(n) && n > 0 ? static_cast<std::uint64_t>(n) : 0;
}

double seconds_of(const nlohmann::json& sample) {
  const auto value = sample.find("value");
  return value != sample.end() && value->is_array() && value->size() == 2 && (*value)[1].is_string()
             ? std::strtod((*value)[1].get<std::string>().c_str(), nullptr)
             : 0;
}

bool add_class(const std::string& name, const Labels& labels, std::uint64_t n, const nlohmann::json& sample,
               Gathered::Port& port, int k) {
  auto& c = port.classes[k];
  if (name == "railyard_received_packets_total") c["rx"]["packets"] = n;
  else if (name == "railyard_sent_packets_total") c["tx"]["packets"] = n;
  else if (name == "railyard_ecn_marked_packets_total") c["ecn_marked"] = n;
  else if (name == "railyard_trimmed_packets_total") c["trimmed"] = n;
  else if (name == "railyard_queue_depth_max_bytes") c["max_depth_bytes"] = n;
  else if (name == "railyard_pfc_watchdog_storms_total") c["storms_detected"] = n;
  else if (name == "railyard_pfc_pause_seconds_total") c["paused_ns"] = seconds_of(sample) * 1e9;
  else if (name == "railyard_pfc_frames_total") {
    const std::string direction = label(labels, "direction"), kind = label(labels, "kind");
    if (direction == "sent" && kind == "xoff") c["xoff_sent"] = n;
    if (direction == "received") {
      if (kind == "xoff") c["xoff_received"] = n;
      c["pfc_received"] = (c.contains("pfc_received") ? c["pfc_received"].get<std::uint64_t>() : 0) + n;
    }
  } else if (name == "railyard_drops_total") port.class_drops[k][label(labels, "reason")] += n;
  else return false;
  return true;
}

void add_own(const std::string& name, const Labels& labels, const nlohmann::json& sample, const std::string& file,
             Gathered& to) {
  const bool is_switch = labels.contains("switch");
  const std::string node = label(labels, is_switch ? "switch" : "host");
  if (node.empty() || !labels.contains("port")) return;
  Gathered::Port& port = to.port(node, label(labels, "port"), is_switch);
  const std::uint64_t n = value_of(sample, file);
  const std::string k = label(labels, "class");
  if (k.empty() && name == "railyard_drops_total")
    port.drops[label(labels, "reason")] += n;
  else if (k.size() != 1 || k[0] < '0' || k[0] > '7' || !add_class(name, labels, n, sample, port, k[0] - '0'))
    return;
  if (name == "railyard_queue_depth_max_bytes") to.add_input(Input::kDepths);
  to.add_input(Input::kPorts);
  to.took();
}

// "node_ethtool_received_prio3_pause" is ethtool's rx_prio3_pause.
std::string own_name(std::string name, std::string_view prefix) {
  name = name.substr(prefix.size());
  if (name.ends_with("_total")) name.resize(name.size() - 6);
  if (name.starts_with("received_")) name = "rx_" + name.substr(9);
  if (name.starts_with("transmitted_")) name = "tx_" + name.substr(12);
  return name;
}

}  // namespace

void read_prometheus(const nlohmann::json& answer, const std::string& file, Gathered& to) {
  const auto result = answer["data"].find("result");
  if (result == answer["data"].end() || !result->is_array())
    throw InputError(fmt::format("{}: no data.result; expected an answer of /api/v1/query", file));
  const bool is_range = answer["data"].value("resultType", "") == "matrix";
  to.add_since(is_range ? "Prometheus: growth within the range of the query."
                        : "Prometheus: since the start of each device or exporter. A range (/api/v1/query_range) gives what is new.");
  for (const auto& sample : *result) {
    if (!sample.is_object() || !sample.contains("metric") || !sample["metric"].is_object())
      throw InputError(fmt::format("{}: a result without 'metric'; expected a vector or a matrix", file));
    const Labels& labels = sample["metric"];
    const std::string name = label(labels, "__name__");
    if (name.starts_with("railyard_")) {
      add_own(name, labels, sample, file, to);
      continue;
    }
    for (const std::string_view prefix : {"node_ethtool_", "node_infiniband_"})
      if (name.starts_with(prefix)) {
        const std::string instance = label(labels, "instance");
        add_nic_counter(instance.substr(0, instance.find(':')), label(labels, "device"), own_name(name, prefix),
                        value_of(sample, file), to);
      }
  }
}

}  // namespace railyard::doctor
