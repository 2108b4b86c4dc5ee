// Counters as rules read them: of a report, or of what real switches and hosts export. Each port stands beside the other
// end of its link.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::doctor {

using Drops = std::map<std::string, std::uint64_t>;  // by reason

struct ClassCase {
  std::uint64_t rx = 0, tx = 0;  // packets
  std::uint64_t marked = 0;      // CE, at egress
  std::uint64_t trimmed = 0;     // at egress
  std::uint64_t xoff_sent = 0, xoff_received = 0;
  std::uint64_t pfc_received = 0;     // XOFF and XON
  std::uint64_t pfc_not_enabled = 0;  // PFC frames for a class that does not obey them
  double pause_share = 0;             // of the load interval
  std::uint64_t paused_ns = 0;
  std::uint64_t deepest = 0;                 // octets
  std::uint64_t headroom_cells = 0;          // the most that were used
  std::optional<std::int64_t> first_ce{};    // ns
  std::optional<std::int64_t> first_xoff{};  // ns
  std::uint64_t storms = 0;                  // that the PFC watchdog has seen
  Drops drops;

  std::uint64_t dropped(const std::string& reason) const;
};

struct PortCase {
  std::string node;
  int number = 0;
  std::string label{};  // the device's own name for it, "Ethernet0"; empty: its number
  std::string peer;  // "h1:1"; empty: not known
  bool is_switch = false;
  double rate_bps = 0;
  double slot_bps = 0;        // of a NIC: what its PCI Express slot carries; 0: as much as its link, or not known
  double propagation_ns = 0;  // of its link, one way; 0: not known
  double utilisation = 0;  // of the sending direction
  std::uint64_t link_downs = 0;
  std::uint64_t received = 0;  // good frames of all classes together, where a device counts them; else 0
  std::uint64_t busy = 0, slow = 0;  // intervals with frames that wait, and those in which it did not send as it could
  double slow_bps = 0;               // in the slow ones
  std::array<ClassCase, 8> classes{};
  Drops drops;                      // of no class
  const PortCase* other = nullptr;  // the other end; null: its counters are not known

  std::string name() const;       // "leaf1:3", "tor1:Ethernet0"
  std::string peer_node() const;  // "h3"
  std::string link() const;       // "leaf1:3-h3:1", the switch first
  std::string direction() const;  // "leaf1:3 -> h3:1"
  std::uint64_t rx() const;       // packets of all classes, or `received` if that is more
  std::uint64_t tx() const;
  std::uint64_t marked() const;
  std::uint64_t deepest() const;                           // of its queues, octets
  std::uint64_t dropped(const std::string& reason) const;  // of all classes and of none
  bool is_of_host() const { return is_switch && other != nullptr && !other->is_switch; }  // a switch port to a host
};

// RDMA counters of a host's NICs under the names that hardware has (mlx5): "np_cnp_sent", "out_of_sequence", ...
struct NicCase {
  std::string node;
  std::map<std::string, std::uint64_t> counters;

  std::uint64_t of(const std::string& counter) const;
  bool has(const std::string& counter) const { return counters.contains(counter); }
};

// What counters there are. A rule that needs others is not asked.
enum class Input : std::uint8_t {
  kLinks,      // both ends of links
  kPorts,      // PFC, marks and drops by port and class
  kPolls,      // link failures, and intervals in which frames waited
  kDepths,     // of queues, and what came first
  kFlows,      // packets, goodput and latencies of each
  kNics,       // RDMA counters of hosts
  kJobs,       // collectives and jobs
  kRouting,    // equal paths, reactions to failures
  kDeadlocks,  // circles of queues that wait
  kEngine,     // of the emulator
  kInt,        // in-band telemetry: hops of sampled packets
  kProbes,     // rounds of probes between NICs
  kPlan,       // where each link should be
  kPackets,    // of a capture: who asked, who answered; the last one, which no report has
};
// What few have: nobody is told that it is missing.
constexpr bool is_extra(Input input) { return input >= Input::kInt; }
const char* words(Input input);  // "both ends of links"

class Case {
 public:
  // A report as `railyard run --json` prints it. Throws InputError naming `file`: it is none, or of another version.
  Case(nlohmann::ordered_json report, const std::string& file);
  // The same of one that is there, with its ports apart: `report` has an empty list of them.
  Case(nlohmann::ordered_json report, std::vector<PortCase> ports, const std::string& file);
  // What readers of other counters made of them: `report` has the sections that there are.
  Case(nlohmann::ordered_json report, std::set<Input> inputs, const std::string& name);
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  bool has(Input input) const { return inputs_.contains(input); }
  const std::vector<PortCase>& ports() const noexcept { return ports_; }
  const std::vector<NicCase>& nics() const noexcept { return nics_; }
  const nlohmann::ordered_json& flows() const { return section("flows"); }
  const nlohmann::ordered_json& collectives() const { return section("collectives"); }
  const nlohmann::ordered_json& path_groups() const { return section("path_groups"); }
  const nlohmann::ordered_json& deadlocks() const { return section("deadlocks"); }
  const nlohmann::ordered_json& reroutings() const { return section("reroutings"); }
  const nlohmann::ordered_json& uet_nics() const { return section("uet_nics"); }
  const nlohmann::ordered_json& attachments() const { return section("attachments"); }
  const nlohmann::ordered_json& conversations() const { return section("conversations"); }
  const nlohmann::ordered_json& engine() const { return section("engine"); }
  const nlohmann::ordered_json& in_band() const { return section("int"); }
  const nlohmann::ordered_json& probes() const { return section("probes"); }
  // The links of the plan: `a`, `b` (ports), `a_is_host`, `b_is_host`, `rate_bps`.
  const nlohmann::ordered_json& plan() const { return section("plan"); }
  const std::string& name() const noexcept { return name_; }
  // Since when counters of real devices count, a sentence for each kind: "ethtool: since ...".
  std::vector<std::string> since() const;
  double run_ns() const;  // simulated time; 0: not known
  double load_ns() const;  // the load interval; 0: not known

  const PortCase* port(const std::string& name) const;  // "leaf1:3"; null: none
  // The switch port in front of a host's NIC, "h3" (its first) or "h3:1"; null: not known.
  const PortCase* before(const std::string& host) const;

  // Packets that one end has sent and the other has not received.
  static std::uint64_t missing(const PortCase& sender);

 private:
  void note_inputs(const std::string& file);
  void read(const std::string& file);
  const nlohmann::ordered_json& section(const char* key) const;

  nlohmann::ordered_json report_;
  std::set<Input> inputs_;
  std::vector<PortCase> ports_;
  std::unordered_map<std::string, const PortCase*> by_name_;
  std::vector<NicCase> nics_;
  std::string name_;
};

}  // namespace railyard::doctor
