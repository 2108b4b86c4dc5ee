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

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string flow_csv(const Report& report) {
  std::vector<Values> flows;
  std::vector<std::string> columns;
  for (const FlowReport& f : report.flows) {
    Values& values = flows.emplace_back();
    flatten(flow_json(f, report.budgets), {}, values);
    // RoCE's and UET's differ; what flows share comes first.
    for (const auto& [name, value] : values)
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  }
  std::string out;
  append_row(out, columns);
  for (const Values& values : flows) {
    std::vector<std::string> row(columns.size());
    for (const auto& [name, value] : values)
      row[static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())] = value;
    append_row(out, row);
  }
  return out;
}

}  // namespace railyard::report
