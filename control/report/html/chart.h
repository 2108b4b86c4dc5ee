// Charts as inline SVG, coloured by the page's style so that light and dark both read.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace railyard::report {

struct Axis {
  std::string title;
  bool logarithmic = false;
  std::function<std::string(double)> text;  // of a value, at a tick
};

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending
  bool steps = false;                             // a value holds until the next
};

struct Chart {
  std::string title;  // read out by screen readers
  Axis x, y;
  std::vector<Line> lines;  // at most as many as there are colours: kMostLines
  // A line across, e.g. a budget; not drawn without a name.
  std::string mark_name;
  double mark_x = 0;
};

inline constexpr std::size_t kMostLines = 8;

// Empty without any point.
std::string chart_svg(const Chart& chart);

// Bars from a start to an end, one below the other: a time line.
struct Bar {
  std::string name;
  double from = 0, to = 0;
  bool open = false;  // has not ended
  std::string text;   // beside it
};
std::string time_line_svg(const std::string& title, const std::vector<Bar>& bars,
                          const std::function<std::string(double)>& text);

}  // namespace railyard::report
