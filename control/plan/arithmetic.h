// Arithmetic that people can follow: what is computed, from which numbers, with which result, by whose rule.
#pragma once

#include <string>
#include <vector>

namespace railyard::plan {

// One line: "NIC ports   16 nodes x 8 = 128   [source]".
struct Line {
  std::string what;
  std::string formula;  // with its numbers; empty: the result is given
  std::string result;
  std::string source;  // empty: it follows from the lines above
};

struct Section {
  std::string title;
  std::vector<Line> lines;
  std::vector<std::string> notes{};  // sentences below the lines
  std::vector<std::vector<std::string>> table{};  // above the lines: columns side by side
};

// Columns of all sections have the same width; sections are numbered from 1.
std::string text(const std::vector<Section>& sections);

// "1 leaf", "4 leaves".
std::string counted(long long n, const char* one, const char* many);
// A number without digits that say nothing: "2", "1.33".
std::string number(double value);
// "11.9 kW", "20,889.6 kW".
std::string kilowatts(double watts);
// "400 Gb/s", "51.2 Tb/s", "6,554 Tb/s".
std::string rate_words(double bps);
// "1:1", "1.33:1".
std::string ratio_text(double ratio);

}  // namespace railyard::plan
