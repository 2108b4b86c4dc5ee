#include "control/picture/frame.h"

#include <algorithm>
#include <string>
#include <vector>

#include "control/picture/line_text.h"
#include "control/picture/palette.h"
#include "control/picture/text_width.h"
#include "control/picture/words.h"

namespace railyard::picture {
namespace {

std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  std::string word;
  const auto flush = [&] {
    if (word.empty()) return;
    word = shortened(word, most);
    if (lines.empty() || lines.back().size() + 1 + word.size() > most)
      lines.push_back(word);
    else
      lines.back() += " " + word;
    word.clear();
  };
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      flush();
    else
      word += c;
  }
  flush();
  return lines;
}

// Of what stands at the left of rows that go from left to right.
double side_width(const Plan& plan) {
  const Diagram& d = plan.diagram();
  double width = 0;
  for (std::size_t r = 0; r < d.rows.size(); ++r) {
    width = std::max(width, text_width(d.rows[r].name, 12, true));
    if (r + 1 < d.rows.size())
      for (const std::string& note : gap_notes(d, plan.lab(), r)) width = std::max(width, text_width(note, kNoteSize));
  }
  return width + kBandPad;
}

void add_rows_down(const Plan& plan, const Positions& p, double inner, Picture& picture) {
  const Diagram& d = plan.diagram();
  for (std::size_t r = 0; r < d.rows.size(); ++r) {
    const double top = p.upper(r);
    const double bottom = p.lower(r);
    picture.bands.push_back({kPad, top - kBandPad, inner, p.row_thickness[r] + 2 * kBandPad});
    picture.texts.push_back(
        {{kPad + kBandPad, (top + bottom) / 2 + 4}, d.rows[r].name, 12, true, Text::Anchor::kStart, kQuietInk});
    if (r + 1 == d.rows.size()) continue;
    const auto notes = gap_notes(d, plan.lab(), r);
    double y = (bottom + p.upper(r + 1)) / 2 - kNoteHeight * static_cast<double>(notes.size()) / 2 + 10.5;
    for (const std::string& note : notes) {
      picture.texts.push_back({{kPad + kBandPad, y}, note, kNoteSize, false, Text::Anchor::kStart, kQuietInk});
      y += kNoteHeight;
    }
  }
}

void add_rows_right(const Plan& plan, const Positions& p, double top, double height, Picture& picture) {
  const Diagram& d = plan.diagram();
  for (std::size_t r = 0; r < d.rows.size(); ++r) {
    const double left = p.upper(r);
    const double right = p.lower(r);
    picture.bands.push_back({left - kBandPad, top, p.row_thickness[r] + 2 * kBandPad, height});
    picture.texts.push_back(
        {{(left + right) / 2, top + 20}, d.rows[r].name, 12, true, Text::Anchor::kMiddle, kQuietInk});
    if (r + 1 == d.rows.size()) continue;
    double y = top + 12;
    for (const std::string& note : gap_notes(d, plan.lab(), r)) {
      picture.texts.push_back(
          {{(right + p.upper(r + 1)) / 2, y}, note, kNoteSize, false, Text::Anchor::kMiddle, kQuietInk});
      y += kNoteHeight;
    }
  }
}

}  // namespace

double add_header(const Diagram& d, double inner, Picture& picture) {
  constexpr std::size_t kMostDescription = 4;
  picture.title = d.name;
  picture.description = d.description.empty() ? d.size : d.description + " (" + d.size + ")";
  double y = kPad + 18;
  picture.texts.push_back({{kPad, y}, d.name, 20, true, Text::Anchor::kStart, kInk});
  auto lines = wrapped(d.description, static_cast<std::size_t>(inner / (13 * 0.6)));
  if (lines.size() > kMostDescription) {
    lines.resize(kMostDescription);
    lines.back() += " …";
  }
  for (const std::string& line : lines)
    picture.texts.push_back({{kPad, y += 20}, line, 13, false, Text::Anchor::kStart, kInk});
  picture.texts.push_back({{kPad, y += 18}, d.size, 11, false, Text::Anchor::kStart, kQuietInk});
  return y + 18;
}

void add_frame(const Plan& plan, Positions& p, Picture& picture) {
  const Diagram& d = plan.diagram();
  constexpr double kLeast = 560;
  constexpr double kHeader = 28;  // above rows to the right
  const double side = plan.axes().down() ? side_width(plan) : 0;
  const double title = text_width(d.name, 20, true);
  const double natural = plan.axes().down() ? side + p.length + 3 * kBandPad : p.depth + 2 * kBandPad;
  const double inner = std::max({kLeast, natural, title, text_width(d.size, 11)});
  picture.width = inner + 2 * kPad;
  double y = add_header(d, inner, picture);

  const double spare = inner - natural;
  if (plan.axes().down()) {
    p.along_0 = kPad + side + 1.5 * kBandPad + spare / 2 - p.first_along;
    p.depth_0 = y + kBandPad;
    add_rows_down(plan, p, inner, picture);
    y = p.depth_0 + p.depth + kBandPad;
  } else {
    p.along_0 = y + kHeader + kBandPad - p.first_along;
    p.depth_0 = kPad + kBandPad + spare / 2;
    add_rows_right(plan, p, y, kHeader + p.length + 2 * kBandPad, picture);
    y += kHeader + p.length + 2 * kBandPad;
  }
  picture.height = add_legend(d, plan.lab(), plan.widths(), kPad, y + 10, picture.width - kPad, picture) + kPad;
}

}  // namespace railyard::picture
