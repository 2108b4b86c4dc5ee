#include "control/picture/layout.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/picture/arrange.h"
#include "control/picture/axes.h"
#include "control/picture/box_text.h"
#include "control/picture/legend.h"
#include "control/picture/palette.h"
#include "control/picture/rails.h"
#include "control/picture/rate_plates.h"
#include "control/picture/routes.h"
#include "control/picture/text_width.h"
#include "control/picture/words.h"

namespace railyard::picture {
namespace {

constexpr double kPad = 24;      // around everything
constexpr double kBandPad = 14;  // around the boxes of a row
constexpr double kPortSize = 8.5;
constexpr double kPortHeight = 12;
constexpr double kEndMargin = 12;   // from a box's corner to the first line
constexpr double kApartAside = 18;  // lines at the side of a box
constexpr double kNoteSize = 10.5;
constexpr double kNoteHeight = 14;

double port_width(int port) { return std::max(12.0, text_width(std::to_string(port), kPortSize) + 5); }

// The sides of a box where lines end, as rows see them.
enum Side : std::size_t { kUp, kDownwards, kBefore, kAfter, kSides };

struct End {
  std::size_t line;
  std::size_t strand;
  double towards;  // where the line goes, along the row
  int port;        // 0: not to be shown
};

class Layout {
 public:
  Layout(const Diagram& diagram, const spec::Lab& lab, Direction direction)
      : d_(diagram), lab_(lab), axes_{direction}, routes_(routes(diagram)), widths_(lab), ends_(d_.boxes.size()) {}

  Picture place() {
    count_ends();
    place_along();
    place_in_depth();
    frame();
    place_boxes();
    collect_ends();
    place_lines();
    add_rates();
    return std::move(p_);
  }

 private:
  bool is_box(std::size_t thing) const noexcept { return thing < d_.boxes.size(); }
  const Route& route(std::size_t line) const { return routes_.of_line[line]; }
  std::size_t row(std::size_t box) const { return d_.row_of[box]; }

  // Arcs go over the switches, and below the hosts.
  bool arcs_go_down(std::size_t r) const {
    return r + 1 == d_.rows.size() && d_.boxes[d_.rows[r].boxes.front()].is_host;
  }
  double arc_height(const Line& line) const {
    const auto [first, last] = std::minmax(routes_.position[line.a], routes_.position[line.b]);
    return 32 + 9 * static_cast<double>(std::min<std::size_t>(last - first, 8));
  }

  Side side(std::size_t l, bool at_a) const {
    const Line& line = d_.lines[l];
    switch (route(l).kind) {
      case Route::Kind::kDown:
        return at_a ? kDownwards : kUp;
      case Route::Kind::kArc:
        return arcs_go_down(row(line.a)) ? kDownwards : kUp;
      case Route::Kind::kAside:
        return (routes_.position[line.a] < routes_.position[line.b]) == at_a ? kAfter : kBefore;
    }
    return kUp;
  }

  // How large boxes are, for their text and for the lines that end there.
  void count_ends() {
    extent_.resize(routes_.strands.size());
    thickness_.resize(d_.boxes.size());
    count_.resize(d_.boxes.size());
    std::vector<double> widest(d_.boxes.size(), 12);
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      const Line& line = d_.lines[l];
      count_[line.a][side(l, true)] += route(l).strands;
      count_[line.b][side(l, false)] += route(l).strands;
      if (!route(l).strand_is_link) continue;
      for (const int port : line.ports_a) widest[line.a] = std::max(widest[line.a], port_width(port));
      for (const int port : line.ports_b) widest[line.b] = std::max(widest[line.b], port_width(port));
    }
    for (std::size_t b = 0; b < d_.boxes.size(); ++b) {
      const Rect size = box_size(d_.boxes[b], axes_);
      const double port = axes_.extent(widest[b], kPortHeight) + 2;
      const std::size_t most = std::max(count_[b][kUp], count_[b][kDownwards]);
      constexpr std::size_t kMostWithPorts = 24;
      constexpr double kTight = 6;
      constexpr double kLongest = 420;
      const double apart = most <= kMostWithPorts ? port : kTight;
      const double lines = most == 0 ? 0 : static_cast<double>(most - 1) * apart + 2 * kEndMargin + 2;
      extent_[b] = std::max(axes_.extent(size.width, size.height), std::min(lines, kLongest));
      const double aside = static_cast<double>(std::max(count_[b][kBefore], count_[b][kAfter])) * kApartAside + 8;
      thickness_[b] = std::max(axes_.thickness(size.width, size.height), aside);
    }
    for (std::size_t t = d_.boxes.size(); t < routes_.strands.size(); ++t)
      extent_[t] = 8 * static_cast<double>(routes_.strands[t]);
  }

