#include "control/picture/line_text.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "control/picture/words.h"

namespace railyard::picture {

std::string rate_label(const Line& line) {
  return line.links.size() == 1 ? rate_text(line.rate)
                                : fmt::format("{} × {}", line.links.size(), rate_text(line.rate));
}

std::vector<std::pair<BitRate, std::size_t>> rates_in_gap(const Diagram& d, std::size_t r) {
  std::map<BitRate, std::size_t> links;
  for (const Line& l : d.lines)
    if (d.row_of[l.a] == r && d.row_of[l.b] == r + 1) links[l.rate] += l.links.size();
  std::vector<std::pair<BitRate, std::size_t>> out(links.begin(), links.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::vector<std::string> gap_notes(const Diagram& d, const spec::Lab& lab, std::size_t r) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> notes;
  for (const auto& [rate, links] : rates_in_gap(d, r)) {
    if (notes.size() == kMost) {
      notes.push_back("…");
      break;
    }
    notes.push_back(fmt::format("{} × {}", links, rate_text(rate)));
  }
  std::set<std::string> cables;
  for (const Line& l : d.lines)
    if (d.row_of[l.a] == r && d.row_of[l.b] == r + 1)
      for (const std::size_t i : l.links) cables.insert(cable_text(lab.links[i]));
  if (cables.size() == 1) notes.push_back(*cables.begin());
  return notes;
}

}  // namespace railyard::picture
