#include "control/sweep/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "control/report/html/markup.h"
#include "control/spec/decimal.h"
#include "control/spec/value.h"

namespace railyard::sweep {
namespace {

using report::escaped_html;

constexpr double kWidth = 760, kPanel = 250;
constexpr double kLeft = 90, kRight = 24, kTop = 30, kBottom = 46;
constexpr double kInset = 40;  // free at both ends of the x axis, so that labels there do not meet those of the y axis
constexpr double kHead = 34, kLegendRow = 18, kNoteRow = 18;

// Okabe and Ito, "Color Universal Design", 2008, which people with all kinds of colour vision tell apart.
constexpr const char* kColours[kMostCurves] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                               "#e69f00", "#56b4e9", "#332288", "#999933"};
// Of curves that coincide each stays visible: the later are thinner and have gaps.
constexpr const char* kDashes[kMostCurves] = {"", "9 4", "3 3", "12 3 3 3", "6 6", "2 5", "14 6", "8 3 2 3"};
constexpr double kWidths[kMostCurves] = {3, 2.6, 2.3, 2, 1.8, 1.8, 1.5, 1.5};

// As a number of its unit; nothing for a word.
std::optional<double> quantity(const std::string& text) {
  if (const auto n = spec::Decimal::parse(text)) return static_cast<double>(n->digits) / std::pow(10.0, n->scale);
  if (const auto d = spec::parse_duration(text)) return static_cast<double>(d->ps);
  if (const auto r = spec::parse_rate(text)) return static_cast<double>(r->bps);
  if (const auto s = spec::parse_size(text)) return static_cast<double>(s->n);
  return std::nullopt;
}

// Where the values of the first dimension stand on the x axis.
struct Positions {
  std::vector<double> at;  // 0..1
  bool words = false;      // they are no quantities: nothing lies between them
  bool logarithmic = false;
};

// By its quantity, by its logarithm if they span more than a factor of 20; words, and quantities of which one is none,
// at equal steps.
Positions positions(const std::vector<std::string>& values) {
  std::vector<double> at;
  for (const std::string& v : values)
    if (const auto q = quantity(v)) at.push_back(*q);
  const double last = static_cast<double>(values.size() - 1);
  if (at.size() != values.size()) {
    at.clear();
    for (std::size_t i = 0; i < values.size(); ++i) at.push_back(static_cast<double>(i) / last);
    return {std::move(at), true, false};
  }
  const auto [least, most] = std::ranges::minmax(at);
  const bool logarithmic = least > 0 && most / least > 20;
  const auto of = [&](double q) { return logarithmic ? std::log(q) : q; };
  const double span = of(most) - of(least);
  for (double& q : at) q = span > 0 ? (of(q) - of(least)) / span : 0.5;
  return {std::move(at), false, logarithmic};
}

struct Curve {
  std::string name;
  std::vector<const Row*> rows;  // in the order of the first dimension's values
};

// All of them; those after the first kMostCurves are not drawn.
std::vector<Curve> curves_of(const Table& table) {
  std::map<Point, std::size_t> number;  // by the other dimensions' values
  std::vector<Curve> curves;
  for (const Row& row : table.rows) {
    const Point others(row.point.begin() + 1, row.point.end());
    const auto [found, is_new] = number.try_emplace(others, curves.size());
    if (is_new) {
      Curve& c = curves.emplace_back();
      for (std::size_t d = 1; d < table.dimensions.size(); ++d)
        c.name += fmt::format("{}{}={}", d == 1 ? "" : ", ", table.dimensions[d].path,
                              table.dimensions[d].values[row.point[d]]);
    }
    curves[found->second].rows.push_back(&row);
  }
  for (Curve& c : curves) std::ranges::sort(c.rows, {}, [](const Row* row) { return row->point[0]; });
  return curves;
}

// 1, 2 or 5 times a power of ten, so that there are about five; whole ones for counts.
double tick_step(double most, report::Unit unit) {
  const double raw = most / 5;
  const double decade = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * decade;
  for (const double m : {5.0, 2.0, 1.0})
    if (raw <= m * decade) step = m * decade;
  return unit == report::Unit::kCount ? std::max(step, 1.0) : step;
}

// Of figures whose ticks have no unit.
const char* unit_word(report::Unit unit) {
  switch (unit) {
    case report::Unit::kShare:
      return " (share, 0..1)";
    case report::Unit::kRatio:
      return " (ratio)";
    case report::Unit::kCount:
      return " (count)";
    default:
      return "";
  }
}

std::string tick_text(double value, report::Unit unit) {
  return unit == report::Unit::kShare || unit == report::Unit::kRatio ? fmt::format("{:g}", value)
                                                                      : report::figure_text(value, unit);
}

class Panel {
 public:
  Panel(const Table& table, const std::vector<Curve>& curves, const Positions& x, std::size_t metric, double top)
      : table_(table), curves_(curves), x_(x), metric_(metric), top_(top) {
    unit_ = kind_of_metric(table.metrics[metric], table.search).unit;
    for (const Curve& c : curves)
      for (const Row* row : c.rows) {
        if (row->cells[metric].values.empty()) continue;
        is_measured_ = true;
        most_ = std::max(most_, row->cells[metric].max());
      }
    if (most_ <= 0) most_ = 1;
    step_ = tick_step(most_, unit_);
    most_ = std::ceil(most_ / step_ - 1e-9) * step_;  // the axis ends at a tick
  }

