#include "control/report/html/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "control/report/html/markup.h"

namespace railyard::report {
namespace {

// An area's own units, in both directions; the page stretches it.
constexpr double kSide = 1000;
constexpr int kMostTicks = 6;
constexpr int kMostStripTicks = 2;
// More labels than this below an axis are one too many for a phone, which leaves out every other.
constexpr std::size_t kMostTicksOnPhone = 4;

// From values to an area: y grows upwards, so its axis is turned over.
struct Scale {
  double least = 0, most = 1;
  bool logarithmic = false;
  double part(double value) const {
    const auto of = [&](double v) { return logarithmic ? std::log10(std::max(v, least)) : v; };
    const double span = of(most) - of(least);
    return span > 0 ? (of(value) - of(least)) / span : 0.5;
  }
  double x(double value) const { return kSide * part(value); }
  double y(double value) const { return kSide * (1 - part(value)); }
};

// 1, 2 or 5 times a power of ten.
double round_step(double span, int most_ticks) {
  const double raw = span / most_ticks;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (raw <= m * decade) return m * decade;
  return 10 * decade;
}

std::vector<double> ticks_of(const Scale& s, int most_ticks) {
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
  const double step = round_step(s.most - s.least, most_ticks);
  for (double t = std::ceil(s.least / step) * step; t <= s.most * (1 + 1e-9) + 1e-12; t += step) out.push_back(t);
  return out;
}

// Of all points of some lines, rounded outwards.
class Bounds {
 public:
  explicit Bounds(bool of_x) : of_x_(of_x) {}
  void take(double v) {
    least_ = std::min(least_, v);
    most_ = std::max(most_, v);
  }
  void take(const Line& l) {
    for (const auto& [x, y] : l.points) take(of_x_ ? x : y);
  }
  Scale scale(bool logarithmic) const {
    Scale s{least_, most_, logarithmic};
    if (logarithmic) {
      s.least = std::max(s.least, 1.0);
      s.most = std::max(s.most, s.least * 2);
      return s;
    }
    if (!of_x_) s.least = std::min(s.least, 0.0);
    if (s.most <= s.least) s.most = s.least + 1;
    return s;
  }

 private:
  bool of_x_;
  double least_ = std::numeric_limits<double>::max();
  double most_ = std::numeric_limits<double>::lowest();
};

Scale x_scale(const Chart& c) {
  Bounds b(true);
  for (const Line& l : c.lines) b.take(l);
  if (!c.mark_name.empty()) b.take(c.mark_x);
  return b.scale(c.x.logarithmic);
}

bool is_empty(const Chart& c) {
  return std::ranges::all_of(c.lines, [](const Line& l) { return l.points.empty(); });
}

// The words left of an area. An axis is as wide as its longest word, which stands there once more, unseen.
std::string y_words(const Axis& axis, const Scale& s, const std::vector<double>& ticks) {
  std::string longest, words;
  for (const double t : ticks) {
    const std::string text = axis.text(t);
    if (text.size() > longest.size()) longest = text;
    words += fmt::format("<span style=\"top:{:.1f}%\">{}</span>", s.y(t) / kSide * 100, escaped_html(text));
  }
  return fmt::format("<div class=\"ys\"><em>{}</em>{}</div>", escaped_html(longest), words);
}

std::string x_words(const Axis& axis, const Scale& s) {
  const std::vector<double> ticks = ticks_of(s, kMostTicks);
  std::string out = "<div class=\"xs\">";
  for (std::size_t i = 0; i < ticks.size(); ++i)
    out += fmt::format("<span{} style=\"left:{:.1f}%\">{}</span>",
                       ticks.size() > kMostTicksOnPhone && i % 2 == 1 ? " class=\"odd\"" : "", s.part(ticks[i]) * 100,
                       escaped_html(axis.text(ticks[i])));
  return out + fmt::format("<b>{}</b></div>\n", escaped_html(axis.title));
}

std::string grid(const Scale& x, const Scale& y, const std::vector<double>& y_ticks) {
  std::string path;
  for (const double t : ticks_of(x, kMostTicks)) path += fmt::format("M{:.1f} 0V{:.0f}", x.x(t), kSide);
  for (const double t : y_ticks) path += fmt::format("M0 {:.1f}H{:.0f}", y.y(t), kSide);
  return fmt::format("<path class=\"grid\" d=\"{}\"/>", path);
}

std::string course(const Line& l, const Scale& x, const Scale& y) {
  std::string path;
  for (const auto& [px, py] : l.points) {
    if (l.marks)
      path += fmt::format("M{:.1f} {:.1f}h0", x.x(px), y.y(py));  // round caps make a dot of it
    else if (path.empty())
      path = fmt::format("M{:.1f} {:.1f}", x.x(px), y.y(py));
    else if (l.steps)
      path += fmt::format("H{:.1f}V{:.1f}", x.x(px), y.y(py));
    else
      path += fmt::format("L{:.1f} {:.1f}", x.x(px), y.y(py));
  }
  return path;
}

// With the area below it.
std::string filled_course(const Line& l, const Scale& x, const Scale& y) {
  return fmt::format("M{:.1f} {:.0f}L{}V{:.0f}", x.x(l.points.front().first), kSide, course(l, x, y).substr(1), kSide);
}

std::string svg(const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {0:.0f} {0:.0f}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{1}</svg>",
                     kSide, content);
}

const char* mark_style(const Line& l) { return l.marks ? " dots" : ""; }

std::string legend_of(const Chart& c) {
  if (c.lines.size() < 2) return {};
  std::string out = "<p class=\"legend\">";
  for (std::size_t i = 0; i < std::min(c.lines.size(), kMostLines); ++i)
    out += fmt::format("<span><svg viewBox=\"0 0 36 8\" aria-hidden=\"true\"><path class=\"line c{}{}\" d=\"{}\"/></svg>{}</span> ",
                       i, mark_style(c.lines[i]), c.lines[i].marks ? "M18 4h0" : "M0 4H36", escaped_html(c.lines[i].name));
  return out + "</p>\n";
}

std::string figure(std::string_view style, const std::string& title, const std::string& content) {
  return fmt::format("<figure class=\"{}\" role=\"img\" aria-label=\"{}\">\n{}</figure>\n", style, escaped_html(title),
                     content);
}

}  // namespace

