// A line of the shipped samples that is not listed as left out has an effect: another number changes the fabric file, or
// is refused.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/control/import/switch_sample.h"

namespace railyard::importing {
namespace {

struct LineFormat {
  SwitchFormat format;
  int least;                 // lines that are to be tried
  std::set<std::string> idle;  // beginnings of lines that are understood and change nothing here
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// The first number of the line is one more; empty if the line has none.
std::string with_another_number(const std::string& line) {
  const std::size_t first = line.find_first_of("0123456789");
  if (first == std::string::npos) return "";
  const std::size_t end = std::min(line.find_first_not_of("0123456789", first), line.size());
  return line.substr(0, first) + std::to_string(std::stoul(line.substr(first, end - first)) + 1) + line.substr(end);
}

// The lines that the list at the end names, and blocks below them.
std::set<std::size_t> lines_listed(const std::string& imported, const std::vector<std::string>& lines) {
  std::set<std::size_t> out;
  for (std::size_t at = imported.find("\n#   x:"); at != std::string::npos; at = imported.find("\n#   x:", at + 1)) {
    std::size_t line = std::stoul(imported.substr(at + 7)) - 1;
    const std::size_t indent = lines[line].find_first_not_of(' ');
    out.insert(line);
    while (++line < lines.size() && lines[line].find_first_not_of(' ') > indent) out.insert(line);
  }
  return out;
}

class LineEffect : public testing::TestWithParam<LineFormat> {};

TEST_P(LineEffect, WhatIsNotListedHasAnEffect) {
  const LineFormat& format = GetParam();
  const SwitchSample sample(format.format);
  const std::string imported = sample.imported("x");
  const std::vector<std::string> lines = lines_of(sample.text());
  const std::set<std::size_t> listed = lines_listed(imported, lines);
  int tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t first = lines[i].find_first_not_of(' ');
    if (first == std::string::npos || lines[i][first] == '!' || lines[i][first] == '#' || listed.contains(i)) continue;
    const auto begins = [&](const std::string& with) { return lines[i].substr(first).starts_with(with); };
    if (std::ranges::any_of(format.idle, begins)) continue;
    std::vector<std::string> other = lines;
    other[i] = with_another_number(lines[i]);
    if (other[i].empty()) continue;
    ++tried;
    std::string changed;
    const std::string error = error_of_import([&] { changed = SwitchSample(format.format, joined(other)).imported("x"); });
    if (error == "no error") EXPECT_TRUE(without_comments(changed) != without_comments(imported)) << lines[i];
  }
  EXPECT_GE(tried, format.least);
}

INSTANTIATE_TEST_SUITE_P(
    All, LineEffect,
    testing::Values(LineFormat{kEosFormat,
                               150,
                               {"ip address",           // listed once for all
                                "interface Ethernet2",  // shut down
                                "qos map"}},            // as the default is
                    LineFormat{kNxosFormat,
                               120,
                               {"ip address", "bandwidth remaining percent 0", "priority level", "interface Ethernet1/21",
                                "class type", "class-map type qos", "class ROCEv2", "policy-map",
                                "pause pfc-cos"}},      // its priority is listed
                    LineFormat{kNvueFormat,
                               60,
                               {"nvue-api-version", "rev-id", "version", "model", "swp1-16", "2x", "24-31"}}),
    [](const auto& info) { return std::string(info.param.format.sample).substr(0, 3); });

}  // namespace
}  // namespace railyard::importing