  std::string svg() const {
    std::string out = fmt::format("<text class=\"title\" x=\"{}\" y=\"{:.1f}\">{}{}</text>\n", kLeft, top_ + kTop - 12,
                                  escaped_html(name_of_metric(table_.metrics[metric_])), unit_word(unit_));
    if (!is_measured_)
      return out + fmt::format("<text x=\"{}\" y=\"{:.1f}\">not measured</text>\n", kLeft, top_ + kTop + 14);
    draw_axes(out);
    for (std::size_t i = 0; i < std::min(curves_.size(), kMostCurves); ++i) draw(i, out);
    return out;
  }

 private:
  double at_x(std::size_t value) const {
    return kLeft + kInset + (kWidth - kLeft - kRight - 2 * kInset) * x_.at[value];
  }
  double at_y(double value) const {
    return top_ + kPanel - kBottom - (kPanel - kBottom - kTop) * std::max(value, 0.0) / most_;
  }

  void draw_axes(std::string& out) const {
    for (double t = 0; t <= most_ * (1 + 1e-9); t += step_)
      out += fmt::format(
          "<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>"
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          kLeft, at_y(t), kWidth - kRight, at_y(t), kLeft - 6, at_y(t) + 4, escaped_html(tick_text(t, unit_)));
    const Dimension& along = table_.dimensions[0];
    double free = -1;  // where the last label ends
    for (std::size_t i = 0; i < along.values.size(); ++i) {
      const double x = at_x(i);
      const double half = 3.3 * static_cast<double>(along.values[i].size());
      if (x - half < free) continue;
      free = x + half + 4;
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                         top_ + kPanel - kBottom + 16, escaped_html(along.values[i]));
    }
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}{}</text>\n",
                       kLeft + (kWidth - kLeft - kRight) / 2, top_ + kPanel - kBottom + 34, escaped_html(along.path),
                       x_.logarithmic ? " (logarithmic)" : "");
  }

  void draw(std::size_t number, std::string& out) const {
    const Curve& curve = curves_[number];
    const char* const colour = kColours[number];
    // Between words there is no line to follow: marks stand beside each other.
    const double curves = static_cast<double>(std::min(curves_.size(), kMostCurves));
    const double aside = x_.words ? (static_cast<double>(number) - (curves - 1) / 2) * 9 : 0;
    std::string path;
    std::string marks;
    for (const Row* row : curve.rows) {
      const Cell& cell = row->cells[metric_];
      const auto median = cell.median();
      if (!median) continue;
      const double x = at_x(row->point[0]) + aside;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, at_y(*median));
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}</title></circle>", x,
                           at_y(*median), colour, escaped_html(report::figure_text(*median, unit_)));
      if (cell.max() > cell.min())
        marks += fmt::format("<line stroke=\"{0}\" x1=\"{1:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{3:.1f}\"/>",
                             colour, x, at_y(cell.min()), at_y(cell.max()));
    }
    if (!path.empty() && !x_.words)
      out += fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-dasharray=\"{}\" d=\"{}\"/>",
                         colour, kWidths[number], *kDashes[number] != 0 ? kDashes[number] : "none", path);
    out += marks + "\n";
  }

  const Table& table_;
  const std::vector<Curve>& curves_;
  const Positions& x_;
  std::size_t metric_;
  double top_;
  report::Unit unit_;
  bool is_measured_ = false;  // a run has a value
  double most_ = 0;
  double step_ = 1;
};

}  // namespace

