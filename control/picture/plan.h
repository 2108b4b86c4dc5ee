// What a layout starts from, and what follows from it before anything has a place: at which sides of boxes lines end.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "control/picture/axes.h"
#include "control/picture/diagram.h"
#include "control/picture/legend.h"
#include "control/picture/routes.h"
#include "control/spec/spec.h"

namespace railyard::picture {

// The sides of a box where lines end, as rows see them.
enum Side : std::size_t { kUp, kDownwards, kBefore, kAfter, kSides };

// A line for many links that is alone at a box goes straight for the last piece there, and its rate is written on that:
// of lines that come from one point it is clear only there which is whose.
enum class Stub { kNone, kAtA, kAtB };

// Refers to the diagram and the lab. Lines, boxes and rows by their numbers in the diagram; things as in Route.
class Plan {
 public:
  Plan(const Diagram& diagram, const spec::Lab& lab, Direction direction);

  const Diagram& diagram() const noexcept { return d_; }
  const spec::Lab& lab() const noexcept { return lab_; }
  const Axes& axes() const noexcept { return axes_; }
  const Routes& routes() const noexcept { return routes_; }
  const LineWidths& widths() const noexcept { return widths_; }

  bool is_box(std::size_t thing) const noexcept { return thing < d_.boxes.size(); }
  const Route& route(std::size_t line) const { return routes_.of_line[line]; }
  std::size_t row(std::size_t box) const { return d_.row_of[box]; }

  // The side of its box that a line ends at.
  Side side(std::size_t line, bool at_a) const;
  // Strands that end at a side of a box.
  std::size_t ends(std::size_t box, Side side) const { return ends_[box][side]; }

  // Arcs go over the switches, and below the hosts.
  bool arcs_go_down(std::size_t row) const;
  double arc_height(const Line& line) const;

  Stub stub(std::size_t line) const;
  double stub_length(const Line& line) const;

 private:
  const Diagram& d_;
  const spec::Lab& lab_;
  Axes axes_;
  Routes routes_;
  LineWidths widths_;
  std::vector<std::array<std::size_t, kSides>> ends_;  // by box
};

}  // namespace railyard::picture
