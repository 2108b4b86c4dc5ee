#include "control/report/html/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "control/report/html/markup.h"

namespace railyard::report {
namespace {

constexpr double kWidth = 760, kHeight = 280;
constexpr double kLeft = 78, kRight = 16, kTop = 14, kBottom = 46;

// From values to the picture.
struct Scale {
  double least, most, from, to;
  bool logarithmic;
  double at(double value) const {
    const auto of = [&](double v) { return logarithmic ? std::log10(std::max(v, least)) : v; };
    const double span = of(most) - of(least);
    return from + (to - from) * (span > 0 ? (of(value) - of(least)) / span : 0.5);
  }
};

// 1, 2 or 5 times a power of ten.
double round_step(double span, int most_ticks) {
  const double raw = span / most_ticks;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (raw <= m * decade) return m * decade;
  return 10 * decade;
}

std::vector<double> ticks_of(const Scale& s) {
  std::vector<double> out;
  if (s.logarithmic) {
    for (double t = std::pow(10, std::floor(std::log10(s.least))); t <= s.most * 1.001; t *= 10)
      for (const double m : {1.0, 2.0, 5.0})
        if (t * m >= s.least * 0.999 && t * m <= s.most * 1.001) out.push_back(t * m);
    // Whole decades only where there is no room for more.
    if (out.size() > 10)
      std::erase_if(out, [](double t) {
        const double l = std::log10(t);
        return std::abs(l - std::round(l)) > 0.01;
      });
    return out;
  }
  if (s.most <= s.least) return {s.least};
  const double step = round_step(s.most - s.least, 6);
  for (double t = std::ceil(s.least / step) * step; t <= s.most * (1 + 1e-9) + 1e-12; t += step) out.push_back(t);
  return out;
}

// Of all points, rounded outwards.
void bounds(const Chart& c, bool of_x, double& least, double& most) {
  least = std::numeric_limits<double>::max();
  most = std::numeric_limits<double>::lowest();
  const auto take = [&](double v) {
    least = std::min(least, v);
    most = std::max(most, v);
  };
  for (const Line& l : c.lines)
    for (const auto& [x, y] : l.points) take(of_x ? x : y);
  if (of_x && !c.mark_name.empty()) take(c.mark_x);
  const Axis& axis = of_x ? c.x : c.y;
  if (axis.logarithmic) {
    least = std::max(least, 1.0);
    most = std::max(most, least * 2);
    return;
  }
  if (!of_x) least = std::min(least, 0.0);
  if (most <= least) most = least + 1;
}

std::string opening(const std::string& title, double height) {
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\" preserveAspectRatio=\"xMidYMid "
      "meet\"><title>{}</title>\n",
      kWidth, height, escaped_html(title), escaped_html(title));
}

void draw_axes(const Chart& c, const Scale& x, const Scale& y, std::string& out) {
  for (const double t : ticks_of(x)) {
    const double at = x.at(t);
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        at, y.to, y.from, y.from + 16, escaped_html(c.x.text(t)));
  }
  for (const double t : ticks_of(y)) {
    const double at = y.at(t);
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        x.from, at, x.to, x.from - 6, at + 4, escaped_html(c.y.text(t)));
  }
  out += fmt::format("<text class=\"axis\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                     (x.from + x.to) / 2, y.from + 36, escaped_html(c.x.title));
  out += fmt::format(
      "<text class=\"axis\" transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (y.from + y.to) / 2, escaped_html(c.y.title));
}

std::string legend_of(const Chart& c) {
  if (c.lines.size() < 2) return {};
  std::string out = "<p class=\"legend\">";
  for (std::size_t i = 0; i < c.lines.size(); ++i)
    out += fmt::format("<span><i class=\"k{}\"></i>{}</span> ", i, escaped_html(c.lines[i].name));
  return out + "</p>\n";
}

}  // namespace

std::string chart_svg(const Chart& c) {
  if (std::ranges::all_of(c.lines, [](const Line& l) { return l.points.empty(); })) return {};
  Scale x{0, 1, kLeft, kWidth - kRight, c.x.logarithmic};
  Scale y{0, 1, kHeight - kBottom, kTop, c.y.logarithmic};
  bounds(c, true, x.least, x.most);
  bounds(c, false, y.least, y.most);
  std::string out = opening(c.title, kHeight);
  draw_axes(c, x, y, out);
  if (!c.mark_name.empty()) {
    const double at = x.at(c.mark_x);
    const bool left = at > (x.from + x.to) / 2;
    out += fmt::format(
        "<line class=\"mark\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"{5}\">{6}</text>\n",
        at, y.to, y.from, at + (left ? -5 : 5), y.to + 10, left ? "end" : "start", escaped_html(c.mark_name));
  }
  for (std::size_t i = 0; i < std::min(c.lines.size(), kMostLines); ++i) {
    const Line& l = c.lines[i];
    if (l.points.empty()) continue;
    std::string path;
    for (const auto& [px, py] : l.points) {
      if (path.empty())
        path = fmt::format("M{:.1f} {:.1f}", x.at(px), y.at(py));
      else if (l.steps)
        path += fmt::format("H{:.1f}V{:.1f}", x.at(px), y.at(py));
      else
        path += fmt::format("L{:.1f} {:.1f}", x.at(px), y.at(py));
    }
    out += fmt::format("<path class=\"line c{}\" d=\"{}\"><title>{}</title></path>\n", i, path, escaped_html(l.name));
  }
  return "<figure>" + out + "</svg>\n" + legend_of(c) + "</figure>\n";
}

std::string time_line_svg(const std::string& title, const std::vector<Bar>& bars,
                          const std::function<std::string(double)>& text) {
  if (bars.empty()) return {};
  constexpr double kRow = 18;
  constexpr double kNames = 190, kTexts = 96;
  Scale x{0, 1, kNames, kWidth - kTexts, false};
  x.least = std::ranges::min_element(bars, {}, &Bar::from)->from;
  x.most = std::max(std::ranges::max_element(bars, {}, &Bar::to)->to, x.least + 1);
  const double bottom = 8 + kRow * static_cast<double>(bars.size());
  std::string out = opening(title, bottom + 26);
  for (const double t : ticks_of(x))
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"4\" x2=\"{0:.1f}\" y2=\"{1:.1f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{2:.1f}\" text-anchor=\"middle\">{3}</text>\n",
        x.at(t), bottom, bottom + 16, escaped_html(text(t)));
  double y = 8;
  for (const Bar& b : bars) {
    constexpr std::size_t kMostName = 28;
    const std::string name = b.name.size() > kMostName ? "..." + b.name.substr(b.name.size() - kMostName + 3) : b.name;
    const double from = x.at(b.from);
    const double width = std::max(1.5, x.at(b.to) - from);
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>"
        "<rect class=\"bar{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"><title>{}</title>"
        "</rect><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        kNames - 6, y + 12, escaped_html(name), b.open ? " open" : "", from, y + 3, width, kRow - 6,
        escaped_html(b.name + ": " + b.text), std::min(from + width, kWidth - kTexts) + 5, y + 12,
        escaped_html(b.text));
    y += kRow;
  }
  return "<figure>" + out + "</svg></figure>\n";
}

}  // namespace railyard::report
