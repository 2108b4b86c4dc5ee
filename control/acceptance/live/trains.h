// What built-in NICs of a running lab are asked to send, and what that says in the words of a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/acceptance/probe.h"
#include "control/acceptance/subject.h"

namespace railyard::acceptance::live {

// One request to POST /probes (docs/api.md).
struct Request {
  nlohmann::json body;
  std::vector<Pair> pairs;  // of its trains, in their order
};

// A request is shorter than what the API takes.
inline constexpr std::size_t kMostTrains = 700;

// The requests of a probe, one after the other. Nothing: this lab cannot have it, or it is no probe of trains.
std::vector<Request> requests_of(const Subject& subject, ProbeKind kind);

// As `railyard run` reports a probe: flows, traffic, ports and verdicts, as far as lines of the list read them.
// `results`: of GET /probes/result, one for each request. `before`, `after`: reports (report.json) of the lab.
nlohmann::ordered_json report_of_trains(const Subject& subject, ProbeKind kind, const std::vector<Request>& requests,
                                        const std::vector<nlohmann::json>& results,
                                        const nlohmann::ordered_json& before, const nlohmann::ordered_json& after);

// Counters of ports between two reports. A class that had packets before is left out of `rx` (0 packets): what came in
// it meanwhile may be the lab's own.
nlohmann::ordered_json ports_between(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after);

}  // namespace railyard::acceptance::live
