// What items read from reports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/acceptance/item.h"
#include "control/acceptance/subject.h"

namespace railyard::acceptance {

// A flow of a probe whose flows are pairs.
struct PairFigure {
  std::string from{};  // "h3:1"
  std::string to{};
  std::optional<double> goodput_bps{};  // nothing: it did not complete
  double share = 0;                     // goodput / the slower NIC's rate; 0 if it did not complete
  double limit = 1;                     // the most that framing and PCI Express leave of it
  std::optional<double> latency_ns{};   // median of its packets
  bool same_rack = false;
};

// In the order of the report.
std::vector<PairFigure> pairs_of(const Subject& subject, const nlohmann::ordered_json& report);

// "h3:1 -> h7:1"
std::string pair_text(const PairFigure& p);

// The verdict of this name of a report: its word and text. Nothing: the report has none.
std::optional<std::pair<std::string, std::string>> verdict_of(const nlohmann::ordered_json& report,
                                                              const std::string& name);

// Drops for one reason at all ports, port by port and class by class: {"leaf1:3", 12}, most first.
std::vector<std::pair<std::string, std::uint64_t>> drops_for(const nlohmann::ordered_json& report,
                                                             const std::string& reason);

// "95.0 %" of a share that a threshold is set for.
std::string share_text(double share);

const nlohmann::ordered_json& report_of(const Runs& runs, ProbeKind kind);

}  // namespace railyard::acceptance
