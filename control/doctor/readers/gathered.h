// Counters of real switches and hosts, gathered from files into the form that a Case reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/doctor/case.h"

namespace railyard::doctor {

class Gathered {
 public:
  struct Port {
    bool is_switch = false;
    nlohmann::ordered_json values = nlohmann::ordered_json::object();                  // of the port, keys as in report.json
    std::map<int, nlohmann::ordered_json> classes{};                                   // ... of its classes
    std::map<std::string, std::uint64_t> drops{};                                      // of no class
    std::map<int, std::map<std::string, std::uint64_t>> class_drops{};
  };

  // A port of a device by the device's name for it ("Ethernet0", "1"); made when it is asked for first.
  Port& port(const std::string& node, const std::string& name, bool is_switch);
  // RDMA counters of a host, by their names in hardware.
  std::map<std::string, std::uint64_t>& nic(const std::string& node) { return nics_[node]; }
  void add_input(Input input) { inputs_.insert(input); }
  // Since when counters of one kind count, for people: "ethtool: since ...".
  void add_since(const std::string& text) { since_.insert(text); }
  // Of a capture (conversations.h).
  void set_conversations(nlohmann::ordered_json conversations) {
    conversations_ = std::move(conversations);
    add_input(Input::kPackets);
  }
  // Counters that were read, and those whose names no reader knows.
  void took() { ++taken_; }
  std::uint64_t taken() const noexcept { return taken_; }

  // What rules read.
  std::unique_ptr<Case> make_case(const std::string& name) const;

 private:
  std::map<std::pair<std::string, std::string>, Port> ports_;
  std::map<std::string, std::map<std::string, std::uint64_t>> nics_;
  nlohmann::ordered_json conversations_ = nlohmann::ordered_json::object();
  std::set<Input> inputs_;
  std::set<std::string> since_;
  std::uint64_t taken_ = 0;
};

// Each reads one file's text. `node`: the device, where the file does not say. Throw InputError naming `file`.
void read_prometheus(const nlohmann::json& answer, const std::string& file, Gathered& to);
void read_ethtool(const std::string& text, const std::string& node, const std::string& file, Gathered& to);
void read_sonic(const nlohmann::json& dump, const std::string& node, const std::string& file, Gathered& to);
void read_sonic_pfc(const std::string& text, const std::string& node, const std::string& file, Gathered& to);

// Adds a counter of a host's NIC as `ethtool -S` and the RDMA counters of Linux name it (mlx5: "rx_prio3_pause",
// "rx_crc_errors_phy", "out_of_sequence"). Returns whether the name is known.
bool add_nic_counter(const std::string& node, const std::string& port, const std::string& name, std::uint64_t value,
                     Gathered& to);

// Files of counters: an answer of Prometheus' query API, `ethtool -S`, SONiC's COUNTERS_DB, `show interfaces counters -j`
// or `show pfc counters`. What a file is follows from its text; a device that it does not name is called like the file.
// Throws InputError: a file cannot be read, is none of these, or has no counter that is known.
std::unique_ptr<Case> read_counters(const std::vector<std::string>& files);

}  // namespace railyard::doctor
