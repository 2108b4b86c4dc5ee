#include "control/import/setting_values.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "control/import/config_db.h"
#include "control/import/port_list.h"

namespace railyard::importing {
namespace {

constexpr std::size_t kMostNames = 4'096;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "Ethernet1/4" as "Ethernet1/" and 4. Nothing without digits at the end, and for more than 9 of them.
std::optional<std::pair<std::string, std::int64_t>> stem_and_number(std::string_view name) {
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) ++digits;
  if (digits == 0 || digits > 9) return std::nullopt;
  const std::string_view stem = name.substr(0, name.size() - digits);
  return std::pair{std::string(stem), *whole_number(name.substr(stem.size()))};
}

}  // namespace

std::optional<std::vector<int>> number_list(std::string_view text, int least, int most) {
  std::vector<int> out;
  const std::vector<std::string> parts = split(text);
  for (const std::string& part : parts) {
    const std::size_t dash = part.find('-', 1);
    const std::optional<std::int64_t> first = whole_number(std::string_view(part).substr(0, dash));
    const std::optional<std::int64_t> last =
        dash == std::string::npos ? first : whole_number(std::string_view(part).substr(dash + 1));
    if (!first || !last || *first < least || *last > most || *first > *last) return std::nullopt;
    for (std::int64_t n = *first; n <= *last; ++n) out.push_back(static_cast<int>(n));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::optional<std::vector<std::string>> port_names(std::string_view text) {
  std::vector<std::string> out;
  std::string stem;  // of the part before: "Ethernet1/" for the 6 of "Ethernet1/1-4,6"
  for (const std::string& part : split(text)) {
    const std::size_t dash = part.rfind('-');
    std::string first = part.substr(0, dash);
    if (is_digit(first[0])) {
      const std::size_t parent = first.contains('/') ? stem.find_first_of("0123456789") : std::string::npos;
      first = (parent == std::string::npos ? stem : stem.substr(0, parent)) + first;
    }
    const auto from = stem_and_number(first);
    if (dash == std::string::npos || dash == 0) {
      out.push_back(first);
      if (from) stem = from->first;
    } else {
      const std::string last = part.substr(dash + 1);
      const auto to = last.empty() ? std::nullopt
                                   : stem_and_number(is_digit(last[0]) && !last.contains('/') && from ? from->first + last
                                                                                                        : last);
      if (!from || !to || from->first != to->first || from->second > to->second) return std::nullopt;
      if (static_cast<std::size_t>(to->second - from->second) >= kMostNames) return std::nullopt;
      for (std::int64_t n = from->second; n <= to->second; ++n) out.push_back(fmt::format("{}{}", from->first, n));
      stem = from->first;
    }
    if (out.size() > kMostNames) return std::nullopt;
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::optional<std::int64_t> speed_of(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && is_digit(text[digits])) ++digits;
  const std::optional<std::int64_t> number = whole_number(text.substr(0, digits));
  if (!number) return std::nullopt;
  std::string rest;
  for (const char c : text.substr(digits)) rest += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool giga = rest.starts_with('g');
  const bool is_speed = rest.empty() || rest == "full" || rest == "g" || rest == "gfull" ||
                        (rest.starts_with("g-") && whole_number(rest.substr(2)).has_value());
  const std::int64_t mbps = *number * (giga ? 1000 : 1);
  if (!is_speed || std::ranges::find(kSpeeds, mbps) == kSpeeds.end()) return std::nullopt;
  return mbps;
}

std::string speeds() { return fmt::format("one of {} (Mb/s), or 100g and its like", fmt::join(kSpeeds, ", ")); }

std::optional<int> code_point(std::string_view text) {
  if (const std::optional<std::int64_t> n = whole_number(text)) {
    if (*n < 0 || *n > 63) return std::nullopt;
    return static_cast<int>(*n);
  }
  if (text == "ef") return 46;
  if (text == "default") return 0;
  if (text.size() == 3 && text.starts_with("cs") && text[2] >= '0' && text[2] <= '7') return (text[2] - '0') * 8;
  if (text.size() == 4 && text.starts_with("af") && text[2] >= '1' && text[2] <= '4' && text[3] >= '1' && text[3] <= '3')
    return (text[2] - '0') * 8 + (text[3] - '0') * 2;
  return std::nullopt;
}

std::optional<std::int64_t> octets_per_unit(std::string_view unit) {
  if (unit == "bytes") return 1;
  if (unit == "kbytes") return 1'000;
  if (unit == "mbytes") return 1'000'000;
  return std::nullopt;
}

}  // namespace railyard::importing
