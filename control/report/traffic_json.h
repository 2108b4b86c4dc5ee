// Traffic, link tiers and verdicts as JSON.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/link_tiers.h"
#include "control/report/traffic_report.h"
#include "control/report/verdict.h"

namespace railyard::report {

nlohmann::ordered_json traffic_json(const TrafficReport& traffic);
nlohmann::ordered_json link_tiers_json(const std::vector<LinkTier>& tiers);
nlohmann::ordered_json verdicts_json(const std::vector<Verdict>& verdicts);

}  // namespace railyard::report
