// The counters of a report as rules read them: each port beside the other end of its link.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::doctor {

using Drops = std::map<std::string, std::uint64_t>;  // by reason

struct ClassCase {
  std::uint64_t rx = 0, tx = 0;  // packets
  std::uint64_t marked = 0;      // CE, at egress
  std::uint64_t xoff_sent = 0, xoff_received = 0;
  std::uint64_t pfc_received = 0;     // XOFF and XON
  std::uint64_t pfc_not_enabled = 0;  // PFC frames for a class that does not obey them
  double pause_share = 0;             // of the load interval
  std::uint64_t paused_ns = 0;
  std::uint64_t deepest = 0;  // octets
  Drops drops;

  std::uint64_t dropped(const std::string& reason) const;
};

struct PortCase {
  std::string node;
  int number = 0;
  std::string peer;  // "h1:1"
  bool is_switch = false;
  double utilisation = 0;  // of the sending direction
  std::array<ClassCase, 8> classes{};
  Drops drops;                      // of no class
  const PortCase* other = nullptr;  // the other end; null: not in the report

  std::string name() const;       // "leaf1:3"
  std::string link() const;       // "leaf1:3-h3:1", the switch first
  std::string direction() const;  // "leaf1:3 -> h3:1"
  std::uint64_t rx() const;       // packets of all classes
  std::uint64_t tx() const;
  std::uint64_t dropped(const std::string& reason) const;  // of all classes and of none
};

class Case {
 public:
  // A report as `railyard run --json` prints it. Throws InputError naming `file`: it is none, or of another version.
  Case(nlohmann::ordered_json report, const std::string& file);
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  const std::vector<PortCase>& ports() const noexcept { return ports_; }
  const nlohmann::ordered_json& flows() const { return report_["flows"]; }
  const nlohmann::ordered_json& collectives() const { return report_["collectives"]; }
  const nlohmann::ordered_json& path_groups() const { return report_["path_groups"]; }
  const nlohmann::ordered_json& deadlocks() const { return report_["deadlocks"]; }
  const nlohmann::ordered_json& engine() const { return report_["engine"]; }
  const std::string& name() const noexcept { return name_; }

  // Packets that one end has sent and the other has not received.
  static std::uint64_t missing(const PortCase& sender);

 private:
  nlohmann::ordered_json report_;
  std::vector<PortCase> ports_;
  std::string name_;
};

}  // namespace railyard::doctor
