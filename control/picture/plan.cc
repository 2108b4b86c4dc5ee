#include "control/picture/plan.h"

#include <algorithm>

#include "control/picture/line_text.h"
#include "control/picture/text_width.h"

namespace railyard::picture {

Plan::Plan(const Diagram& diagram, const spec::Lab& lab, Direction direction)
    : d_(diagram),
      lab_(lab),
      axes_{direction},
      routes_(picture::routes(diagram)),
      widths_(lab),
      ends_(diagram.boxes.size()) {
  for (std::size_t l = 0; l < d_.lines.size(); ++l) {
    ends_[d_.lines[l].a][side(l, true)] += route(l).strands;
    ends_[d_.lines[l].b][side(l, false)] += route(l).strands;
  }
}

bool Plan::arcs_go_down(std::size_t row) const {
  return row + 1 == d_.rows.size() && d_.boxes[d_.rows[row].boxes.front()].is_host;
}

double Plan::arc_height(const Line& line) const {
  const auto [first, last] = std::minmax(routes_.position[line.a], routes_.position[line.b]);
  return 32 + 9 * static_cast<double>(std::min<std::size_t>(last - first, 8));
}

Side Plan::side(std::size_t l, bool at_a) const {
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

Stub Plan::stub(std::size_t l) const {
  const Line& line = d_.lines[l];
  if (route(l).kind != Route::Kind::kDown || route(l).strand_is_link) return Stub::kNone;
  if (ends(line.b, kUp) == 1 && ends(line.a, kDownwards) > 1) return Stub::kAtB;
  if (ends(line.a, kDownwards) == 1 && ends(line.b, kUp) > 1) return Stub::kAtA;
  return Stub::kNone;
}

double Plan::stub_length(const Line& line) const {
  return axes_.thickness(text_width(rate_label(line), kNoteSize), 15) + 30;
}

}  // namespace railyard::picture
