// Counters of SONiC switches: COUNTERS_DB (`sonic-db-dump -n COUNTERS_DB -y`), `show interfaces counters -j`, `show pfc
// counters`. Names: SAI, saiport.h, saiqueue.h, saibuffer.h.
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "control/doctor/readers/gathered.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

// "1,234": a count; nothing: it is none ("N/A", "0.00/s").
std::optional<std::uint64_t> count_of(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  std::string text;
  for (const char c : value.get<std::string>())
    if (c != ',') text += c;
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

constexpr const char* kSince = "SONiC: since the start of the switch, or since `sonic-clear counters`. Read them twice to see what is new.";

void took(Gathered& to) {
  to.add_input(Input::kPorts);
  to.took();
}

// SAI_PORT_STAT_PFC_3_RX_PKTS
bool add_pfc(const std::string& stat, std::uint64_t n, Gathered::Port& port) {
  constexpr std::string_view kBefore = "SAI_PORT_STAT_PFC_";
  if (!stat.starts_with(kBefore) || stat.size() < kBefore.size() + 2) return false;
  const int k = stat[kBefore.size()] - '0';
  const std::string what = stat.substr(kBefore.size() + 1);
  if (k < 0 || k > 7) return false;
  auto& c = port.classes[k];
  if (what == "_RX_PKTS") c["xoff_received"] = n, c["pfc_received"] = n;
  else if (what == "_TX_PKTS") c["xoff_sent"] = n;
  else if (what == "_RX_PAUSE_DURATION") c["paused_ns"] = n * 1000;
  else return false;
  return true;
}

bool add_port_stat(const std::string& stat, std::uint64_t n, Gathered::Port& port) {
  if (add_pfc(stat, n, port)) return true;
  constexpr std::pair<std::string_view, const char*> kDrops[] = {
      {"SAI_PORT_STAT_IF_IN_ERRORS", "fcs_error"},
      {"SAI_PORT_STAT_ETHER_RX_OVERSIZE_PKTS", "giant"},
      {"SAI_PORT_STAT_ETHER_STATS_UNDERSIZE_PKTS", "too_short"},
      {"SAI_PORT_STAT_IF_OUT_DISCARDS", "egress_full"}};
  if (stat == "SAI_PORT_STAT_IF_IN_UCAST_PKTS" || stat == "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS") {
    port.values["received"] = port.values.value("received", std::uint64_t{0}) + n;
    return false;  // none that a rule looks at by itself
  }
  for (const auto& [name, reason] : kDrops)
    if (stat == name) {
      port.drops[reason] += n;
      return true;
    }
  return false;
}

bool add_queue_stat(const std::string& stat, std::uint64_t n, Gathered::Port& port, int k, Gathered& to) {
  auto& c = port.classes[k];
  if (stat == "SAI_QUEUE_STAT_PACKETS") c["tx"]["packets"] = n;
  else if (stat == "SAI_QUEUE_STAT_DROPPED_PACKETS") port.class_drops[k]["egress_full"] += n;
  else if (stat == "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS") c["ecn_marked"] = n;
  else if (stat == "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES") c["max_depth_bytes"] = n, to.add_input(Input::kDepths);
  else if (stat == "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED") c["storms_detected"] = n;
  else if (stat == "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS") port.class_drops[k]["headroom_full"] += n;
  else return false;
  return true;
}

// {"Ethernet0": "oid:0x1000000000002"}, whether the dump has types ({"type": "hash", "value": {...}}) or not.
const nlohmann::json& fields_of(const nlohmann::json& entry) {
  const auto value = entry.find("value");
  return value != entry.end() && value->is_object() ? *value : entry;
}

std::map<std::string, std::string> names_by_oid(const nlohmann::json& dump, const char* map) {
  std::map<std::string, std::string> out;
  if (const auto found = dump.find(map); found != dump.end() && found->is_object())
    for (const auto& [name, oid] : fields_of(*found).items())
      if (oid.is_string()) out[oid.get<std::string>()] = name;
  return out;
}

void read_database(const nlohmann::json& dump, const std::string& node, Gathered& to) {
  const auto ports = names_by_oid(dump, "COUNTERS_PORT_NAME_MAP");
  auto queues = names_by_oid(dump, "COUNTERS_QUEUE_NAME_MAP");
  queues.merge(names_by_oid(dump, "COUNTERS_PG_NAME_MAP"));
  for (const auto& [key, entry] : dump.items()) {
    if (!key.starts_with("COUNTERS:") || !entry.is_object()) continue;
    const std::string oid = key.substr(9);
    const auto port = ports.find(oid);
    const auto queue = queues.find(oid);
    if (port == ports.end() && queue == queues.end()) continue;
    const std::string& name = port != ports.end() ? port->second : queue->second;  // "Ethernet0:3"
    const std::size_t colon = name.rfind(':');
    const int k = colon == std::string::npos || colon + 2 != name.size() ? -1 : name[colon + 1] - '0';
    if (port == ports.end() && (k < 0 || k > 7)) continue;
    Gathered::Port& at = to.port(node, name.substr(0, colon), true);
    for (const auto& [stat, value] : fields_of(entry).items())
      if (const auto n = count_of(value))
        if (port != ports.end() ? add_port_stat(stat, *n, at) : add_queue_stat(stat, *n, at, k, to)) took(to);
  }
}

// {"Ethernet0": {"STATE": "U", "RX_OK": "1,234", "RX_ERR": "0", "RX_DRP": "0", ...}}
void read_interfaces(const nlohmann::json& table, const std::string& node, Gathered& to) {
  for (const auto& [name, row] : table.items()) {
    if (!row.is_object() || !row.contains("RX_OK")) continue;
    Gathered::Port& port = to.port(node, name, true);
    if (const auto n = count_of(row["RX_OK"])) port.values["received"] = *n;
    for (const auto& [column, reason] : {std::pair{"RX_ERR", "fcs_error"}, {"TX_DRP", "egress_full"}, {"RX_DRP", "ingress_full"}})
      if (const auto found = row.find(column); found != row.end())
        if (const auto n = count_of(*found)) port.drops[reason] += *n;
    took(to);
  }
}

}  // namespace