std::string chart_html(const Chart& c) {
  if (is_empty(c)) return {};
  const Scale x = x_scale(c);
  Bounds heights(false);
  for (const Line& l : c.lines) heights.take(l);
  const Scale y = heights.scale(c.y.logarithmic);
  const std::vector<double> ticks = ticks_of(y, kMostTicks);
  std::string curves = grid(x, y, ticks);
  std::string mark;
  if (!c.mark_name.empty()) {
    const double at = x.part(c.mark_x) * 100;
    curves += fmt::format("<path class=\"mark\" d=\"M{:.1f} 0V{:.0f}\"/>", x.x(c.mark_x), kSide);
    mark = at > 50 ? fmt::format("<span class=\"mark\" style=\"right:{:.1f}%\">{}</span>", 100 - at, escaped_html(c.mark_name))
                   : fmt::format("<span class=\"mark\" style=\"left:{:.1f}%\">{}</span>", at, escaped_html(c.mark_name));
  }
  for (std::size_t i = 0; i < std::min(c.lines.size(), kMostLines); ++i) {
    const Line& l = c.lines[i];
    if (l.points.empty()) continue;
    curves += fmt::format("<path class=\"line c{}{}\" d=\"{}\"><title>{}</title></path>\n", i, mark_style(l),
                          course(l, x, y), escaped_html(l.name));
  }
  return figure("chart", c.title,
                fmt::format("<p class=\"y\">{}</p>\n<div class=\"plot\">{}<div class=\"area\">{}{}</div>\n{}</div>\n{}",
                            escaped_html(c.y.title), y_words(c.y, y, ticks), svg(curves), mark, x_words(c.x, x),
                            legend_of(c)));
}

std::string strips_html(const Chart& c, StripScale scale) {
  if (is_empty(c)) return {};
  const Scale x = x_scale(c);
  Bounds of_all(false);
  for (const Line& l : c.lines) of_all.take(l);
  std::string out;
  for (std::size_t i = 0; i < std::min(c.lines.size(), kMostLines); ++i) {
    const Line& l = c.lines[i];
    if (l.points.empty()) continue;
    Bounds of_it(false);
    of_it.take(l);
    const Scale y = (scale == StripScale::kShared ? of_all : of_it).scale(c.y.logarithmic);
    const std::vector<double> ticks = ticks_of(y, kMostStripTicks);
    out += fmt::format(
        "<p class=\"name\"><b>{}</b> {}</p>\n{}<div class=\"area\">{}</div>\n", escaped_html(l.name), escaped_html(l.note),
        y_words(c.y, y, ticks),
        svg(grid(x, y, ticks) + fmt::format("<path class=\"fill c{}\" d=\"{}\"><title>{}</title></path>", i,
                                            filled_course(l, x, y), escaped_html(l.name))));
  }
  return figure("chart strips", c.title,
                fmt::format("<p class=\"y\">{}</p>\n<div class=\"plot\">{}{}</div>\n", escaped_html(c.y.title), out,
                            x_words(c.x, x)));
}

std::string time_line_html(const std::string& title, const std::vector<Bar>& bars,
                           const std::function<std::string(double)>& text) {
  if (bars.empty()) return {};
  Scale x;
  x.least = std::ranges::min_element(bars, {}, &Bar::from)->from;
  x.most = std::max(std::ranges::max_element(bars, {}, &Bar::to)->to, x.least + 1);
  std::string out;
  for (const Bar& b : bars)
    out += fmt::format(
        "<div class=\"row\"><span class=\"name\">{}</span><span class=\"track\"><i{} style=\"left:{:.2f}%;width:{:.2f}%\">"
        "</i></span><span class=\"end\">{}</span></div>\n",
        escaped_html(b.name), b.open ? " class=\"open\"" : "", x.part(b.from) * 100,
        std::max(0.0, x.part(b.to) - x.part(b.from)) * 100, escaped_html(b.text));
  out += "<div class=\"row\">" + x_words({"time", false, text}, x) + "</div>\n";
  return figure("bars", title, out);
}

}  // namespace railyard::report
