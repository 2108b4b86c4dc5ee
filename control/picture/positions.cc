#include "control/picture/positions.h"

#include <algorithm>
#include <set>
#include <string>

#include "control/picture/arrange.h"
#include "control/picture/box_text.h"
#include "control/picture/line_text.h"
#include "control/picture/port_plate.h"
#include "control/picture/text_width.h"

namespace railyard::picture {
namespace {

// How large boxes are, for their text and for the lines that end there: along the row in `p`, across it returned, by
// box.
std::vector<double> size_boxes(const Plan& plan, Positions& p) {
  const Diagram& d = plan.diagram();
  p.extent.assign(plan.routes().strands.size(), 0);
  std::vector<double> thickness(d.boxes.size(), 0);
  std::vector<double> widest(d.boxes.size(), 12);
  for (std::size_t l = 0; l < d.lines.size(); ++l) {
    const Line& line = d.lines[l];
    if (!plan.route(l).strand_is_link) continue;
    for (const int port : line.ports_a) widest[line.a] = std::max(widest[line.a], port_width(port));
    for (const int port : line.ports_b) widest[line.b] = std::max(widest[line.b], port_width(port));
  }
  for (std::size_t b = 0; b < d.boxes.size(); ++b) {
    const Rect size = box_size(d.boxes[b], plan.axes());
    const double port = plan.axes().extent(widest[b], kPortHeight) + 2;
    const std::size_t most = std::max(plan.ends(b, kUp), plan.ends(b, kDownwards));
    constexpr std::size_t kMostWithPorts = 24;
    constexpr double kTight = 6;
    constexpr double kLongest = 420;
    const double apart = most <= kMostWithPorts ? port : kTight;
    const double lines = most == 0 ? 0 : static_cast<double>(most - 1) * apart + 2 * kEndMargin + 2;
    p.extent[b] = std::max(plan.axes().extent(size.width, size.height), std::min(lines, kLongest));
    const double aside = static_cast<double>(std::max(plan.ends(b, kBefore), plan.ends(b, kAfter))) * kApartAside + 8;
    thickness[b] = std::max(plan.axes().thickness(size.width, size.height), aside);
  }
  for (std::size_t t = d.boxes.size(); t < plan.routes().strands.size(); ++t)
    p.extent[t] = 8 * static_cast<double>(plan.routes().strands[t]);
  return thickness;
}

// The least space behind each thing in its row.
std::vector<double> spaces(const Plan& plan) {
  const Diagram& d = plan.diagram();
  std::vector<double> space(plan.routes().strands.size(), 12);
  for (const auto& things : plan.routes().rows.rows)
    for (std::size_t i = 0; i + 1 < things.size(); ++i) {
      const std::size_t t = things[i];
      const bool both_hosts = plan.is_box(t) && plan.is_box(things[i + 1]) && d.boxes[t].is_host;
      const auto seen = [&](const auto& of, std::size_t thing) { return std::set(of[thing].begin(), of[thing].end()); };
      const bool same = seen(plan.routes().rows.up, t) == seen(plan.routes().rows.up, things[i + 1]);
      const bool pile = plan.is_box(t) && d.boxes[t].nodes > 1;
      space[t] = pile ? 18 : both_hosts ? (same ? 12 : 30) : 26;
    }
  for (std::size_t l = 0; l < d.lines.size(); ++l) {
    if (plan.route(l).kind != Route::Kind::kAside) continue;
    const Line& line = d.lines[l];
    const std::size_t first = plan.routes().position[line.a] < plan.routes().position[line.b] ? line.a : line.b;
    const double room =
        plan.axes().extent(text_width(rate_label(line), kNoteSize) + 20, 15) + 2 * plan.axes().extent(27, 14) + 8;
    space[first] = std::max(space[first], room);
  }
  return space;
}

void place_in_depth(const Plan& plan, const std::vector<double>& thickness, Positions& p) {
  const Diagram& d = plan.diagram();
  double least = 0;
  double most = 0;
  for (std::size_t t = 0; t < p.centre.size(); ++t) {
    least = std::min(least, p.centre[t] - p.extent[t] / 2);
    most = std::max(most, p.centre[t] + p.extent[t] / 2);
  }
  p.first_along = least;
  p.length = most - least;
  const double gap = std::clamp(0.085 * p.length, 84.0, 200.0);
  double depth = 0;
  for (std::size_t r = 0; r < d.rows.size(); ++r) {
    double up = 0;
    double down = 0;
    for (std::size_t l = 0; l < d.lines.size(); ++l)
      if (plan.route(l).kind == Route::Kind::kArc && plan.row(d.lines[l].a) == r)
        (plan.arcs_go_down(r) ? down : up) = std::max(plan.arcs_go_down(r) ? down : up, plan.arc_height(d.lines[l]));
    double thick = plan.axes().down() ? 0 : text_width(d.rows[r].name, 12, true) - 2 * kBandPad + 8;
    for (const std::size_t b : d.rows[r].boxes) thick = std::max(thick, thickness[b]);
    if (r > 0) {
      depth += gap;
      double stubs = 0;
      for (std::size_t l = 0; l < d.lines.size(); ++l) {
        const Stub s = plan.stub(l);
        if (s != Stub::kNone &&
            plan.row(s == Stub::kAtA ? d.lines[l].a : d.lines[l].b) == (s == Stub::kAtA ? r - 1 : r))
          stubs = std::max(stubs, plan.stub_length(d.lines[l]));
      }
      depth += stubs;
      if (!plan.axes().down())
        for (const std::string& note : gap_notes(d, plan.lab(), r - 1))
          depth += std::max(0.0, text_width(note, kNoteSize) + 2 * kBandPad + 12 - gap);
    }
    depth += up * 0.8;
    p.row_depth.push_back(depth);
    p.row_thickness.push_back(thick);
    depth += thick + down * 0.8;
  }
  p.depth = depth;
}

}  // namespace

Positions positions(const Plan& plan) {
  Positions p;
  const std::vector<double> thickness = size_boxes(plan, p);
  p.centre = places(plan.routes().rows, p.extent, spaces(plan));
  place_in_depth(plan, thickness, p);
  return p;
}

}  // namespace railyard::picture
