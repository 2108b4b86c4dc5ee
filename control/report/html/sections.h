// The parts of the page, each HTML; empty if there is nothing to say.
#pragma once

#include <string>
#include <vector>

#include "control/doctor/rule.h"
#include "control/report/report.h"

namespace railyard::report {

std::string topology_section(const spec::Lab& lab);   // the picture of the lab
std::string diagnosis_section(const Report& report);  // symptom, cause, fix
std::string doctor_section(const std::vector<doctor::Found>& found);  // likely causes, from the counters
std::string traffic_section(const Report& report);    // per traffic, by size, latencies as curves
std::string collectives_section(const Report& report);  // per collective operation; repeats over time
std::string timelines_section(const Report& report);    // what each rank did when; the critical path
std::string flows_section(const Report& report);      // per flow, over time
std::string links_section(const Report& report);      // per tier, groups of equal paths, the busiest ports
std::string queues_section(const Report& report);     // depth, CE, PFC, what came first
std::string drops_section(const Report& report);      // by reason and place; faults
std::string series_section(const std::string& file);  // queues over time; throws std::runtime_error
std::string link_rates_section(const std::string& series_file);       // over time; throws it, too
std::string flow_rates_section(const std::string& flow_series_file);  // over time; throws it, too
std::string engine_section(const Report& report);     // the emulator's own floor, cost, books
std::string repeat_section(const Report& report);     // how to run it again

}  // namespace railyard::report
