#include "control/matrix/matrix_files.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "control/picture/palette.h"
#include "control/picture/xml.h"
#include "control/report/flow_csv.h"
#include "control/report/units.h"

namespace railyard::matrix {
namespace {

constexpr std::size_t kMostCells = 256;
constexpr std::size_t kMostNames = 64;

// From paper to a dark blue.
std::string colour(double share) {
  constexpr int kFrom[] = {255, 255, 255}, kTo[] = {0, 68, 136};
  int c[3];
  for (int i = 0; i < 3; ++i) c[i] = kFrom[i] + static_cast<int>(std::lround(share * (kTo[i] - kFrom[i])));
  return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

}  // namespace

std::string csv(const CommunicationMatrix& m) {
  std::string out = "from";
  for (const std::string& name : m.names) out += "," + report::csv_field(name);
  out += '\n';
  for (std::size_t from = 0; from < m.names.size(); ++from) {
    out += report::csv_field(m.names[from]);
    for (std::size_t to = 0; to < m.names.size(); ++to) fmt::format_to(std::back_inserter(out), ",{}", m.at(from, to));
    out += '\n';
  }
  return out;
}

std::string svg(const CommunicationMatrix& m, const std::string& title) {
  const std::size_t n = m.names.size();
  const std::size_t together = std::max<std::size_t>((n + kMostCells - 1) / kMostCells, 1);
  const std::size_t cells = (n + together - 1) / together;
  std::vector<double> sums(cells * cells);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 0; to < n; ++to) sums[from / together * cells + to / together] += static_cast<double>(m.at(from, to));
  const double most = sums.empty() ? 0 : std::ranges::max(sums);
  const int cell = cells <= 16 ? 28 : cells <= 64 ? 14 : 4;
  const bool named = n <= kMostNames;
  std::size_t longest = 0;
  if (named)
    for (const std::string& name : m.names) longest = std::max(longest, name.size());
  const int left = 40 + static_cast<int>(named ? 7 * longest : 0), top = 64 + static_cast<int>(named ? 7 * longest : 0);
  const int side = static_cast<int>(cells) * cell;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"system-ui, sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n<text x=\"20\" y=\"26\" fill=\"{3}\" font-size=\"15\">{4}</text>\n"
      "<text x=\"20\" y=\"44\" fill=\"{5}\">{6} in all; rows send, columns receive{7}</text>\n",
      std::max(left + side + 20, 460), top + side + 60, picture::kPaper, picture::kInk, picture::escaped(title), picture::kQuietInk,
      report::size_text(m.total()), together > 1 ? fmt::format("; each square is {0} x {0} of {1}", together, n) : std::string());
  const auto add = std::back_inserter(out);
  if (named)
    for (std::size_t i = 0; i < n; ++i) {
      const int middle = static_cast<int>(i) * cell + cell / 2;
      fmt::format_to(add, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" dominant-baseline=\"middle\" fill=\"{}\">{}</text>\n", left - 6, top + middle,
                     picture::kInk, picture::escaped(m.names[i]));
      fmt::format_to(add, "<text transform=\"translate({},{}) rotate(-90)\" dominant-baseline=\"middle\" fill=\"{}\">{}</text>\n", left + middle,
                     top - 6, picture::kInk, picture::escaped(m.names[i]));
    }
  for (std::size_t from = 0; from < cells; ++from)
    for (std::size_t to = 0; to < cells; ++to) {
      const double sum = sums[from * cells + to];
      if (sum <= 0) continue;
      fmt::format_to(add, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{} to {}: {}</title></rect>\n",
                     left + static_cast<int>(to) * cell, top + static_cast<int>(from) * cell, cell, cell, colour(0.15 + 0.85 * sum / most),
                     picture::escaped(m.names[from * together]), picture::escaped(m.names[to * together]),
                     report::size_text(static_cast<std::uint64_t>(sum)));
    }
  fmt::format_to(add, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", left, top, side, side, picture::kPaperEdge);
  // The scale: nothing, and the most.
  const int y = top + side + 24;
  fmt::format_to(add, "<text x=\"{}\" y=\"{}\" fill=\"{}\">0</text>\n", left, y + 11, picture::kQuietInk);
  for (int i = 0; i <= 10; ++i)
    fmt::format_to(add, "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{}\"/>\n", left + 14 + 14 * i, y, i == 0 ? colour(0) : colour(0.15 + 0.085 * i));
  fmt::format_to(add, "<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n</svg>\n", left + 176, y + 11, picture::kQuietInk,
                 report::size_text(static_cast<std::uint64_t>(most)));
  return out;
}

}  // namespace railyard::matrix