void read_sonic(const nlohmann::json& dump, const std::string& node, const std::string& file, Gathered& to) {
  to.add_since(kSince);
  if (dump.contains("COUNTERS_PORT_NAME_MAP") || dump.contains("COUNTERS_QUEUE_NAME_MAP"))
    read_database(dump, node, to);
  else if (dump.contains("run") && dump.contains("flows"))
    throw InputError(fmt::format("{}: a report of Railyard; expected counters of others (`railyard doctor {}` reads it)", file,
                                 file));
  else
    read_interfaces(dump, node, to);
}

// Two tables, "Port Rx" and "Port Tx", with a column for each priority.
void read_sonic_pfc(const std::string& text, const std::string& node, const std::string& file, Gathered& to) {
  to.add_since(kSince);
  std::istringstream lines(text);
  bool receives = true;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string word; words >> word;) cells.push_back(word);
    if (cells.size() >= 2 && cells[0] == "Port") {
      receives = cells[1] == "Rx";
      continue;
    }
    if (cells.size() < 9 || cells[0].starts_with("-")) continue;
    Gathered::Port& port = to.port(node, cells[0], true);
    for (std::size_t k = 0; k < 8; ++k) {
      const auto n = count_of(cells[k + 1]);
      if (!n) throw InputError(fmt::format("{}:{}: '{}' is no count", file, number, cells[k + 1]));
      auto& c = port.classes[static_cast<int>(k)];
      if (receives) c["xoff_received"] = *n, c["pfc_received"] = *n;
      else c["xoff_sent"] = *n;
    }
    took(to);
  }
}

}  // namespace railyard::doctor
