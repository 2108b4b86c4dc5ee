#include "transports/uet/wire/carrier.h"

#include <charconv>
#include <optional>

namespace railyard::uet {
namespace {

constexpr std::string_view kBegin = "UET: ";
constexpr std::string_view kNoCrc = ", no crc";
constexpr std::string_view kRefProvWord = ", ref-prov";

// Whether `text` begins so; then it is what follows.
bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

std::optional<Carrier> take_carrier(std::string_view& text) {
  Carrier c;
  c.udp = take(text, "udp ");
  if (!c.udp && !take(text, "ip ")) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), c.number);
  if (error != std::errc() || (!c.udp && c.number > 255)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  c.crc = !take(text, kNoCrc);
  c.ref_prov = take(text, kRefProvWord);
  return c;
}

}  // namespace

std::string carriers_text(const std::vector<Carrier>& carriers) {
  std::string text;
  for (const Carrier& c : carriers) {
    text += text.empty() ? kBegin : "; ";
    text += c.udp ? "udp " : "ip ";
    text += std::to_string(c.number);
    if (!c.crc) text += kNoCrc;
    if (c.ref_prov) text += kRefProvWord;
  }
  return text;
}

std::vector<Carrier> parse_carriers(std::string_view text) {
  std::vector<Carrier> carriers;
  if (!take(text, kBegin)) return carriers;
  do {
    const auto c = take_carrier(text);
    if (!c) break;
    carriers.push_back(*c);
  } while (take(text, "; "));
  return carriers;
}

}  // namespace railyard::uet
