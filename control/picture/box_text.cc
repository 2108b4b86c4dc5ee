#include "control/picture/box_text.h"

#include <algorithm>

#include "control/picture/palette.h"
#include "control/picture/rails.h"
#include "control/picture/text_width.h"

namespace railyard::picture {
namespace {

constexpr double kNameSize = 13;
constexpr double kNameHeight = 17;
constexpr double kLineSize = 10.5;
constexpr double kLineHeight = 14;
constexpr double kDotWidth = 10;  // with the space behind it

double line_width(const TextLine& l) { return text_width(l.text, kLineSize) + (l.rail == kNoRail ? 0 : kDotWidth); }

double text_height(const Box& box) { return kNameHeight + kLineHeight * static_cast<double>(box.lines.size()); }

}  // namespace

Rect box_size(const Box& box, const Axes& axes) {
  constexpr double kLeastWidth = 64;
  double width = text_width(box.name, kNameSize, true);
  for (const TextLine& l : box.lines) width = std::max(width, line_width(l));
  return {0, 0, std::max(kLeastWidth, width + 2 * (axes.down() ? 10 : 22)),
          text_height(box) + 2 * (axes.down() ? 12 : 7)};
}

void write_box(const Box& box, PlacedBox& placed) {
  const Rect& r = placed.place;
  const double middle = r.x + r.width / 2;
  double y = r.y + (r.height - text_height(box)) / 2;
  placed.texts.push_back({{middle, y + 13}, box.name, kNameSize, true, Text::Anchor::kMiddle, kInk});
  y += kNameHeight;
  double widest = 0;
  for (const TextLine& l : box.lines)
    if (l.rail != kNoRail) widest = std::max(widest, line_width(l));
  for (const TextLine& l : box.lines) {
    Text text{{middle, y + 10.5}, l.text, kLineSize, false, Text::Anchor::kMiddle, kQuietInk};
    if (l.rail != kNoRail) {
      const double left = middle - widest / 2;
      placed.dots.push_back({{left + 3, y + 7}, 3, rail_colour(l.rail)});
      text.at.x = left + kDotWidth;
      text.anchor = Text::Anchor::kStart;
    }
    placed.texts.push_back(std::move(text));
    y += kLineHeight;
  }
}

}  // namespace railyard::picture
