// The page: pictures coloured by cost, and tables.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "control/blast/table.h"
#include "control/picture/diagram.h"
#include "control/picture/layout.h"
#include "control/picture/svg.h"
#include "control/report/html/markup.h"
#include "control/report/html/style.h"
#include "control/report/units.h"

namespace railyard::blast {
namespace {

// From nothing to everything; the last is for single points of failure. Light to dark, for all kinds of colour vision.
constexpr const char* kShades[] = {"#e5e7eb", "#fde68a", "#fbbf24", "#f97316", "#f87171"};
constexpr const char* kWords[] = {"up to 1.01x", "up to 1.1x", "up to 2x", "above 2x", "single point of failure"};

std::size_t shade(const Cost& cost) {
  if (cost.single_point() || !cost.failure.empty()) return 4;
  const double stretch = cost.stretch.value_or(1);
  return stretch <= 1.01 ? 0 : stretch <= 1.1 ? 1 : stretch <= 2 ? 2 : 3;
}

std::string picture_of(const Result& result, const spec::Lab& lab) {
  std::map<std::string, std::size_t> nodes;
  std::map<std::size_t, std::size_t> links;
  for (const Cost& c : result.costs) {
    // What a failure touches beside others is theirs: a switch's links have a colour of their own.
    for (const std::size_t n : c.element.nodes)
      if (c.element.kind == Kind::kSwitch || c.element.kind == Kind::kMaintenance) {
        std::size_t& known = nodes[lab.nodes[n].name];
        known = std::max(known, shade(c));
      }
    if (!c.element.nodes.empty()) continue;
    for (const std::size_t l : c.element.links) {
      std::size_t& known = links.try_emplace(l, 0).first->second;
      known = std::max(known, shade(c));
    }
  }
  const picture::Diagram diagram = picture::diagram(lab);
  picture::Picture picture = picture::layout(diagram, lab, picture::Direction::kDown);
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i)
    if (const auto known = nodes.find(diagram.boxes[i].name); known != nodes.end()) {
      picture.boxes[i].fill = kShades[known->second];
      picture.boxes[i].detail += fmt::format("\nif it fails: {}", kWords[known->second]);
    }
  for (std::size_t i = 0; i < diagram.lines.size(); ++i) {
    std::size_t worst = 0;
    bool any = false;
    for (const std::size_t l : diagram.lines[i].links)
      if (const auto known = links.find(l); known != links.end()) {
        worst = std::max(worst, known->second);
        any = true;
      }
    if (!any) continue;
    picture.lines[i].colour = kShades[worst];
    picture.lines[i].width = std::max(picture.lines[i].width, 2.5);
    picture.lines[i].detail += fmt::format("\nif it fails: {}", kWords[worst]);
  }
  return picture::inline_svg(picture);
}

std::string legend() {
  std::string text = "Stretch of the job if this part fails: ";
  for (std::size_t i = 0; i < std::size(kShades); ++i)
    text += fmt::format("<span style=\"display:inline-block;width:1em;height:1em;background:{};border:1px solid "
                        "#64748b;vertical-align:-2px\"></span> {}&nbsp;&nbsp; ",
                        kShades[i], kWords[i]);
  return report::paragraph(text);
}

std::string table_of(std::vector<std::vector<std::string>> rows, std::size_t words) {
  std::vector<report::Table::Column> head;
  for (std::size_t c = 0; c < rows.front().size(); ++c)
    head.push_back({rows.front()[c], c < words});
  report::Table table(std::move(head));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    rows[i].resize(rows.front().size());
    table.row(rows[i]);
  }
  return table.html();
}

}  // namespace

std::string page(const std::vector<Result>& results, const std::vector<spec::Lab>& labs) {
  std::string body;
  if (results.size() > 1) body += report::section("designs", "Side by side", table_of(comparison_rows(results), 1));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
    body += report::section(fmt::format("lab{}", i + 1), report::escaped_html(r.name),
                            report::paragraph(report::escaped_html(heading(r))) + picture_of(r, labs[i]) + legend() +
                                table_of(rows(r, r.costs.size()), kTextColumns));
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>What a failure costs</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>What a failure costs</h1>\n{}</body>\n</html>\n",
      report::kStyle, body);
}

}  // namespace railyard::blast
