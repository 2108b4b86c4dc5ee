// What the colours and widths of a picture mean, and what its links have in common.
#pragma once

#include "control/picture/diagram.h"
#include "control/picture/geometry.h"

namespace railyard::picture {

// How wide links of a rate are drawn: the faster, the wider, among the rates that the lab has.
class LineWidths {
 public:
  explicit LineWidths(const spec::Lab& lab);
  double of(BitRate rate) const;
  const std::vector<BitRate>& rates() const noexcept { return rates_; }

 private:
  std::vector<BitRate> rates_;  // ascending, each once
};

// Writes the legend from `top` on, between `left` and `right`; gives its lower end.
double add_legend(const Diagram& diagram, const spec::Lab& lab, const LineWidths& widths, double left, double top,
                  double right, Picture& picture);

}  // namespace railyard::picture
