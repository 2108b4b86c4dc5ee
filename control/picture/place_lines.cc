#include "control/picture/place_lines.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "control/picture/palette.h"
#include "control/picture/port_plate.h"
#include "control/picture/rails.h"

namespace railyard::picture {
namespace {

struct End {
  std::size_t line;
  std::size_t strand;
  double towards;  // where the line goes, along the row
  int port;        // 0: not to be shown
};

class Lines {
 public:
  Lines(const Plan& plan, const Positions& positions, Picture& picture)
      : plan_(plan), d_(plan.diagram()), p_(positions), picture_(picture), ends_(d_.boxes.size()) {}

  void add() {
    collect_ends();
    place_lines();
  }

 private:
  void collect_ends() {
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      const Line& line = d_.lines[l];
      const auto& things = plan_.route(l).things;
      for (std::size_t s = 0; s < plan_.route(l).strands; ++s) {
        const bool ports = plan_.route(l).strand_is_link;
        ends_[line.a][plan_.side(l, true)].push_back({l, s, p_.centre[things[1]], ports ? line.ports_a[s] : 0});
        ends_[line.b][plan_.side(l, false)].push_back(
            {l, s, p_.centre[things[things.size() - 2]], ports ? line.ports_b[s] : 0});
      }
    }
    for (std::size_t b = 0; b < ends_.size(); ++b)
      for (const Side s : {kUp, kDownwards, kBefore, kAfter}) place_ends(b, s);
  }

  // Where lines meet a side of a box, in the order of where they go.
  void place_ends(std::size_t b, Side s) {
    auto& ends = ends_[b][s];
    if (ends.empty()) return;
    std::stable_sort(ends.begin(), ends.end(), [](const End& x, const End& y) { return x.towards < y.towards; });
    const auto n = static_cast<double>(ends.size());
    const bool aside = s == kBefore || s == kAfter;
    const double edge = aside ? p_.row_thickness[plan_.row(b)] : p_.extent[b];
    const double most = aside ? kApartAside : 26;
    const double apart = ends.size() < 2 ? 0 : std::min(most, (edge - 2 * (aside ? 12 : kEndMargin)) / (n - 1));
    double widest = 0;
    for (const End& e : ends) widest = std::max(widest, port_width(e.port));
    const double needed = plan_.axes().down() != aside ? widest : kPortHeight;
    const bool room = ends.size() == 1 || apart >= needed + 0.5;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const double offset = (static_cast<double>(i) - (n - 1) / 2) * apart;
      const double middle = (p_.upper(plan_.row(b)) + p_.lower(plan_.row(b))) / 2;
      const Point at = s == kUp          ? plan_.axes().point(p_.along(b) + offset, p_.upper(plan_.row(b)))
                       : s == kDownwards ? plan_.axes().point(p_.along(b) + offset, p_.lower(plan_.row(b)))
                       : s == kBefore    ? plan_.axes().point(p_.along(b) - p_.extent[b] / 2, middle + offset)
                                         : plan_.axes().point(p_.along(b) + p_.extent[b] / 2, middle + offset);
      end_at_[{b, ends[i].line, ends[i].strand}] = at;
      if (room && ends[i].port > 0) add_port(ends[i], at, s);
    }
  }

  std::string line_colour(const Line& line) const { return line.rail == kNoRail ? kWire : rail_colour(line.rail); }

  // On the edge of the box; at the sides before and after, where the text comes close, outside.
  void add_port(const End& end, Point at, Side s) {
    const double width = port_width(end.port);
    Rect place{at.x - width / 2, at.y - kPortHeight / 2, width, kPortHeight};
    if (s == kBefore || s == kAfter) {
      const double out = plan_.axes().extent(width, kPortHeight) / 2 * (s == kBefore ? -1 : 1);
      (plan_.axes().down() ? place.x : place.y) += out;
    }
    Plate& plate = picture_.ports.emplace_back();
    plate.place = place;
    plate.text.at = {place.x + width / 2, place.y + kPortHeight / 2 + 3};
    plate.text.text = std::to_string(end.port);
    plate.text.size = kPortSize;
    plate.text.anchor = Text::Anchor::kMiddle;
    plate.text.colour = kInk;
    plate.edge = line_colour(d_.lines[end.line]);
  }

  // The more lines there are between two rows, the more each has to step back.
  double opacity(const Line& line) const {
    std::size_t strands = 0;
    for (std::size_t l = 0; l < d_.lines.size(); ++l)
      if (plan_.row(d_.lines[l].a) == plan_.row(line.a)) strands += plan_.route(l).strands;
    return strands > 80 ? 0.5 : strands > 30 ? 0.7 : 0.9;
  }

  void place_lines() {
    std::map<std::size_t, double> opacities;  // by upper row
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      const Line& line = d_.lines[l];
      const Route& way = plan_.route(l);
      const auto [known, is_new] = opacities.try_emplace(plan_.row(line.a), 0);
      if (is_new) known->second = opacity(line);
      PlacedLine placed;
      placed.colour = line_colour(line);
      placed.width = plan_.widths().of(line.rate) + (way.strand_is_link ? 0 : 1.2);
      placed.opacity = known->second;
      placed.detail = line.detail;
      placed.is_arc = way.kind == Route::Kind::kArc;
      for (std::size_t s = 0; s < way.strands; ++s) placed.strands.push_back(strand(l, s));
      picture_.lines.push_back(std::move(placed));
    }
  }

  Point moved(Point p, double deeper) const {
    return plan_.axes().down() ? Point{p.x, p.y + deeper} : Point{p.x + deeper, p.y};
  }

  std::vector<Point> strand(std::size_t l, std::size_t s) const {
    const Line& line = d_.lines[l];
    const Route& way = plan_.route(l);
    const Point from = end_at_.at({line.a, l, s});
    const Point to = end_at_.at({line.b, l, s});
    if (way.kind == Route::Kind::kArc) {
      const double by = plan_.arc_height(line) * (plan_.arcs_go_down(plan_.row(line.a)) ? 1 : -1);
      return {from, moved(from, by), moved(to, by), to};
    }
    const Stub straight = plan_.stub(l);
    std::vector<Point> points{from};
    if (straight == Stub::kAtA) points.push_back(moved(from, plan_.stub_length(line)));
    for (std::size_t i = 1; i + 1 < way.things.size(); ++i) {
      const double aside = (static_cast<double>(s) - static_cast<double>(way.strands - 1) / 2) * 8;
      const std::size_t r = plan_.row(line.a) + i;
      points.push_back(plan_.axes().point(p_.along(way.things[i]) + aside, p_.upper(r)));
      points.push_back(plan_.axes().point(p_.along(way.things[i]) + aside, p_.lower(r)));
    }
    if (straight == Stub::kAtB) points.push_back(moved(to, -plan_.stub_length(line)));
    points.push_back(to);
    return points;
  }

  const Plan& plan_;
  const Diagram& d_;
  const Positions& p_;
  Picture& picture_;
  std::vector<std::array<std::vector<End>, kSides>> ends_;                     // by box and side
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Point> end_at_;  // by box, line and strand
};

}  // namespace

void place_lines(const Plan& plan, const Positions& positions, Picture& picture) {
  Lines(plan, positions, picture).add();
}

}  // namespace railyard::picture