std::string plot_svg(const Table& table, std::string_view command) {
  if (table.dimensions.empty() || table.dimensions[0].values.size() < 2)
    throw std::invalid_argument("--plot: no x axis; expected --over PATH=V,V with two values or more");
  const std::vector<Curve> curves = curves_of(table);
  const Positions x = positions(table.dimensions[0].values);
  const std::size_t panels = std::min(table.metrics.size(), kMostPanels);
  const std::size_t shown = std::min(curves.size(), kMostCurves);
  const double legend = table.dimensions.size() > 1 ? 4 + kLegendRow * static_cast<double>(shown) : 0;
  std::vector<std::string> notes;
  if (table.seeds.size() > 1)
    notes.push_back(fmt::format("Medians of {} seeds; bars reach from the least to the most.", table.seeds.size()));
  if (shown < curves.size()) notes.push_back(fmt::format("{} of {} combinations are drawn.", shown, curves.size()));
  if (panels < table.metrics.size())
    notes.push_back(fmt::format("{} of {} figures are drawn.", panels, table.metrics.size()));
  const double below = kHead + legend + kPanel * static_cast<double>(panels);
  const double height = below + (notes.empty() ? 0 : 6) + kNoteRow * static_cast<double>(notes.size());
  const std::string title = fmt::format("{} {}", command, table.spec);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\">\n"
      "<title>{2}</title>\n"
      "<style>text {{ font: 12px sans-serif; fill: #475569; }} .title {{ font-size: 13px; font-weight: 600; fill: "
      "#0f172a; }} .grid {{ stroke: #cbd5e1; stroke-width: .6; }}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text class=\"title\" x=\"12\" y=\"22\">{2}</text>\n",
      kWidth, height, escaped_html(title));
  for (std::size_t i = 0; legend > 0 && i < shown; ++i) {
    const double y = kHead + 6 + kLegendRow * static_cast<double>(i);
    out += x.words ? fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"8\" height=\"8\" rx=\"4\" fill=\"{}\"/>",
                                 kLeft + 12, y - 4, kColours[i])
                   : fmt::format(
                         "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\" "
                         "stroke-dasharray=\"{}\"/>",
                         kLeft, y, kLeft + 34, y, kColours[i], kWidths[i], *kDashes[i] != 0 ? kDashes[i] : "none");
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft + 42, y + 4, escaped_html(curves[i].name));
  }
  for (std::size_t m = 0; m < panels; ++m)
    out += Panel(table, curves, x, m, kHead + legend + kPanel * static_cast<double>(m)).svg();
  for (std::size_t i = 0; i < notes.size(); ++i)
    out += fmt::format("<text x=\"12\" y=\"{:.1f}\">{}</text>\n", below + 10 + kNoteRow * static_cast<double>(i),
                       notes[i]);
  return out + "</svg>\n";
}

}  // namespace railyard::sweep
