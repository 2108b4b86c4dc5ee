#include "control/picture/rate_plates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>

#include "control/picture/palette.h"
#include "control/picture/text_width.h"

namespace railyard::picture {
namespace {

constexpr double kSize = 10.5;
constexpr double kHeight = 15;
// Parts of the way, in the order of preference: the middle, then towards the lower end, where lines are further apart.
constexpr std::array kParts{0.5, 0.6, 0.7, 0.78, 0.4, 0.84, 0.3, 0.2};

Point along(const std::vector<Point>& path, double part) {
  double length = 0;
  for (std::size_t i = 1; i < path.size(); ++i)
    length += std::hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y);
  double left = length * part;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const double piece = std::hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y);
    if (piece > 0 && left <= piece) {
      const double t = left / piece;
      return {path[i - 1].x + t * (path[i].x - path[i - 1].x), path[i - 1].y + t * (path[i].y - path[i - 1].y)};
    }
    left -= piece;
  }
  return path.back();
}

Rect plate_at(const RateWish& wish, double part) {
  const Point p = along(wish.path, part);
  const double width = text_width(wish.text, kSize) + 8;
  return {p.x - width / 2, p.y - kHeight / 2, width, kHeight};
}

class Places {
 public:
  explicit Places(const std::vector<Rect>& obstacles) : taken_(obstacles) {}

  bool take_all(const std::vector<const RateWish*>& wishes, double part) {
    const std::size_t before = taken_.size();
    for (const RateWish* w : wishes)
      if (!take(plate_at(*w, part))) {
        taken_.resize(before);
        return false;
      }
    return true;
  }
  bool take(const Rect& r) {
    if (std::any_of(taken_.begin(), taken_.end(), [&](const Rect& t) { return t.overlaps(r); })) return false;
    taken_.push_back(r);
    return true;
  }

 private:
  std::vector<Rect> taken_;
};

Plate plate(const RateWish& wish, const Rect& place) {
  return {
      place,
      {{place.x + place.width / 2, place.y + kHeight / 2 + 3.7}, wish.text, kSize, false, Text::Anchor::kMiddle, kInk},
      ""};
}

}  // namespace

std::vector<Plate> rate_plates(const std::vector<RateWish>& wishes, const std::vector<Rect>& obstacles) {
  std::map<int, std::vector<const RateWish*>> by_gap;
  for (const RateWish& w : wishes) by_gap[w.gap].push_back(&w);
  Places places(obstacles);
  std::vector<Plate> out;
  for (const auto& [gap, those] : by_gap) {
    const auto all =
        std::find_if(kParts.begin(), kParts.end(), [&](double part) { return places.take_all(those, part); });
    for (const RateWish* w : those) {
      if (all != kParts.end()) {
        out.push_back(plate(*w, plate_at(*w, *all)));
        continue;
      }
      for (const double part : kParts)
        if (const Rect r = plate_at(*w, part); places.take(r)) {
          out.push_back(plate(*w, r));
          break;
        }
    }
  }
  return out;
}

}  // namespace railyard::picture
