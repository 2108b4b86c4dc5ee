#include "control/picture/line_rates.h"

#include <utility>
#include <vector>

#include "control/picture/line_text.h"
#include "control/picture/rate_plates.h"

namespace railyard::picture {
namespace {

// By upper row.
struct Gaps {
  std::vector<std::vector<std::pair<BitRate, std::size_t>>> rates;
  std::vector<std::size_t> parallel;  // lines of several links that are drawn one by one
};

bool rate_is_said(const Plan& plan, const Gaps& gaps, std::size_t l) {
  const Diagram& d = plan.diagram();
  const Line& line = d.lines[l];
  constexpr std::size_t kMostLabelled = 12;  // lines of several links that are drawn one by one
  if (plan.row(line.b) != plan.row(line.a) + 1 || !plan.route(l).strand_is_link) return false;
  if (line.links.size() > 1 && gaps.parallel[plan.row(line.a)] <= kMostLabelled) return false;
  return gaps.rates[plan.row(line.a)].front().first == line.rate;
}

Point arc_middle(const std::vector<Point>& c) {
  return {(c[0].x + 3 * c[1].x + 3 * c[2].x + c[3].x) / 8, (c[0].y + 3 * c[1].y + 3 * c[2].y + c[3].y) / 8};
}

}  // namespace

void add_line_rates(const Plan& plan, Picture& picture) {
  const Diagram& d = plan.diagram();
  Gaps gaps;
  for (std::size_t r = 0; r < d.rows.size(); ++r) gaps.rates.push_back(rates_in_gap(d, r));
  gaps.parallel.assign(d.rows.size(), 0);
  for (std::size_t l = 0; l < d.lines.size(); ++l)
    if (plan.route(l).strand_is_link && d.lines[l].links.size() > 1) ++gaps.parallel[plan.row(d.lines[l].a)];
  std::vector<RateWish> wishes;
  for (std::size_t l = 0; l < d.lines.size(); ++l) {
    if (rate_is_said(plan, gaps, l)) continue;
    const auto& strands = picture.lines[l].strands;
    std::vector<Point> path;
    for (std::size_t i = 0; i < strands.front().size(); ++i)
      path.push_back(
          {(strands.front()[i].x + strands.back()[i].x) / 2, (strands.front()[i].y + strands.back()[i].y) / 2});
    if (plan.stub(l) == Stub::kAtA) path.resize(2);
    if (plan.stub(l) == Stub::kAtB) path.erase(path.begin(), path.end() - 2);
    if (picture.lines[l].is_arc) path = {arc_middle(path), arc_middle(path)};
    const int gap = static_cast<int>(plan.row(d.lines[l].a)) + (plan.route(l).kind == Route::Kind::kDown ? 0 : 10'000);
    wishes.push_back({rate_label(d.lines[l]), std::move(path), gap});
  }
  std::vector<Rect> obstacles;
  for (const PlacedBox& b : picture.boxes) obstacles.push_back(b.place.grown(2));
  for (const Plate& port : picture.ports) obstacles.push_back(port.place);
  picture.rates = rate_plates(wishes, obstacles);
}

}  // namespace railyard::picture
