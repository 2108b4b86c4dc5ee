#include "control/import/sonic_switch.h"

#include <fmt/format.h>

#include "control/import/most_common.h"

namespace railyard::importing {
namespace {

constexpr std::int64_t kMostMilliseconds = 60'000;  // of the watchdog of a fabric file
constexpr std::int64_t kPollOfSonic = 100;          // without POLL_INTERVAL
const char* const kOneWatchdog = "not as at most ports; a switch has one watchdog";

void read_metadata(const ConfigDb& db, SwitchConfig& into) {
  into.hostname = "sonic";
  if (const Row* const row = db.find("DEVICE_METADATA", "localhost")) {
    if (const std::string* name = row->find("hostname"); name != nullptr && !node_name(*name).empty())
      into.hostname = *name;
    if (const std::string* model = row->find("hwsku")) into.model = *model;
  }
  into.name = node_name(into.hostname);
}

void read_watchdog(const ConfigDb& db, SwitchConfig& into) {
  into.watchdog_poll = kPollOfSonic;
  if (const Row* const global = db.find("PFC_WD", "GLOBAL"))
    into.watchdog_poll = global->integer("POLL_INTERVAL", 1, kMostMilliseconds).value_or(kPollOfSonic);
  std::vector<std::optional<WatchdogConfig>> of_port(into.ports.size());
  std::vector<const Row*> rows(into.ports.size());
  for (const Row& row : db.table("PFC_WD")) {
    if (row.key() == "GLOBAL") continue;
    WatchdogConfig w;
    const auto detect = row.integer("detection_time", into.watchdog_poll, kMostMilliseconds);
    const auto restore = row.integer("restoration_time", into.watchdog_poll, kMostMilliseconds);
    const std::string* const action = row.find("action");
    if (!detect) continue;  // a setting of something else
    w.detect = *detect;
    w.restore = restore.value_or(*detect);
    w.action = action != nullptr ? *action : "drop";
    if (w.action != "drop" && w.action != "forward" && w.action != "alert")
      row.fail("action", fmt::format("'{}'", w.action), "drop, forward or alert");
    for (const std::string& name : split(row.key())) {
      const auto i = static_cast<std::size_t>(port_named(into.ports, name, row).number - 1);
      of_port[i] = w;
      rows[i] = &row;
    }
  }
  std::vector<std::optional<WatchdogConfig>> of_lossless;  // linked ports with PFC
  for (std::size_t i = 0; i < into.ports.size(); ++i) {
    bool pauses = false;
    for (const bool on : into.maps.has_pfc[i]) pauses = pauses || on;
    if (into.ports[i].linked && pauses) of_lossless.push_back(of_port[i]);
  }
  if (!of_lossless.empty()) into.watchdog = most_common(of_lossless);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != nullptr && into.ports[i].linked && of_port[i] != into.watchdog)
      for (const char* field : {"detection_time", "restoration_time", "action"}) rows[i]->leave(field, kOneWatchdog);
}

void read_trimming(const ConfigDb& db, SwitchConfig& into) {
  const Row* const row = db.find("SWITCH_TRIMMING", "GLOBAL");
  bool asked = false;
  for (const auto& queue : into.buffers.queues) asked = asked || (queue && queue->trims);
  if (row == nullptr) {
    if (asked)
      db.fail(
          "SWITCH_TRIMMING|GLOBAL: found nothing, expected size, dscp_value and queue_index, since queues trim "
          "(BUFFER_PROFILE: packet_discard_action)");
    return;
  }
  TrimmingConfig out;
  const std::string* const dscp = row->find("dscp_value");
  const std::string* const queue = row->find("queue_index");
  const auto size = row->integer("size", 96, 9238);  // what a fabric file allows
  const auto tc = row->integer("tc_value", 0, 7);
  if (!size || dscp == nullptr) row->fail(!size ? "size" : "dscp_value", "nothing", "a value");
  out.size = *size;
  if (*dscp == "from-tc") {
    if (!tc) row->fail("tc_value", "nothing", "a TC, since dscp_value is from-tc");
    const auto mapped = into.maps.dscp_of_tc.find(static_cast<int>(*tc));
    if (mapped == into.maps.dscp_of_tc.end())
      row->fail("tc_value", fmt::format("{}, which the tc_to_dscp_map of most ports does not have", *tc),
                "a TC that it has");
    out.dscp = mapped->second;
  } else {
    out.dscp = static_cast<int>(row->integer("dscp_value", 0, 63).value_or(0));
  }
  out.to_class = queue == nullptr || *queue == "dynamic"
                     ? into.maps.class_of_dscp[static_cast<std::size_t>(out.dscp)]
                     : static_cast<int>(row->integer("queue_index", 0, 7).value_or(0));
  if (!asked)
    for (const Row::Field& field : row->fields())
      row->leave(field.name, "no queue trims (BUFFER_PROFILE: packet_discard_action)");
  if (asked) into.trimming = out;
}

}  // namespace

SwitchConfig read_switch(const ConfigDb& db, const PgProfileLookup& lookup) {
  SwitchConfig out;
  read_metadata(db, out);
  out.ports = read_ports(db, out.name);
  out.maps = read_maps(db, out.ports);
  out.buffers = read_buffers(db, out.ports, out.maps, lookup);
  out.queues = read_queues(db, out.ports);
  read_watchdog(db, out);
  read_trimming(db, out);
  return out;
}

}  // namespace railyard::importing