  std::vector<double> spaces() const {
    std::vector<double> space(routes_.strands.size(), 12);
    for (const auto& things : routes_.rows.rows)
      for (std::size_t i = 0; i + 1 < things.size(); ++i) {
        const std::size_t t = things[i];
        const bool both_hosts = is_box(things[i + 1]) && d_.boxes[t].is_host;
        const auto seen = [&](const auto& of, std::size_t thing) {
          return std::set(of[thing].begin(), of[thing].end());
        };
        const bool same = seen(routes_.rows.up, t) == seen(routes_.rows.up, things[i + 1]);
        const bool pile = is_box(t) && d_.boxes[t].nodes > 1;
        space[t] = pile ? 18 : both_hosts ? (same ? 12 : 30) : 26;
      }
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      if (route(l).kind != Route::Kind::kAside) continue;
      const Line& line = d_.lines[l];
      const std::size_t first = routes_.position[line.a] < routes_.position[line.b] ? line.a : line.b;
      const double room = axes_.extent(text_width(rate_label(line), kNoteSize) + 20, 15) + 2 * axes_.extent(27, 14) + 8;
      space[first] = std::max(space[first], room);
    }
    return space;
  }

  // A line for many links that is alone at a box goes straight for the last piece there, and its rate is written on
  // that: of lines that come from one point it is clear only there which is whose.
  enum class Stub { kNone, kAtA, kAtB };
  Stub stub(std::size_t l) const {
    const Line& line = d_.lines[l];
    if (route(l).kind != Route::Kind::kDown || route(l).strand_is_link) return Stub::kNone;
    if (count_[line.b][kUp] == 1 && count_[line.a][kDownwards] > 1) return Stub::kAtB;
    if (count_[line.a][kDownwards] == 1 && count_[line.b][kUp] > 1) return Stub::kAtA;
    return Stub::kNone;
  }
  double stub_length(const Line& line) const {
    return axes_.thickness(text_width(rate_label(line), kNoteSize), 15) + 30;
  }

  void place_along() { centre_ = places(routes_.rows, extent_, spaces()); }

  // Boxes of a row are equally thick: then no line from a thinner one meets the corner of its neighbour.
  void place_in_depth() {
    double least = 0;
    double most = 0;
    for (std::size_t t = 0; t < centre_.size(); ++t) {
      least = std::min(least, centre_[t] - extent_[t] / 2);
      most = std::max(most, centre_[t] + extent_[t] / 2);
    }
    first_along_ = least;
    length_ = most - least;
    const double gap = std::clamp(0.085 * length_, 84.0, 200.0);
    double depth = 0;
    for (std::size_t r = 0; r < d_.rows.size(); ++r) {
      double up = 0;
      double down = 0;
      for (std::size_t l = 0; l < d_.lines.size(); ++l)
        if (route(l).kind == Route::Kind::kArc && row(d_.lines[l].a) == r)
          (arcs_go_down(r) ? down : up) = std::max(arcs_go_down(r) ? down : up, arc_height(d_.lines[l]));
      double thick = axes_.down() ? 0 : text_width(d_.rows[r].name, 12, true) - 2 * kBandPad + 8;
      for (const std::size_t b : d_.rows[r].boxes) thick = std::max(thick, thickness_[b]);
      if (r > 0) {
        depth += gap;
        double stubs = 0;
        for (std::size_t l = 0; l < d_.lines.size(); ++l) {
          const Stub s = stub(l);
          if (s != Stub::kNone && row(s == Stub::kAtA ? d_.lines[l].a : d_.lines[l].b) == (s == Stub::kAtA ? r - 1 : r))
            stubs = std::max(stubs, stub_length(d_.lines[l]));
        }
        depth += stubs;
        if (!axes_.down())
          for (const std::string& note : gap_notes(r - 1))
            depth += std::max(0.0, text_width(note, kNoteSize) + 2 * kBandPad + 12 - gap);
      }
      depth += up * 0.8;
      row_depth_.push_back(depth);
      row_thickness_.push_back(thick);
      depth += thick + down * 0.8;
    }
    depth_ = depth;
  }

