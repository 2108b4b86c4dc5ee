#include "control/timeline/intervals.h"

#include <algorithm>

namespace railyard::timeline {

std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.to <= i.from; });
  std::ranges::sort(intervals, {}, &Interval::from);
  std::vector<Interval> out;
  for (const Interval& i : intervals)
    if (!out.empty() && i.from <= out.back().to)
      out.back().to = std::max(out.back().to, i.to);
    else
      out.push_back(i);
  return out;
}

std::vector<Interval> subtracted(const std::vector<Interval>& from, const std::vector<Interval>& without) {
  std::vector<Interval> out;
  std::size_t next = 0;
  for (Interval left : from) {
    while (next < without.size() && without[next].to <= left.from) ++next;
    for (std::size_t i = next; i < without.size() && without[i].from < left.to; ++i) {
      if (without[i].from > left.from) out.push_back({left.from, without[i].from});
      left.from = std::min(without[i].to, left.to);
    }
    if (left.from < left.to) out.push_back(left);
  }
  return out;
}

Duration length(const std::vector<Interval>& intervals) noexcept {
  Duration all{};
  for (const Interval& i : intervals) all += i.to - i.from;
  return all;
}

}  // namespace railyard::timeline
