// `ethtool -S`, and RDMA counters of Linux (/sys/class/infiniband/*/ports/*/hw_counters/*). Names: NVIDIA, "Understanding
// mlx5 ethtool Counters" and "Understanding mlx5 Linux Counters and Status Parameters".
#include <array>
#include <charconv>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "control/doctor/readers/gathered.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

// The priority of "rx_prio3_pause" and what follows it: "_pause". Nothing: the name has none.
std::optional<std::pair<int, std::string>> priority_of(const std::string& name, std::string_view before) {
  if (!name.starts_with(before) || name.size() < before.size() + 2) return std::nullopt;
  const int k = name[before.size()] - '0';
  if (k < 0 || k > 7) return std::nullopt;
  return std::pair{k, name.substr(before.size() + 1)};
}

void add(nlohmann::ordered_json& to, const char* key, std::uint64_t n) {
  to[key] = (to.contains(key) ? to[key].get<std::uint64_t>() : 0) + n;
}

bool add_class_counter(const std::string& name, std::uint64_t n, Gathered::Port& port) {
  if (const auto rx = priority_of(name, "rx_prio")) {
    const auto& [k, what] = *rx;
    if (what == "_pause") add(port.classes[k], "xoff_received", n), add(port.classes[k], "pfc_received", n);
    else if (what == "_pause_duration") add(port.classes[k], "paused_ns", n * 1000);
    else if (what == "_packets") port.classes[k]["rx"]["packets"] = n;
    else if (what == "_discards") port.class_drops[k]["nic_receive_full"] += n;
    else return false;
    return true;
  }
  if (const auto tx = priority_of(name, "tx_prio")) {
    const auto& [k, what] = *tx;
    if (what == "_pause") add(port.classes[k], "xoff_sent", n);
    else if (what == "_packets") port.classes[k]["tx"]["packets"] = n;
    else return false;
    return true;
  }
  return false;
}

const char* drop_of(const std::string& name) {
  constexpr std::pair<std::string_view, const char*> kDrops[] = {{"rx_crc_errors_phy", "fcs_error"},
                                                                 {"rx_symbol_err_phy", "fcs_error"},
                                                                 {"rx_fcs_errors", "fcs_error"},
                                                                 {"rx_crc_errors", "fcs_error"},
                                                                 {"rx_oversize_pkts_phy", "giant"},
                                                                 {"rx_undersize_pkts_phy", "too_short"},
                                                                 {"rx_discards_phy", "nic_receive_full"},
                                                                 {"rx_icrc_encapsulated", "icrc_error"}};
  for (const auto& [counter, reason] : kDrops)
    if (name == counter) return reason;
  return nullptr;
}

bool is_rdma(const std::string& name) {
  static const std::set<std::string> known{
      "out_of_sequence",        "packet_seq_err",       "implied_nak_seq_err", "local_ack_timeout_err",
      "duplicate_request",      "rnr_nak_retry_err",    "out_of_buffer",       "np_ecn_marked_roce_packets",
      "np_cnp_sent",            "rp_cnp_handled",       "rp_cnp_ignored",      "req_cqe_error",
      "resp_cqe_error",         "roce_adp_retrans",     "roce_slow_restart",   "req_transport_retries_exceeded",
      "outbound_pci_stalled_wr", "outbound_pci_stalled_rd", "tx_pause_storm_warning_events", "tx_pause_storm_error_events"};
  return known.contains(name);
}

}  // namespace

bool add_nic_counter(const std::string& node, const std::string& at, const std::string& name, std::uint64_t value,
                     Gathered& to) {
  if (is_rdma(name)) {
    to.nic(node)[name] += value;
    to.add_input(Input::kNics);
    to.took();
    return true;
  }
  // Frames of all priorities, those with errors left out: what shares of wrong frames are of.
  if (name == "rx_packets_phy") {
    add(to.port(node, at, false).values, "received", value);
    return true;
  }
  Gathered::Port& port = to.port(node, at, false);
  const char* reason = drop_of(name);
  if (reason != nullptr)
    port.drops[reason] += value;
  else if (name == "link_down_events_phy")
    add(port.values, "link_downs", value), to.add_input(Input::kPolls);
  else if (!add_class_counter(name, value, port))
    return false;
  to.add_input(Input::kPorts);
  to.took();
  return true;
}

// "     rx_prio3_pause: 12", or "/sys/.../hw_counters/out_of_sequence:12".
void read_ethtool(const std::string& text, const std::string& node, const std::string& file, Gathered& to) {
  to.add_since("ethtool and RDMA counters: since the driver of the NIC was loaded. Read them twice to see what is new.");
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    name = name.substr(name.find_last_of(" \t/") + 1);
    const std::size_t digits = line.find_first_not_of(" \t", colon + 1);
    if (digits == std::string::npos) continue;  // "NIC statistics:"
    std::uint64_t value = 0;
    const char* end = line.data() + line.size();
    if (const auto [at, error] = std::from_chars(line.data() + digits, end, value); error != std::errc{}) {
      if (add_nic_counter(node, "1", name, 0, to))
        throw InputError(fmt::format("{}:{}: {}: '{}' is no count", file, number, name, line.substr(digits)));
      continue;
    }
    add_nic_counter(node, "1", name, value, to);
  }
}

}  // namespace railyard::doctor
