#include "control/picture/map_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "control/picture/box_text.h"
#include "control/picture/frame.h"
#include "control/picture/legend.h"
#include "control/picture/palette.h"
#include "control/picture/places.h"
#include "control/picture/port_plate.h"
#include "control/picture/rails.h"
#include "control/picture/text_width.h"

namespace railyard::picture {
namespace {

Point between(Point a, Point b, double part) { return {a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part}; }

// Where the way from the middle of a box to a point outside leaves the box.
Point edge(const Rect& box, Point to) {
  const Point c{box.x + box.width / 2, box.y + box.height / 2};
  const double x = std::abs(to.x - c.x);
  const double y = std::abs(to.y - c.y);
  const double part = std::min(x > 0 ? box.width / 2 / x : 1, y > 0 ? box.height / 2 / y : 1);
  return between(c, to, std::min(part, 1.0));
}

class Mapping {
 public:
  Mapping(const Diagram& diagram, const routing::Graph& graph, Shape shape)
      : d_(diagram), graph_(graph), shape_(shape), places_(places_of(diagram, graph, shape)), widths_(graph.lab()) {}

  Picture draw() {
    for (const Line& l : d_.lines) add_line(l);
    for (std::size_t b = 0; b < d_.boxes.size(); ++b) add_box(b);
    add_ports();
    add_frame();
    return std::move(picture_);
  }

 private:
  bool is_switch(std::size_t box) const { return graph_.is_switch(d_.boxes[box].first); }
  const std::vector<int>& at(std::size_t box) const { return graph_.lab().nodes[d_.boxes[box].first].at; }
  const Rect& rect(std::size_t box) const { return places_.rect[box]; }

  void add_box(std::size_t b) {
    const Box& box = d_.boxes[b];
    PlacedBox placed;
    placed.place = rect(b);
    placed.is_host = box.is_host;
    placed.is_many = box.nodes > 1;
    placed.fill = box.is_host ? kHost : kSwitch;
    placed.edge = box.is_host ? kHostEdge : kSwitchEdge;
    placed.detail = box.detail;
    write_box(box, placed);
    picture_.boxes.push_back(std::move(placed));
  }

  void add_line(const Line& line) {
    PlacedLine placed;
    placed.colour = line.rail == kNoRail ? kWire : rail_colour(line.rail);
    placed.width = widths_.of(line.rate) + (line.links.size() > 1 ? 1.2 : 0);
    placed.opacity = d_.lines.size() > 160 ? 0.6 : 0.9;
    placed.detail = line.detail;
    std::vector<Point> way = !is_switch(line.a) || !is_switch(line.b) ? to_host(line)
                             : shape_ == Shape::kGrid                 ? in_grid(line.a, line.b)
                                                                      : around(line.a, line.b);
    placed.is_arc = way.size() == 4;
    placed.strands.push_back(std::move(way));
    picture_.lines.push_back(std::move(placed));
  }

  std::vector<Point> straight(std::size_t a, std::size_t b) const {
    return {edge(rect(a), places_.centre(b)), edge(rect(b), places_.centre(a))};
  }

  // In a grid, down beside the line to the next row.
  std::vector<Point> to_host(const Line& line) const {
    const bool switch_first = is_switch(line.a);
    const auto [sw, host] = switch_first ? std::pair(line.a, line.b) : std::pair(line.b, line.a);
    if (shape_ != Shape::kGrid) return straight(line.a, line.b);
    std::vector<Point> way;
    const Rect& h = rect(host);
    if (places_.hosts[sw].front() == host) {
      const double x = std::min(h.x + h.width / 2, rect(sw).right() - 6);
      way = {{x, rect(sw).bottom()}, {x, h.y}};
    } else {
      const double y = h.y + h.height / 2;
      way = {{h.x - 5, rect(sw).bottom()}, {h.x - 5, y}, {h.x, y}};
    }
    if (!switch_first) std::ranges::reverse(way);
    return way;
  }

  std::vector<Point> in_grid(std::size_t a, std::size_t b) const {
    std::size_t along = 0;
    std::size_t differ = 0;
    for (std::size_t k = 0; k < at(a).size(); ++k)
      if (at(a)[k] != at(b)[k]) {
        along = k;
        ++differ;
      }
    const int past = std::abs(at(a)[along] - at(b)[along]) - 1;
    if (differ != 1 || past == 0) return straight(a, b);
    const bool forward = at(a)[along] < at(b)[along];
    const auto [first, last] = forward ? std::pair(a, b) : std::pair(b, a);
    const Point f = places_.centre(first);
    const Point l = places_.centre(last);
    const double rise = curve_height(past);
    std::vector<Point> way;
    if (along == 0) {
      const double aside = std::min(14.0, rect(first).width / 4);
      way = {{f.x + aside, rect(first).y}, {}, {}, {l.x - aside, rect(last).y}};
      way[1] = {way[0].x, way[0].y - rise};
      way[2] = {way[3].x, way[3].y - rise};
    } else if (along == 1) {
      const double aside = rect(first).height / 4;
      way = {{rect(first).x, f.y + aside}, {}, {}, {rect(last).x, l.y - aside}};
      way[1] = {way[0].x - rise, way[0].y};
      way[2] = {way[3].x - rise, way[3].y};
    } else {
      way = {{f.x - rect(first).width / 4, rect(first).y}, {}, {}, {rect(last).x, l.y}};
      way[1] = {way[0].x, way[0].y + 0.7 * (l.y - f.y)};
      way[2] = {way[3].x - 0.7 * (l.x - f.x), way[3].y};
    }
    if (!forward) std::ranges::reverse(way);
    return way;
  }

