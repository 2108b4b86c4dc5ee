#include "tests/rules/include_rules.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace railyard::rules {
namespace {

using Rooms = std::set<std::string>;

// Each room with the rooms below it that it may use. tools -> control -> transports -> dataplane/base and wire,
// control -> dataplane, and within them one way only.
const std::map<std::string, Rooms>& allowed() {
  static const std::map<std::string, Rooms> table{
      {"dataplane/base", {}},
      {"dataplane/wire", {"dataplane/base"}},
      {"dataplane/graph", {}},
      {"dataplane/packet", {"dataplane/base", "dataplane/wire"}},
      {"dataplane/fault", {"dataplane/base", "dataplane/wire", "dataplane/packet"}},
      {"dataplane/device", {"dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/fault"}},
      {"dataplane/switch", {"dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device"}},
      {"dataplane/nic", {"dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device"}},
      {"dataplane/capture", {"dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device"}},
      {"dataplane/trunk", {"dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device"}},
      {"dataplane/port",
       {"dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device", "dataplane/nic",
        "dataplane/trunk"}},
      // The loop knows devices, and neither switches nor hosts.
      {"dataplane/run", {"dataplane/base", "dataplane/wire", "dataplane/graph", "dataplane/packet", "dataplane/device"}},

      // Transports also run inside other people's processes: no DPDK, no devices.
      {"transports/base", {"dataplane/base", "dataplane/wire"}},
      {"transports/collectives", {"transports/base", "dataplane/base"}},
      {"transports/roce", {"transports/base", "transports/collectives", "dataplane/base", "dataplane/wire"}},
      // Libraries for applications: engines, rings to the fabric, and who drives them.
      {"transports/application", {"dataplane/base", "dataplane/wire"}},
      {"transports/verbs",
       {"transports/application", "transports/base", "transports/roce", "dataplane/base", "dataplane/wire"}},
      {"transports/rdmacm",
       {"transports/application", "transports/base", "transports/roce", "transports/verbs", "dataplane/base",
        "dataplane/wire"}},
      {"transports/uet", {"transports/base", "transports/collectives", "dataplane/base", "dataplane/wire"}},
      {"transports/libfabric",
       {"transports/application", "transports/base", "transports/uet", "dataplane/base", "dataplane/wire"}},

      // What the other rooms of control share.
      {"control/base", {"dataplane/base"}},
      // Reading and checking a fabric file needs no packets, and so no DPDK.
      {"control/collectives", {"transports/base", "dataplane/base"}},
      {"control/jobs", {"control/base", "control/collectives", "transports/base", "dataplane/base"}},
      {"control/spec",
       {"control/base", "control/collectives", "control/jobs", "transports/base", "transports/roce", "dataplane/base", "dataplane/wire",
        "dataplane/switch/path"}},
      {"control/workload", {"control/spec", "dataplane/base"}},
      {"control/routing", {"control/spec", "dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/switch"}},
      {"control/sites", {"control/spec", "dataplane/base", "dataplane/wire", "dataplane/graph"}},
      {"control/build",
       {"control/collectives", "control/spec", "control/workload", "control/routing", "transports/base",
        "transports/collectives", "transports/libfabric", "transports/roce", "transports/uet", "transports/verbs",
        "dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device", "dataplane/switch", "dataplane/nic", "dataplane/trunk",
        "dataplane/port"}},
      {"control/probes",
       {"control/build", "control/spec", "dataplane/base", "dataplane/wire", "dataplane/device", "dataplane/nic", "dataplane/port",
        "dataplane/run"}},
      {"control/fault",
       {"control/base", "control/spec", "control/build", "dataplane/base", "dataplane/wire", "dataplane/packet",
        "dataplane/fault", "dataplane/device", "dataplane/switch", "dataplane/nic", "dataplane/run"}},
      {"control/rerouting",
       {"control/spec", "control/build", "control/routing", "transports/roce", "dataplane/base", "dataplane/wire", "dataplane/packet",
        "dataplane/device", "dataplane/switch", "dataplane/run"}},
      {"control/hosts", {"control/base", "dataplane/base", "dataplane/wire"}},
      {"control/picture", {"control/spec", "control/routing", "dataplane/base", "dataplane/wire"}},
      {"control/timeline",
       {"control/base", "control/build", "control/collectives", "control/jobs", "control/spec", "transports/base",
        "transports/collectives", "dataplane/base"}},
      {"control/report",
       {"control/base", "control/timeline", "control/collectives", "control/doctor", "control/jobs", "control/spec", "control/build", "control/fault",
        "control/routing", "control/picture", "control/probes", "control/rerouting", "control/telemetry", "control/workload", "transports/base",
        "transports/collectives", "transports/roce", "dataplane/base", "dataplane/wire", "dataplane/packet",
        "dataplane/device", "dataplane/trunk"}},
      {"control/matrix",
       {"control/collectives", "control/picture", "control/report", "control/spec", "transports/base", "dataplane/base"}},
      {"control/lint",
       {"control/collectives", "control/spec", "control/build", "control/report", "control/routing", "transports/base",
        "transports/collectives", "transports/roce", "transports/uet", "dataplane/base", "dataplane/wire",
        "dataplane/device", "dataplane/switch"}},
      {"control/structure", {"control/picture", "control/report", "control/routing", "control/spec", "dataplane/base"}},
      {"control/estimate",
       {"control/build", "control/jobs", "control/report", "control/routing", "control/spec", "transports/base",
        "dataplane/base", "dataplane/switch"}},
      {"control/blast", {"control/base", "control/picture", "control/report", "control/spec", "dataplane/base"}},
      {"control/acceptance",
       {"control/base", "control/blast", "control/estimate", "control/picture", "control/report", "control/routing", "control/spec", "control/structure", "dataplane/base"}},
      {"control/doctor", {"control/base", "control/decode", "control/spec"}},
      {"control/machine", {"control/base", "dataplane/base"}},
      {"control/tune", {"control/base", "control/report", "control/spec", "control/sweep", "transports/roce", "dataplane/base"}},
      {"control/hunt",
       {"control/base", "control/estimate", "control/report", "control/spec", "control/swarm", "control/workload", "dataplane/base"}},
      {"control/plan",
       {"control/base", "control/blast", "control/estimate", "control/jobs", "control/report", "control/spec", "dataplane/base",
        "dataplane/device", "dataplane/switch"}},
      {"control/speakers",
       {"control/hosts", "control/routing", "control/spec", "dataplane/base", "dataplane/switch", "dataplane/wire"}},
      {"control/export", {"control/speakers", "control/spec", "dataplane/base", "dataplane/wire"}},
      {"control/import", {"control/base", "control/spec"}},
      {"control/scheduler", {"dataplane/base"}},
      {"control/sweep", {"control/base", "control/report", "control/spec", "dataplane/base"}},
      {"control/compare", {"control/base", "control/report", "control/spec", "control/sweep"}},
      {"control/bench",
       {"control/acceptance", "control/base", "control/compare", "control/report", "control/routing", "control/spec",
        "control/structure", "control/sweep", "control/workload", "dataplane/base"}},
      {"control/telemetry",
       {"control/base", "control/spec", "control/build", "dataplane/base", "dataplane/packet", "dataplane/device",
        "dataplane/run", "dataplane/switch"}},
      {"control/lab",
       {"control/base", "control/spec", "control/build", "control/exposition", "control/fault", "control/probes", "control/report",
        "control/rerouting", "control/telemetry", "dataplane/base", "dataplane/wire", "dataplane/packet", "dataplane/device",
        "dataplane/nic", "dataplane/switch", "dataplane/trunk", "dataplane/port", "dataplane/capture", "dataplane/run"}},
      // A plug-in, and no part of the program.
      {"control/mpi", {"dataplane/run"}},
      {"control/decode",
       {"control/base", "transports/roce", "transports/uet", "dataplane/base", "dataplane/wire", "dataplane/port"}},
      {"control/swarm",
       {"control/base", "control/collectives", "control/spec", "control/workload", "control/build", "control/fault",
        "control/report", "control/rerouting", "control/routing", "control/scheduler", "control/telemetry", "dataplane/base",
        "dataplane/device", "dataplane/run", "dataplane/switch", "transports/roce"}},
      {"control/guest", {"control/base", "control/spec", "dataplane/base", "dataplane/wire"}},
      // What a lab and its agents say to each other: for the agent, too, which knows nothing of labs.
      {"control/agent_protocol", {"control/base", "transports/base", "dataplane/base", "dataplane/wire"}},
      {"control/agents",
       {"control/base", "control/agent_protocol", "control/collectives", "control/spec", "control/build",
        "control/report", "transports/base", "transports/collectives", "transports/roce", "dataplane/base",
        "dataplane/wire", "dataplane/device", "dataplane/nic"}},
      {"control/api", {"control/base", "dataplane/wire"}},
      {"control/exposition",
       {"control/build", "control/collectives", "control/spec", "dataplane/base", "dataplane/device", "dataplane/switch"}},
      {"control/daemon",
       {"control/base", "control/agents", "control/api", "control/build", "control/doctor", "control/exposition", "control/fault", "control/guest",
         "control/hosts", "control/lab", "control/picture", "control/probes", "control/report", "control/rerouting", "control/routing", "control/sites", "control/spec",
         "control/speakers", "control/telemetry", "transports/application", "transports/libfabric", "transports/roce",
         "transports/verbs", "dataplane/base", "dataplane/capture",
        "dataplane/device", "dataplane/nic", "dataplane/port", "dataplane/run", "dataplane/trunk", "dataplane/wire"}},
      {"control/front",
       {"control/api", "control/base", "control/daemon", "control/lab", "control/report", "control/sites", "control/spec",
        "dataplane/base", "dataplane/wire"}},
      {"tools/railyard",
       {"control/acceptance", "control/base", "control/bench", "control/api", "control/blast", "control/build", "control/collectives", "control/compare",
        "control/daemon", "control/decode", "control/doctor", "control/estimate", "control/export", "control/fault", "control/front", "control/guest", "control/hosts", "control/import", "control/lab", "control/jobs", "control/lint",
        "control/machine", "control/matrix", "control/picture", "control/plan", "control/report", "control/rerouting", "control/scheduler", "control/sites", "control/spec", "control/structure", "control/swarm", "control/sweep",
        "control/hunt", "control/telemetry", "control/timeline", "control/tune", "dataplane/base", "tools/railyardd", "tools/web"}},
      {"tools/agent",
       {"control/base", "control/agent_protocol", "transports/base", "transports/collectives", "transports/roce",
        "dataplane/base", "dataplane/wire"}},
      {"tools/railyardd", {"tools/railyard", "tools/web", "control/lab", "control/base", "control/daemon", "control/spec"}},
      {"tools/web", {"control/daemon"}},
      {"tools/softroce", {"control/base", "control/spec", "control/guest"}},
  };
  return table;
}

// Rooms that are about packets in memory may use DPDK's headers; the rest does without.
const Rooms kWithDpdk{"dataplane/packet", "dataplane/fault", "dataplane/device",  "dataplane/switch", "dataplane/nic",
                      "dataplane/trunk",  "dataplane/port",  "dataplane/capture", "dataplane/run"};

// The kinds of something that a device knows, which files name: a room in a room, for those who do not know the device.
const Rooms kInner{"dataplane/switch/path"};

// Of a file in one; else "".
std::string inner_room_of(const std::string& path) {
  for (const std::string& room : kInner)
    if (path.starts_with(room + "/")) return room;
  return "";
}

std::string room_of(const std::string& path) {
  const std::size_t first = path.find('/');
  return path.substr(0, first == path.npos ? path.npos : path.find('/', first + 1));
}

std::string names(const Rooms& rooms) {
  return rooms.empty() ? "nothing of ours" : fmt::format("{}", fmt::join(rooms, ", "));
}

void check(const std::string& where, const std::string& from, bool quoted, const std::string& header,
           std::vector<std::string>& out) {
  if (!quoted) {
    if (header.starts_with("rte_") && !kWithDpdk.contains(from))
      out.push_back(fmt::format("{}: {} must not include <{}>: it does without DPDK", where, from, header));
    return;
  }
  if (header.find('/') == header.npos) return;  // generated, in the room's own build folder
  const std::string to = room_of(header);
  if (to == from) return;
  const Rooms& rooms = allowed().at(from);
  if (!rooms.contains(to) && !rooms.contains(inner_room_of(header)))
    out.push_back(fmt::format("{}: {} must not include {}; it may use {}", where, from, header, names(rooms)));
}

}  // namespace

std::vector<std::string> include_violations(const std::vector<SourceFile>& sources) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<std::string> out;
  for (const SourceFile& file : sources) {
    const std::string from = room_of(file.path);
    if (!allowed().contains(from)) {
      out.push_back(fmt::format("{}: the room {} is new; say in tests/rules/include_rules.cc what it may include",
                                file.path, from));
      continue;
    }
    std::istringstream lines(file.text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
      if (std::smatch m; std::regex_search(line, m, kInclude))
        check(fmt::format("{}:{}", file.path, number), from, m[1] == "\"", m[2], out);
  }
  return out;
}

}  // namespace railyard::rules
