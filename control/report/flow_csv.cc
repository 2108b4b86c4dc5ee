#include "control/report/flow_csv.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "control/base/json_text.h"
#include "control/report/flow_json.h"

namespace railyard::report {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;  // by column

// Lists have no column of their own: what is in them is another table.
void flatten(const nlohmann::ordered_json& value, const std::string& name, Values& out) {
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) flatten(part, name.empty() ? key : name + "." + key, out);
  } else if (!value.is_array()) {
    out.emplace_back(name, value.is_null()     ? std::string()
                           : value.is_string() ? value.get<std::string>()
                                               : json_text(value));
  }
}

void append_row(std::string& out, const std::vector<std::string>& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) out += (i == 0 ? "" : ",") + csv_field(fields[i]);
  out += '\n';
}

}  // namespace

std::vector<std::string> flow_columns() {
  Percentiles known;
  known.count = 1;
  FlowReport f;
  f.latency_ns = known;
  f.waits_for = "trigger";
  f.roce.emplace().message_ns = known;
  f.uet.emplace().message_ns = known;
  Values values;
  flatten(flow_json(f, {}), {}, values);
  std::vector<std::string> columns;
  for (const auto& [name, value] : values) columns.push_back(name);
  return columns;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string flow_csv(const Report& report) {
  const std::vector<std::string> columns = flow_columns();
  std::string out;
  append_row(out, columns);
  for (const FlowReport& f : report.flows) {
    Values values;
    flatten(flow_json(f, report.budgets), {}, values);
    std::vector<std::string> row(columns.size());
    for (const auto& [name, value] : values)
      // Percentiles of nothing are one null; their columns stay empty.
      if (const auto column = std::ranges::find(columns, name); column != columns.end())
        row[static_cast<std::size_t>(column - columns.begin())] = value;
    append_row(out, row);
  }
  return out;
}

}  // namespace railyard::report
