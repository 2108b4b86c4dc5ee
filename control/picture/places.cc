#include "control/picture/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <utility>

#include "control/picture/axes.h"
#include "control/picture/box_text.h"

namespace railyard::picture {
namespace {

constexpr double kApart = 14;  // boxes, at least

struct Size {
  double width = 0;
  double height = 0;
  double diagonal() const { return std::hypot(width, height); }
  void cover(const Size& other) {
    width = std::max(width, other.width);
    height = std::max(height, other.height);
  }
};

class SwitchPlacing {
 public:
  SwitchPlacing(const Diagram& diagram, const routing::Graph& graph) : d_(diagram), graph_(graph) {
    const std::size_t n = d_.boxes.size();
    out_.rect.resize(n);
    out_.hosts.resize(n);
    out_.slot.resize(n);
    out_.ring.resize(n);
    for (std::size_t b = 0; b < n; ++b) {
      const Rect size = box_size(d_.boxes[b], Axes{});
      size_.push_back({size.width, size.height});
      if (is_switch(b)) switches_.push_back(b);
    }
    for (const Line& l : d_.lines)
      if (is_switch(l.a) != is_switch(l.b)) {
        const auto [sw, host] = is_switch(l.a) ? std::pair(l.a, l.b) : std::pair(l.b, l.a);
        auto& known = out_.hosts[sw];
        if (std::ranges::find(known, host) == known.end()) known.push_back(host);
      }
    for (const std::size_t b : switches_) stack_.cover(stack(b));
  }

  Places place(Shape shape) {
    if (shape == Shape::kGrid)
      place_grid();
    else
      place_around(shape == Shape::kGroups);
    return std::move(out_);
  }

 private:
  bool is_switch(std::size_t box) const { return graph_.is_switch(d_.boxes[box].first); }
  const std::vector<int>& at(std::size_t box) const { return graph_.lab().nodes[d_.boxes[box].first].at; }

  // Of a switch's hosts, one below the other.
  Size stack(std::size_t box) const {
    Size all;
    for (const std::size_t h : out_.hosts[box]) {
      all.width = std::max(all.width, size_[h].width);
      all.height += size_[h].height + (all.height > 0 ? kApart / 2 : 0);
    }
    return all;
  }
  void put(std::size_t box, double x, double y, const Size& size) {
    out_.rect[box] = {x - size.width / 2, y - size.height / 2, size.width, size.height};
  }
  // The middle of the stack's upper edge.
  void put_hosts(std::size_t box, double x, double top) {
    for (const std::size_t h : out_.hosts[box]) {
      put(h, x, top + size_[h].height / 2, {stack_.width, size_[h].height});
      top += size_[h].height + kApart / 2;
    }
  }

  // Hosts stand below their switch, at the right of the line to the next row. A third dimension goes up to the right.
  void place_grid() {
    Size sw;
    for (const std::size_t b : switches_) sw.cover(size_[b]);
    std::array<int, 3> span{};  // of the longest curve along each dimension, in switches that it passes
    for (const Line& l : d_.lines)
      if (is_switch(l.a) && is_switch(l.b))
        for (std::size_t k = 0; k < at(l.a).size(); ++k)
          span[k] = std::max(span[k], std::abs(at(l.a)[k] - at(l.b)[k]) - 1);
    const auto curve = [&](std::size_t k) { return span[k] > 0 ? 0.75 * curve_height(span[k]) : 0; };
    const double left = sw.width / 2 + curve(1);
    const double right = std::max(sw.width / 2, stack_.width == 0 ? 0 : kBesideLine + stack_.width);
    const double above = sw.height / 2 + curve(0);
    const double below = sw.height / 2 + (stack_.height == 0 ? 0 : kApart + stack_.height);
    std::array<int, 3> most{};
    for (const std::size_t b : switches_)
      for (std::size_t k = 0; k < at(b).size(); ++k) most[k] = std::max(most[k], at(b)[k]);
    // Past a column's curves, too.
    const double step_x = (curve(1) > 0 ? left + right : std::max(left, right)) + kApart;
    const double step_y = above + below + kApart;
    const double column = left + right + most[2] * step_x + 2 * kApart;
    const double row = step_y * (1 + most[2]) + (most[2] > 0 ? kApart : 0);
    for (const std::size_t b : switches_) {
      const std::vector<int>& c = at(b);
      const int z = c.size() > 2 ? c[2] : 0;
      const double x = c[0] * column + z * step_x;
      const double y = (c.size() > 1 ? c[1] * row : 0) - z * step_y;
      put(b, x, y, sw);
      put_hosts(b, x + kBesideLine + stack_.width / 2, y + sw.height / 2 + kApart);
    }
  }

