#include "control/spec/search.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace railyard::spec {
namespace {

using SearchEnd = std::pair<Search::Kind, std::int64_t>;

std::optional<SearchEnd> parse_search_end(std::string_view text) {
  if (const auto n = parse_integer(text, 0, std::int64_t{1} << 40)) return SearchEnd{Search::Kind::kInteger, *n};
  if (text.ends_with('%'))
    if (const auto part = parse_ppm(text)) return SearchEnd{Search::Kind::kPercent, *part};
  if (const auto rate = parse_rate(text)) return SearchEnd{Search::Kind::kRate, rate->bps};
  if (const auto size = parse_size(text)) return SearchEnd{Search::Kind::kSize, size->n};
  if (const auto time = parse_duration(text)) return SearchEnd{Search::Kind::kDuration, time->ps};
  return std::nullopt;
}

}  // namespace

std::string Search::text(std::int64_t value) const {
  switch (kind) {
    case Kind::kInteger:
      break;
    case Kind::kPercent:
      return format_ppm(static_cast<std::uint32_t>(value));
    case Kind::kDuration:
      return format(Duration{value});
    case Kind::kSize:
      return format(Bytes{value});
    case Kind::kRate:
      return format(BitRate{value});
  }
  return fmt::format("{}", value);
}

Parsed<Search> parse_search(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return std::unexpected(
        fmt::format("'{}': {}; expected PATH=FROM..TO, e.g. traffic.all.rate=1Gbps..100Gbps", text, what));
  };
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos) return wrong("no key");
  const std::string_view range = text.substr(equals + 1);
  const std::size_t dots = range.find("..");
  if (dots == range.npos) return wrong("no range");
  const std::string_view words[] = {range.substr(0, dots), range.substr(dots + 2)};
  SearchEnd ends[2];
  for (int i = 0; i < 2; ++i) {
    const auto end = parse_search_end(words[i]);
    if (!end) return wrong(fmt::format("'{}' is not a number, rate, size, duration or share such as 5%", words[i]));
    ends[i] = *end;
  }
  if (ends[0].first != ends[1].first) return wrong("the ends have different units");
  if (ends[0].second == ends[1].second) return wrong("the ends are equal");
  return Search{std::string(text.substr(0, equals)), ends[0].first, ends[0].second, ends[1].second};
}

}  // namespace railyard::spec
