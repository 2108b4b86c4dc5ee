// Charts: curves as inline SVG that stretches to the width of the page, axes and names as HTML, which does not. So text
// has its size on a phone and on a large screen. The page's style colours both.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace railyard::report {

struct Axis {
  std::string title;
  bool logarithmic = false;
  std::function<std::string(double)> text;  // of a value, at a tick; with its unit
};

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x ascending
  bool steps = false;                             // a value holds until the next
  std::string note = {};                          // strips: beside the name, e.g. "mean 48 Gb/s"
  bool marks = false;                             // charts: a dot at each point, and no line between them
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

// All lines in one area. Each has a colour and a dash pattern of its own, and the later ones are the thinner: of equal
// lines all are visible. Empty without any point.
std::string chart_html(const Chart& chart);

// Each line in an area of its own, one below the other with the same x axis: courses over time, which cross too often
// to share one. Empty without any point.
enum class StripScale {
  kShared,  // one y axis: heights compare
  kOwn,     // each fills its area: for lines of different magnitude
};
std::string strips_html(const Chart& chart, StripScale scale = StripScale::kShared);

// Bars from a start to an end, one below the other: a time line.
struct Bar {
  std::string name;
  double from = 0, to = 0;
  bool open = false;  // has not ended
  std::string text;   // beside it
};
std::string time_line_html(const std::string& title, const std::vector<Bar>& bars,
                           const std::function<std::string(double)>& text);

}  // namespace railyard::report
