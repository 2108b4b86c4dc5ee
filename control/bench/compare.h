// Two results of railyard bench side by side. Cases are compared only if all agrees that the draft asks for; else their
// values stand beside each other, and the difference is named.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::bench {

// Whether the file is a result of railyard bench, of any version; false if it cannot be read or is no JSON.
bool is_result(const std::filesystem::path& file);
// Throws InputError naming the file: it is of another version, or incomplete.
nlohmann::ordered_json read_result(const std::filesystem::path& file);

struct ResultComparison {
  struct Row {
    std::string kpi;   // "busbw"
    std::string unit;  // "Gb/s"
    std::string obs;
    std::optional<double> a, b;
    std::optional<double> change;  // b / a - 1; nothing: not comparable, or one is missing, or a is 0
  };
  struct Case {
    std::string test;
    std::string params;                    // "path ECMP, S 8MiB"
    std::vector<std::string> differences;  // "b_acc_gbps: 100 and 400"; empty: comparable
    std::vector<Row> rows;
  };
  std::string name_a, name_b;
  std::vector<std::string> notes;  // profile, version, fabric: a line for each that differs
  std::vector<Case> cases;
  std::vector<std::string> only_a, only_b;  // "T9.1 path ECMP"

  std::string text() const;
  nlohmann::ordered_json json() const;
};

// Throws InputError: one of them is incomplete.
ResultComparison compare(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b, std::string name_a,
                         std::string name_b);

}  // namespace railyard::bench
