// What KPIs read of a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::bench {

using ReportJson = nlohmann::ordered_json;

std::optional<double> number(const ReportJson& j);
// nullptr: the report has nothing there.
const ReportJson* pointed(const ReportJson& report, const std::string& pointer);
// A list of the report; an empty one if it has none.
const ReportJson& list_of(const ReportJson& report, const char* name);
// A collective or job by its name; empty: the first one. nullptr: there is none.
const ReportJson* collective_of(const ReportJson& report, const std::string& name);

// "p99" -> 0.99; of "max" 1.
double fraction_of(const std::string& at);
double mean_of(const std::vector<double>& values);  // 0: there are none
// "mean", "min", or a percentile by nearest rank. Nothing: there are no values.
std::optional<double> statistic(std::vector<double> values, const std::string& at);

// Times of the iterations of a collective or job that completed, ns. The first one warms up and is left out if there are
// others.
std::vector<double> iterations(const ReportJson& report, const std::string& name = "");

}  // namespace railyard::bench
