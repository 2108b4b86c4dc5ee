#include "control/picture/layout.h"

#include <utility>

#include "control/picture/box_text.h"
#include "control/picture/frame.h"
#include "control/picture/line_rates.h"
#include "control/picture/map_layout.h"
#include "control/picture/palette.h"
#include "control/picture/place_lines.h"
#include "control/picture/plan.h"
#include "control/picture/positions.h"
#include "control/picture/rails.h"

namespace railyard::picture {
namespace {

void place_boxes(const Plan& plan, const Positions& p, Picture& picture) {
  const Diagram& d = plan.diagram();
  for (std::size_t b = 0; b < d.boxes.size(); ++b) {
    const Box& box = d.boxes[b];
    PlacedBox placed;
    placed.place =
        plan.axes().rect(p.along(b) - p.extent[b] / 2, p.upper(plan.row(b)), p.extent[b], p.row_thickness[plan.row(b)]);
    placed.is_host = box.is_host;
    placed.is_many = box.nodes > 1;
    const bool on_rail = box.rail != kNoRail;
    placed.fill = box.is_host ? kHost : on_rail ? rail_tint(box.rail) : kSwitch;
    placed.edge = box.is_host ? kHostEdge : on_rail ? rail_colour(box.rail) : kSwitchEdge;
    placed.detail = box.detail;
    write_box(box, placed);
    picture.boxes.push_back(std::move(placed));
  }
}

}  // namespace

Picture layout(const Diagram& diagram, const spec::Lab& lab, Direction direction) {
  const routing::Graph graph(lab);
  if (const Shape shape = shape_of(graph); shape != Shape::kTiers) return map_layout(diagram, graph, shape);
  const Plan plan(diagram, lab, direction);
  Positions where = positions(plan);
  Picture picture;
  add_frame(plan, where, picture);
  place_boxes(plan, where, picture);
  place_lines(plan, where, picture);
  add_line_rates(plan, picture);
  return picture;
}

}  // namespace railyard::picture
