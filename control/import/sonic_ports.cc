#include "control/import/sonic_ports.h"

#include <algorithm>

#include <fmt/format.h>

namespace railyard::importing {
namespace {

// Of "Ethernet124"; 0 without digits.
std::int64_t last_number(const std::string& name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return whole_number(std::string_view(name).substr(end == std::string::npos ? 0 : end + 1)).value_or(0);
}

bool is_up(const PortConfig& port, bool anyone_says) {
  const std::string* const status = port.row->find("admin_status");
  // Down is SONiC's default. A part of a configuration, with nothing said of any port, would then have no links.
  if (status == nullptr) return !anyone_says;
  if (*status != "up" && *status != "down") port.row->fail("admin_status", fmt::format("'{}'", *status), "up or down");
  if (*status == "down") port.row->leave("admin_status", "down: the port has no link");
  return *status == "up";
}

bool is_external(const PortConfig& port) {
  const std::string* const role = port.row->find("role");
  if (role == nullptr || *role == "Ext") return true;
  port.row->leave("role", "the port leads inside the chassis: it has no link");
  return false;
}

std::int64_t speed_of(const Row& row) {
  const std::string* const said = row.find("speed");
  if (said == nullptr) row.fail("speed", "nothing", "a speed in Mb/s, such as 100000");
  const std::optional<std::int64_t> speed = whole_number(*said);
  if (!speed || std::ranges::find(kSpeeds, *speed) == kSpeeds.end())
    row.fail("speed", fmt::format("'{}'", *said), fmt::format("one of {} (Mb/s)", fmt::join(kSpeeds, ", ")));
  return *speed;
}

void read_cables(const ConfigDb& db, std::vector<PortConfig>& ports) {
  for (const Row& row : db.table("CABLE_LENGTH"))
    for (const Row::Field& field : row.fields()) {
      const auto port = std::ranges::find(ports, field.name, &PortConfig::name);
      if (port == ports.end()) row.fail(field.name, fmt::format("the port '{}'", field.name), "a name in PORT");
      const std::string* const length = row.find(field.name);
      if (!length->ends_with('m') || whole_number(length->substr(0, length->size() - 1)).value_or(-1) < 0)
        row.fail(field.name, fmt::format("'{}'", *length), "a length in metres, such as 5m");
      if (*length == "0m")
        row.leave(field.name, "no cable: the default length is used");
      else
        port->cable = *length;
    }
}

void read_neighbours(const ConfigDb& db, std::vector<PortConfig>& ports) {
  for (const Row& row : db.table("DEVICE_NEIGHBOR")) {
    const std::string* const local = row.find("local_port");
    const auto port = std::ranges::find(ports, local != nullptr ? *local : row.key(), &PortConfig::name);
    if (port == ports.end())
      row.fail(local != nullptr ? "local_port" : "",
               fmt::format("the port '{}'", local != nullptr ? *local : row.key()), "a name in PORT");
    const std::string* const name = row.find("name");
    port->peer = name != nullptr ? *name : local != nullptr ? row.key() : "";
    row.leave("port", "interfaces of hosts are numbered");
  }
}

}  // namespace

std::vector<PortConfig> read_ports(const ConfigDb& db, const std::string& switch_name) {
  std::vector<PortConfig> ports;
  bool anyone_says = false;
  for (const Row& row : db.table("PORT")) {
    PortConfig& port = ports.emplace_back();
    port.row = &row;
    port.name = row.key();
    anyone_says = anyone_says || row.find("admin_status") != nullptr;
    port.speed = speed_of(row);
    if (const auto mtu = row.integer("mtu", 576, 9216)) port.mtu = *mtu;
  }
  if (ports.empty()) db.fail("PORT: found no ports, expected a table of ports with their speeds");
  std::ranges::stable_sort(ports, {}, [](const PortConfig& p) { return last_number(p.name); });
  read_cables(db, ports);
  read_neighbours(db, ports);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].number = static_cast<int>(i) + 1;
    ports[i].linked = is_up(ports[i], anyone_says) && is_external(ports[i]);
  }
  name_peers(ports, switch_name);
  if (std::ranges::none_of(ports, &PortConfig::linked))
    db.fail("PORT: found no port with a link, expected admin_status: up at one or more");
  return ports;
}

const PortConfig& port_named(const std::vector<PortConfig>& ports, const std::string& name, const Row& row) {
  const auto port = std::ranges::find(ports, name, &PortConfig::name);
  if (port == ports.end()) row.fail("", fmt::format("the port '{}'", name), "a name in PORT");
  return *port;
}

}  // namespace railyard::importing
