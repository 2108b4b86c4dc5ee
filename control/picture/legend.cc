#include "control/picture/legend.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/picture/palette.h"
#include "control/picture/text_width.h"
#include "control/picture/words.h"

namespace railyard::picture {
namespace {

constexpr double kSize = 11;
constexpr double kLineHeight = 20;
constexpr double kHeadingWidth = 52;
constexpr std::size_t kMostKinds = 8;  // of rates, of cables, ...

// Entries side by side behind a heading, in as many lines as it takes.
class Flow {
 public:
  Flow(Picture& picture, double left, double top, double right)
      : picture_(picture), left_(left), right_(right), baseline_(top) {}

  void heading(const std::string& text) {
    baseline_ += kLineHeight;
    x_ = left_ + kHeadingWidth;
    picture_.texts.push_back({{left_, baseline_}, text, kSize, true, Text::Anchor::kStart, kQuietInk});
  }
  void dot(const std::string& text, const std::string& colour) {
    const double x = start(14 + text_width(text, kSize));
    picture_.dots.push_back({{x + 5, baseline_ - 4}, 5, colour});
    write(x + 14, text);
  }
  void line(const std::string& text, double width) {
    const double x = start(32 + text_width(text, kSize));
    picture_.samples.push_back({{x, baseline_ - 4}, {x + 26, baseline_ - 4}, kWire, width});
    write(x + 32, text);
  }
  void text(const std::string& text) { write(start(text_width(text, kSize)), text); }

  double bottom() const noexcept { return baseline_; }

 private:
  // Where an entry of this width begins.
  double start(double width) {
    if (x_ + width > right_ && x_ > left_ + kHeadingWidth) {
      baseline_ += kLineHeight;
      x_ = left_ + kHeadingWidth;
    }
    return std::exchange(x_, x_ + width + 18);
  }
  void write(double x, const std::string& text) {
    picture_.texts.push_back({{x, baseline_}, text, kSize, false, Text::Anchor::kStart, kQuietInk});
  }

  Picture& picture_;
  double left_;
  double right_;
  double baseline_;
  double x_ = 0;
};

// Texts with how often each is there, the most frequent first; those of equal number in the order given.
std::vector<std::pair<std::string, std::size_t>> tally(const std::vector<std::string>& texts) {
  std::map<std::string, std::size_t> index;
  std::vector<std::pair<std::string, std::size_t>> out;
  for (const std::string& t : texts) {
    const auto [it, is_new] = index.try_emplace(t, out.size());
    if (is_new) out.emplace_back(t, 0);
    ++out[it->second].second;
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

// "3 m (32 links)  30 m (8)"
void add_tally(Flow& flow, const char* heading, const std::vector<std::string>& texts) {
  const auto kinds = tally(texts);
  flow.heading(heading);
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostKinds); ++i)
    flow.text(kinds.size() == 1 ? kinds[i].first
                                : kinds[i].first + " (" + counted(kinds[i].second, "link", "links") + ")");
  if (kinds.size() > kMostKinds) flow.text(fmt::format("and {} more", kinds.size() - kMostKinds));
}

}  // namespace

LineWidths::LineWidths(const spec::Lab& lab) {
  for (const spec::LinkSpec& l : lab.links) rates_.push_back(l.rate);
  std::sort(rates_.begin(), rates_.end());
  rates_.erase(std::unique(rates_.begin(), rates_.end()), rates_.end());
}

double LineWidths::of(BitRate rate) const {
  constexpr double kThinnest = 1.3;
  constexpr double kStep = 0.8;
  constexpr double kWidest = 3.7;
  const auto rank = std::lower_bound(rates_.begin(), rates_.end(), rate) - rates_.begin();
  return std::min(kWidest, kThinnest + kStep * static_cast<double>(rank));
}

double add_legend(const Diagram& diagram, const spec::Lab& lab, const LineWidths& widths, double left, double top,
                  double right, Picture& picture) {
  Flow flow(picture, left, top, right);
  if (diagram.rails > 0) {
    flow.heading("Rails");
    for (int rail = 1; rail <= diagram.rails; ++rail)
      flow.dot(std::to_string(rail) + (rail == 1 ? " (NIC 1 of a host)" : ""), rail_colour(rail));
  }
  if (!lab.links.empty()) {
    std::map<BitRate, std::size_t> links;
    for (const spec::LinkSpec& l : lab.links) ++links[l.rate];
    flow.heading("Rates");
    std::size_t shown = 0;
    for (auto rate = widths.rates().rbegin(); rate != widths.rates().rend() && shown < kMostKinds; ++rate, ++shown)
      flow.line(fmt::format("{} ({})", rate_text(*rate), counted(links[*rate], "link", "links")), widths.of(*rate));
    if (links.size() > shown) flow.text(fmt::format("and {} more", links.size() - shown));
    std::vector<std::string> cables;
    std::vector<std::string> mtus;
    for (const spec::LinkSpec& l : lab.links) {
      cables.push_back(cable_text(l) + (l.cable ? "" : " of delay"));
      mtus.push_back(fmt::format("{}", l.mtu));
    }
    add_tally(flow, "Cables", cables);
    add_tally(flow, "MTU", mtus);
  }
  return flow.bottom();
}

}  // namespace railyard::picture
