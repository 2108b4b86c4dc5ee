// The page: conclusion, tables, and the trade-off curve over all points.
#include <algorithm>

#include <fmt/format.h>

#include "control/report/html/chart.h"
#include "control/report/html/markup.h"
#include "control/report/html/style.h"
#include "control/tune/table.h"

namespace railyard::tune {
namespace {

std::string html_table(const Rows& rows, std::size_t words) {
  std::vector<report::Table::Column> head;
  for (std::size_t c = 0; c < rows.front().size(); ++c) head.push_back({rows.front()[c], c < words});
  report::Table table(std::move(head));
  for (std::size_t i = 1; i < rows.size(); ++i) table.row(rows[i]);
  return table.html();
}

std::optional<std::pair<double, double>> at(const Report& r, const Point& p) {
  const auto x = p.outcome.mean(r.plan.trade_off[0].figure), y = p.outcome.mean(r.plan.trade_off[1].figure);
  return x && y ? std::optional(std::pair(*x, *y)) : std::nullopt;
}

report::Axis axis_of(const Aim& aim) {
  return {fmt::format("{} ({} is better)", aim.figure, aim.kind.better == report::Better::kHigher ? "higher" : "lower"),
          false, [unit = aim.kind.unit](double v) { return report::figure_text(v, unit); }};
}

report::Line line(const char* name, bool marks) {
  report::Line out;
  out.name = name;
  out.marks = marks;
  return out;
}

std::string curve(const Report& r) {
  report::Line front = line("front: no other point is better in both", false), all = line("points", true);
  report::Line start = line("start", true), kept = line("kept", true);
  for (const std::size_t i : r.result.front)
    if (const auto p = at(r, r.result.points[i])) front.points.push_back(*p);
  for (const Point& point : r.result.points)
    if (const auto p = at(r, point); p && point.score < kFailedScore) all.points.push_back(*p);
  std::ranges::sort(all.points);
  if (const auto p = at(r, r.result.points.front())) start.points.push_back(*p);
  if (const auto p = at(r, r.result.points[r.result.kept()])) kept.points.push_back(*p);
  return report::chart_html({"Trade-off",
                             axis_of(r.plan.trade_off[0]),
                             axis_of(r.plan.trade_off[1]),
                             {std::move(front), std::move(all), std::move(start), std::move(kept)},
                             {}});
}

}  // namespace

std::string page(const Report& r) {
  const Point& kept = r.result.points[r.result.kept()];
  std::string sets;
  for (const std::string& s : kept.sets) sets += fmt::format("--set '{}'\n", s);
  std::string body = report::paragraph(report::escaped_html(r.plan.goal.text()), "lead") +
                     report::paragraph(report::escaped_html(conclusion(r)));
  if (!sets.empty()) body += fmt::format("<pre>{}</pre>\n", report::escaped_html(sets));
  body += report::section("knobs", "Settings", html_table(knob_rows(r), 1));
  body += report::section("figures", "Figures", html_table(figure_rows(r), 1));
  body += report::section("trade-off", "Trade-off", curve(r) + html_table(front_rows(r), 0));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0} tuned · Railyard</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}: tuned</h1>\n{2}</body>\n</html>\n",
      report::escaped_html(r.lab), report::kStyle, body);
}

}  // namespace railyard::tune
