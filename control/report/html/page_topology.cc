// The lab as a picture: what `railyard graph` draws.
#include "control/picture/diagram.h"
#include "control/picture/layout.h"
#include "control/picture/svg.h"

#include <fmt/format.h>

#include "control/report/html/markup.h"
#include "control/report/html/sections.h"
#include "control/spec/reducers.h"

namespace railyard::report {

std::string topology_section(const spec::Lab& whole) {
  if (whole.nodes.empty()) return {};
  const spec::Lab lab = spec::without_reducers(whole);
  const picture::Picture p = picture::layout(picture::diagram(lab), lab, picture::Direction::kDown);
  // As wide as the page, but no larger than drawn, and never so small that its least text cannot be read: then it
  // scrolls.
  constexpr double kLeastScale = 0.85;
  return fmt::format("<div class=\"wide topology\"><div style=\"max-width:{:.0f}px;min-width:{:.0f}px\">{}</div></div>\n",
                     p.width, p.width * kLeastScale, picture::inline_svg(p)) +
         paragraph("Point at a node or link for its details. In large labs, nodes that are alike share a box.", "note");
}

}  // namespace railyard::report
