// Ports of a report as JSON. A large lab has very many: as JSON values all together would take ten times the memory of the
// text.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/report/report.h"

namespace railyard::report {

// Whether a class of a port has counted anything that reports show; they leave the others out.
bool touched(const ClassCounters& c);

nlohmann::ordered_json port_json(const PortReport& p);

// `rest` is a report as JSON with an empty list of ports (Report::value_without_ports()). Returns its text with `ports`
// in that place, two blanks of indentation; one port at a time is a JSON value.
std::string json_with_ports(const nlohmann::ordered_json& rest, const std::vector<PortReport>& ports);

}  // namespace railyard::report