  // Switches with links to other groups stand inside, others of their group around them, hosts outside.
  void place_around(bool in_groups) {
    const auto group = [&](std::size_t b) { return in_groups ? at(b).front() : 0; };
    std::vector<std::size_t> sorted = switches_;
    std::ranges::stable_sort(sorted, {}, [&](std::size_t b) { return at(b); });
    if (in_groups) find_rings(group);
    std::map<int, std::array<std::vector<std::size_t>, 2>> groups;
    for (const std::size_t b : sorted) groups[group(b)][static_cast<std::size_t>(out_.ring[b])].push_back(b);
    const double gap = in_groups ? 0.6 : 0;
    double start = 0;
    for (const auto& [number, rings] : groups) {
      const auto width = static_cast<double>(std::max(rings[0].size(), rings[1].size()));
      for (const auto& ring : rings)
        for (std::size_t i = 0; i < ring.size(); ++i)
          out_.slot[ring[i]] =
              start + (width - static_cast<double>(ring.size())) / 2 + static_cast<double>(i) + 0.5;
      start += width + gap;
    }
    out_.slots = std::max(start, 2.0);
    put_around(sorted);
  }

  // A single ring, if those inside have hosts as well.
  template <class Group>
  void find_rings(Group group) {
    std::vector<bool> leads_out(d_.boxes.size(), false);
    for (const Line& l : d_.lines)
      if (is_switch(l.a) && is_switch(l.b) && group(l.a) != group(l.b)) leads_out[l.a] = leads_out[l.b] = true;
    if (std::ranges::any_of(switches_, [&](std::size_t b) { return leads_out[b] && !out_.hosts[b].empty(); })) return;
    for (const std::size_t b : switches_) out_.ring[b] = leads_out[b] ? 0 : 1;
  }

  void put_around(const std::vector<std::size_t>& sorted) {
    std::array<Size, 2> size;
    for (const std::size_t b : sorted) size[static_cast<std::size_t>(out_.ring[b])].cover(size_[b]);
    const double half_step = std::sin(std::numbers::pi / out_.slots);
    double radius = 0;
    double inner = 0;  // the diagonal of what stands further in
    const auto next = [&](const Size& s) {
      if (s.width == 0) return radius;
      radius = std::max((s.diagonal() + kApart) / (2 * half_step),
                        inner == 0 ? 0 : radius + (inner + s.diagonal()) / 2 + kApart);
      inner = s.diagonal();
      return radius;
    };
    const std::array<double, 2> of_ring{next(size[0]), next(size[1])};
    const double of_hosts = next(stack_);
    for (const std::size_t b : sorted) {
      const double angle = 2 * std::numbers::pi * (out_.slot[b] - 0.5) / out_.slots;
      const auto ring = static_cast<std::size_t>(out_.ring[b]);
      put(b, of_ring[ring] * std::sin(angle), -of_ring[ring] * std::cos(angle), size[ring]);
      put_hosts(b, of_hosts * std::sin(angle), -of_hosts * std::cos(angle) - stack(b).height / 2);
    }
  }

  static constexpr double kBesideLine = 10;

  const Diagram& d_;
  const routing::Graph& graph_;
  std::vector<Size> size_;  // by box
  std::vector<std::size_t> switches_;
  Size stack_;  // of the hosts of a switch, the largest
  Places out_;
};

}  // namespace

Places places_of(const Diagram& diagram, const routing::Graph& graph, Shape shape) {
  return SwitchPlacing(diagram, graph).place(shape);
}

}  // namespace railyard::picture