  // Straight to the next, and from ring to ring; else bent towards the middle.
  std::vector<Point> around(std::size_t a, std::size_t b) const {
    const double steps = std::abs(places_.slot[a] - places_.slot[b]);
    constexpr double kNext = 1.7;
    const bool same_ring = places_.ring[a] == places_.ring[b];
    if (!same_ring || std::min(steps, places_.slots - steps) < kNext) return straight(a, b);
    const Point from = places_.centre(a);
    const Point to = places_.centre(b);
    const bool same_group = shape_ == Shape::kGroups && at(a).front() == at(b).front();
    Point bend_a;
    Point bend_b;
    if (same_group) {
      const double far = std::hypot(from.x - to.x, from.y - to.y);
      const auto inwards = [&](Point p) { return between(p, {}, std::min(0.8, 0.45 * far / std::hypot(p.x, p.y))); };
      bend_a = inwards(from);
      bend_b = inwards(to);
    } else {
      const auto bend = [](Point p, Point other) { return Point{0.4 * p.x + 0.1 * other.x, 0.4 * p.y + 0.1 * other.y}; };
      bend_a = bend(from, to);
      bend_b = bend(to, from);
    }
    return {edge(rect(a), bend_a), bend_a, bend_b, edge(rect(b), bend_b)};
  }

  // Where they do not hide each other or a box.
  void add_ports() {
    for (std::size_t i = 0; i < d_.lines.size(); ++i) {
      const Line& l = d_.lines[i];
      if (l.links.size() != 1 || !is_switch(l.a) || !is_switch(l.b)) continue;
      add_port(l.ports_a.front(), picture_.lines[i].strands.front().front(), l.a);
      add_port(l.ports_b.front(), picture_.lines[i].strands.front().back(), l.b);
    }
  }
  void add_port(int port, Point end, std::size_t own) {
    const double width = port_width(port);
    Plate plate;
    plate.place = {end.x - width / 2, end.y - kPortHeight / 2, width, kPortHeight};
    const auto is_in_the_way = [&](const Rect& other) { return other.overlaps(plate.place.grown(0.5)); };
    for (const Plate& p : picture_.ports)
      if (is_in_the_way(p.place)) return;
    for (std::size_t b = 0; b < picture_.boxes.size(); ++b)
      if (b != own && is_in_the_way(picture_.boxes[b].place)) return;
    for (const Text& t : picture_.boxes[own].texts) {
      const double w = text_width(t.text, t.size, t.bold);
      if (is_in_the_way({t.at.x - w / 2, t.at.y - 0.8 * t.size, w, t.size})) return;
    }
    plate.text = {{end.x, end.y + 3}, std::to_string(port), kPortSize, false, Text::Anchor::kMiddle, kInk};
    plate.edge = kWire;
    picture_.ports.push_back(std::move(plate));
  }

  void add_frame() {
    constexpr double kLeast = 560;
    double left = 0;
    double right = 0;
    double top = 0;
    double bottom = 0;
    const auto cover = [&](Point p) {
      left = std::min(left, p.x);
      right = std::max(right, p.x);
      top = std::min(top, p.y);
      bottom = std::max(bottom, p.y);
    };
    for (const PlacedBox& b : picture_.boxes) {
      cover({b.place.x, b.place.y});
      cover({b.place.right() + kPile, b.place.bottom() + kPile});
    }
    for (const PlacedLine& l : picture_.lines)
      for (const Point& p : l.strands.front()) cover(p);
    const double inner = std::max({kLeast, right - left, text_width(d_.name, 20, true), text_width(d_.size, 11)});
    picture_.width = inner + 2 * kPad;
    const double y = add_header(d_, inner, picture_);
    move(kPad + (inner - (right - left)) / 2 - left, y - top);
    picture_.height = add_legend(d_, graph_.lab(), widths_, kPad, y + bottom - top + 14, picture_.width - kPad, picture_) +
                      kPad;
  }

  // All but what the frame has written.
  void move(double x, double y) {
    const auto moved = [&](Point& p) { p = {p.x + x, p.y + y}; };
    const auto moved_rect = [&](Rect& r) { r = {r.x + x, r.y + y, r.width, r.height}; };
    for (PlacedBox& b : picture_.boxes) {
      moved_rect(b.place);
      for (Text& t : b.texts) moved(t.at);
      for (Dot& dot : b.dots) moved(dot.at);
    }
    for (PlacedLine& l : picture_.lines)
      for (auto& strand : l.strands)
        for (Point& p : strand) moved(p);
    for (Plate& p : picture_.ports) {
      moved_rect(p.place);
      moved(p.text.at);
    }
  }

  static constexpr double kPile = 4;  // how far the next of a pile looks out

  const Diagram& d_;
  const routing::Graph& graph_;
  Shape shape_;
  Places places_;
  LineWidths widths_;
  Picture picture_;
};

}  // namespace

Picture map_layout(const Diagram& diagram, const routing::Graph& graph, Shape shape) {
  return Mapping(diagram, graph, shape).draw();
}

}  // namespace railyard::picture