  // ---- What stands around: title, names of rows, legend
  // --------------------------------------------------------------

  // How many links of which rate there are between a row and the next, the most first.
  std::vector<std::pair<BitRate, std::size_t>> rates_in_gap(std::size_t r) const {
    std::map<BitRate, std::size_t> links;
    for (const Line& l : d_.lines)
      if (row(l.a) == r && row(l.b) == r + 1) links[l.rate] += l.links.size();
    std::vector<std::pair<BitRate, std::size_t>> out(links.begin(), links.end());
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
  }

  std::vector<std::string> gap_notes(std::size_t r) const {
    constexpr std::size_t kMost = 3;
    std::vector<std::string> notes;
    for (const auto& [rate, links] : rates_in_gap(r)) {
      if (notes.size() == kMost) {
        notes.push_back("…");
        break;
      }
      notes.push_back(fmt::format("{} × {}", links, rate_text(rate)));
    }
    std::set<std::string> cables;
    for (const Line& l : d_.lines)
      if (row(l.a) == r && row(l.b) == r + 1)
        for (const std::size_t i : l.links) cables.insert(cable_text(lab_.links[i]));
    if (cables.size() == 1) notes.push_back(*cables.begin());
    return notes;
  }

  static std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
    std::vector<std::string> lines;
    std::string word;
    const auto flush = [&] {
      if (word.empty()) return;
      word = shortened(word, most);
      if (lines.empty() || lines.back().size() + 1 + word.size() > most)
        lines.push_back(word);
      else
        lines.back() += " " + word;
      word.clear();
    };
    for (const char c : text) {
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
        flush();
      else
        word += c;
    }
    flush();
    return lines;
  }

  double side_width() const {
    double width = 0;
    for (std::size_t r = 0; r < d_.rows.size(); ++r) {
      width = std::max(width, text_width(d_.rows[r].name, 12, true));
      if (r + 1 < d_.rows.size())
        for (const std::string& note : gap_notes(r)) width = std::max(width, text_width(note, kNoteSize));
    }
    return width + kBandPad;
  }

  void frame() {
    constexpr double kLeast = 560;
    constexpr double kHeader = 28;  // above rows to the right
    constexpr std::size_t kMostDescription = 4;
    const double side = axes_.down() ? side_width() : 0;
    const double title = text_width(d_.name, 20, true);
    const double natural = axes_.down() ? side + length_ + 3 * kBandPad : depth_ + 2 * kBandPad;
    const double inner = std::max({kLeast, natural, title, text_width(d_.size, 11)});
    p_.width = inner + 2 * kPad;
    p_.title = d_.name;
    p_.description = d_.description.empty() ? d_.size : d_.description + " (" + d_.size + ")";

    double y = kPad + 18;
    p_.texts.push_back({{kPad, y}, d_.name, 20, true, Text::Anchor::kStart, kInk});
    auto lines = wrapped(d_.description, static_cast<std::size_t>(inner / (13 * 0.6)));
    if (lines.size() > kMostDescription) {
      lines.resize(kMostDescription);
      lines.back() += " …";
    }
    for (const std::string& line : lines)
      p_.texts.push_back({{kPad, y += 20}, line, 13, false, Text::Anchor::kStart, kInk});
    p_.texts.push_back({{kPad, y += 18}, d_.size, 11, false, Text::Anchor::kStart, kQuietInk});
    y += 18;

    const double spare = inner - natural;
    if (axes_.down()) {
      along_ = kPad + side + 1.5 * kBandPad + spare / 2 - first_along_;
      deep_ = y + kBandPad;
      frame_down(inner);
      y = deep_ + depth_ + kBandPad;
    } else {
      along_ = y + kHeader + kBandPad - first_along_;
      deep_ = kPad + kBandPad + spare / 2;
      frame_right(y, kHeader + length_ + 2 * kBandPad);
      y += kHeader + length_ + 2 * kBandPad;
    }
    p_.height = add_legend(d_, lab_, widths_, kPad, y + 10, p_.width - kPad, p_) + kPad;
  }

  void frame_down(double inner) {
    for (std::size_t r = 0; r < d_.rows.size(); ++r) {
      const double top = deep_ + row_depth_[r];
      const double bottom = top + row_thickness_[r];
      p_.bands.push_back({kPad, top - kBandPad, inner, row_thickness_[r] + 2 * kBandPad});
      p_.texts.push_back(
          {{kPad + kBandPad, (top + bottom) / 2 + 4}, d_.rows[r].name, 12, true, Text::Anchor::kStart, kQuietInk});
      if (r + 1 == d_.rows.size()) continue;
      const auto notes = gap_notes(r);
      double y = (bottom + deep_ + row_depth_[r + 1]) / 2 - kNoteHeight * static_cast<double>(notes.size()) / 2 + 10.5;
      for (const std::string& note : notes) {
        p_.texts.push_back({{kPad + kBandPad, y}, note, kNoteSize, false, Text::Anchor::kStart, kQuietInk});
        y += kNoteHeight;
      }
    }
  }

  void frame_right(double top, double height) {
    for (std::size_t r = 0; r < d_.rows.size(); ++r) {
      const double left = deep_ + row_depth_[r];
      const double right = left + row_thickness_[r];
      p_.bands.push_back({left - kBandPad, top, row_thickness_[r] + 2 * kBandPad, height});
      p_.texts.push_back({{(left + right) / 2, top + 20}, d_.rows[r].name, 12, true, Text::Anchor::kMiddle, kQuietInk});
      if (r + 1 == d_.rows.size()) continue;
      double y = top + 12;
      for (const std::string& note : gap_notes(r)) {
        p_.texts.push_back(
            {{(right + deep_ + row_depth_[r + 1]) / 2, y}, note, kNoteSize, false, Text::Anchor::kMiddle, kQuietInk});
        y += kNoteHeight;
      }
    }
  }

  // ---- Boxes
  // ---------------------------------------------------------------------------------------------------------

  // Where a thing stands along its row, and where its row begins and ends.
  double along(std::size_t thing) const { return along_ + centre_[thing]; }
  double upper(std::size_t r) const { return deep_ + row_depth_[r]; }
  double lower(std::size_t r) const { return upper(r) + row_thickness_[r]; }

  void place_boxes() {
    for (std::size_t b = 0; b < d_.boxes.size(); ++b) {
      const Box& box = d_.boxes[b];
      PlacedBox placed;
      placed.place = axes_.rect(along(b) - extent_[b] / 2, upper(row(b)), extent_[b], row_thickness_[row(b)]);
      placed.is_host = box.is_host;
      placed.is_many = box.nodes > 1;
      const bool on_rail = box.rail != kNoRail;
      placed.fill = box.is_host ? kHost : on_rail ? rail_tint(box.rail) : kSwitch;
      placed.edge = box.is_host ? kHostEdge : on_rail ? rail_colour(box.rail) : kSwitchEdge;
      placed.detail = box.detail;
      write_box(box, placed);
      p_.boxes.push_back(std::move(placed));
    }
  }

  // ---- Lines
  // ---------------------------------------------------------------------------------------------------------

  void collect_ends() {
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      const Line& line = d_.lines[l];
      const auto& things = route(l).things;
      for (std::size_t s = 0; s < route(l).strands; ++s) {
        const bool ports = route(l).strand_is_link;
        ends_[line.a][side(l, true)].push_back({l, s, centre_[things[1]], ports ? line.ports_a[s] : 0});
        ends_[line.b][side(l, false)].push_back(
            {l, s, centre_[things[things.size() - 2]], ports ? line.ports_b[s] : 0});
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
    const double edge = aside ? row_thickness_[row(b)] : extent_[b];
    const double most = aside ? kApartAside : 26;
    const double apart = ends.size() < 2 ? 0 : std::min(most, (edge - 2 * (aside ? 12 : kEndMargin)) / (n - 1));
    double widest = 0;
    for (const End& e : ends) widest = std::max(widest, port_width(e.port));
    const double needed = axes_.down() != aside ? widest : kPortHeight;
    const bool room = ends.size() == 1 || apart >= needed + 0.5;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const double offset = (static_cast<double>(i) - (n - 1) / 2) * apart;
      const double middle = (upper(row(b)) + lower(row(b))) / 2;
      const Point at = s == kUp          ? axes_.point(along(b) + offset, upper(row(b)))
                       : s == kDownwards ? axes_.point(along(b) + offset, lower(row(b)))
                       : s == kBefore    ? axes_.point(along(b) - extent_[b] / 2, middle + offset)
                                         : axes_.point(along(b) + extent_[b] / 2, middle + offset);
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
      const double out = axes_.extent(width, kPortHeight) / 2 * (s == kBefore ? -1 : 1);
      (axes_.down() ? place.x : place.y) += out;
    }
    p_.ports.push_back({place,
                        {{place.x + width / 2, place.y + kPortHeight / 2 + 3},
                         std::to_string(end.port),
                         kPortSize,
                         false,
                         Text::Anchor::kMiddle,
                         kInk},
                        line_colour(d_.lines[end.line])});
  }

  // The more lines there are between two rows, the more each has to step back.
  double opacity(const Line& line) const {
    std::size_t strands = 0;
    for (std::size_t l = 0; l < d_.lines.size(); ++l)
      if (row(d_.lines[l].a) == row(line.a)) strands += route(l).strands;
    return strands > 80 ? 0.5 : strands > 30 ? 0.7 : 0.9;
  }

  void place_lines() {
    std::map<std::size_t, double> opacities;  // by upper row
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      const Line& line = d_.lines[l];
      const Route& way = route(l);
      const auto [known, is_new] = opacities.try_emplace(row(line.a), 0);
      if (is_new) known->second = opacity(line);
      PlacedLine placed;
      placed.colour = line_colour(line);
      placed.width = widths_.of(line.rate) + (way.strand_is_link ? 0 : 1.2);
      placed.opacity = known->second;
      placed.detail = line.detail;
      placed.is_arc = way.kind == Route::Kind::kArc;
      for (std::size_t s = 0; s < way.strands; ++s) placed.strands.push_back(strand(l, s));
      p_.lines.push_back(std::move(placed));
    }
  }

  Point moved(Point p, double deeper) const {
    return axes_.down() ? Point{p.x, p.y + deeper} : Point{p.x + deeper, p.y};
  }

  std::vector<Point> strand(std::size_t l, std::size_t s) const {
    const Line& line = d_.lines[l];
    const Route& way = route(l);
    const Point from = end_at_.at({line.a, l, s});
    const Point to = end_at_.at({line.b, l, s});
    if (way.kind == Route::Kind::kArc) {
      const double by = arc_height(line) * (arcs_go_down(row(line.a)) ? 1 : -1);
      return {from, moved(from, by), moved(to, by), to};
    }
    const Stub straight = stub(l);
    std::vector<Point> points{from};
    if (straight == Stub::kAtA) points.push_back(moved(from, stub_length(line)));
    for (std::size_t i = 1; i + 1 < way.things.size(); ++i) {
      const double aside = (static_cast<double>(s) - static_cast<double>(way.strands - 1) / 2) * 8;
      const std::size_t r = row(line.a) + i;
      points.push_back(axes_.point(along(way.things[i]) + aside, upper(r)));
      points.push_back(axes_.point(along(way.things[i]) + aside, lower(r)));
    }
    if (straight == Stub::kAtB) points.push_back(moved(to, -stub_length(line)));
    points.push_back(to);
    return points;
  }

  // ---- Rates
  // ---------------------------------------------------------------------------------------------------------

  static std::string rate_label(const Line& line) {
    return line.links.size() == 1 ? rate_text(line.rate)
                                  : fmt::format("{} × {}", line.links.size(), rate_text(line.rate));
  }

  bool rate_is_said(std::size_t l) const {
    const Line& line = d_.lines[l];
    constexpr std::size_t kMostLabelled = 12;  // lines of several links that are drawn one by one
    if (row(line.b) != row(line.a) + 1 || !route(l).strand_is_link) return false;
    if (line.links.size() > 1 && parallel_in_gap_[row(line.a)] <= kMostLabelled) return false;
    return rates_in_gap_[row(line.a)].front().first == line.rate;
  }

  void add_rates() {
    for (std::size_t r = 0; r < d_.rows.size(); ++r) rates_in_gap_.push_back(rates_in_gap(r));
    parallel_in_gap_.assign(d_.rows.size(), 0);
    for (std::size_t l = 0; l < d_.lines.size(); ++l)
      if (route(l).strand_is_link && d_.lines[l].links.size() > 1) ++parallel_in_gap_[row(d_.lines[l].a)];
    std::vector<RateWish> wishes;
    for (std::size_t l = 0; l < d_.lines.size(); ++l) {
      if (rate_is_said(l)) continue;
      const auto& strands = p_.lines[l].strands;
      std::vector<Point> path;
      for (std::size_t i = 0; i < strands.front().size(); ++i)
        path.push_back(
            {(strands.front()[i].x + strands.back()[i].x) / 2, (strands.front()[i].y + strands.back()[i].y) / 2});
      if (stub(l) == Stub::kAtA) path.resize(2);
      if (stub(l) == Stub::kAtB) path.erase(path.begin(), path.end() - 2);
      if (p_.lines[l].is_arc) path = {arc_middle(path), arc_middle(path)};
      const int gap = static_cast<int>(row(d_.lines[l].a)) + (route(l).kind == Route::Kind::kDown ? 0 : 10'000);
      wishes.push_back({rate_label(d_.lines[l]), std::move(path), gap});
    }
    std::vector<Rect> obstacles;
    for (const PlacedBox& b : p_.boxes) obstacles.push_back(b.place.grown(2));
    for (const Plate& port : p_.ports) obstacles.push_back(port.place);
    p_.rates = rate_plates(wishes, obstacles);
  }

  static Point arc_middle(const std::vector<Point>& c) {
    return {(c[0].x + 3 * c[1].x + 3 * c[2].x + c[3].x) / 8, (c[0].y + 3 * c[1].y + 3 * c[2].y + c[3].y) / 8};
  }

  const Diagram& d_;
  const spec::Lab& lab_;
  const Axes axes_;
  const Routes routes_;
  const LineWidths widths_;
  std::vector<std::array<std::size_t, kSides>> count_;  // of strands that end at a box, by side
  std::vector<double> extent_;                          // along the row, by thing
  std::vector<double> thickness_;                       // across it, by box
  std::vector<double> centre_;                          // along the row, by thing
  double first_along_ = 0;                              // where the rows begin
  double length_ = 0;                                   // and how long they are
  std::vector<double> row_depth_;                       // by row
  std::vector<double> row_thickness_;
  double depth_ = 0;  // of all rows
  double along_ = 0;  // what is added for the frame
  double deep_ = 0;
  std::vector<std::array<std::vector<End>, kSides>> ends_;                     // by box and side
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Point> end_at_;  // by box, line and strand
  std::vector<std::vector<std::pair<BitRate, std::size_t>>> rates_in_gap_;
  std::vector<std::size_t> parallel_in_gap_;  // lines of several links that are drawn one by one
  Picture p_;
};

}  // namespace

Picture layout(const Diagram& diagram, const spec::Lab& lab, Direction direction) {
  return Layout(diagram, lab, direction).place();
}

}  // namespace railyard::picture
