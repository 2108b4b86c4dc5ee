#include "control/decode/uet_key.h"

#include <bit>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace railyard::decode {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  constexpr std::string_view kSpaces = " \t\r";
  for (std::size_t at = line.find_first_not_of(kSpaces); at != std::string_view::npos;
       at = line.find_first_not_of(kSpaces, at)) {
    const std::size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || n > most) return std::nullopt;
  return n;
}

std::string read_key(std::string_view digits, uet::SecurityKey& key) {
  if (digits.size() != 2 * key.size())
    return fmt::format("the key has {} characters; expected {} hexadecimal digits", digits.size(), 2 * key.size());
  for (std::size_t i = 0; i < key.size(); ++i) {
    unsigned octet = 0;
    const char* const at = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, octet, 16);
    if (error != std::errc() || end != at + 2)
      return fmt::format("the key is not hexadecimal; expected {} digits", 2 * key.size());
    key[i] = static_cast<std::byte>(octet);
  }
  return {};
}

// What is wrong with the line; empty: nothing.
std::string read_line(const std::vector<std::string_view>& words, UetKey& key) {
  if (words.size() < 4 || words.size() > 5)
    return fmt::format("found {} words; expected SDI ASSOCIATION MODE KEY [REKEY-AFTER]", words.size());
  const auto sdi = number(words[0], 0xFF'FFFF);
  if (!sdi) return fmt::format("'{}' is no SDI; expected 0..{}", words[0], 0xFF'FFFF);
  key.sdi = static_cast<std::uint32_t>(*sdi);
  const auto an = number(words[1], 1);
  if (!an) return fmt::format("'{}' is no association number; expected 0 or 1", words[1]);
  key.an = *an != 0;
  if (words[2] == "direct")
    key.mode = uet::SecurityMode::kDirect;
  else if (words[2] == "cluster")
    key.mode = uet::SecurityMode::kCluster;
  else if (words[2] == "server")
    key.mode = uet::SecurityMode::kServer;
  else
    return fmt::format("'{}' is no mode; expected direct, cluster or server", words[2]);
  if (std::string wrong = read_key(words[3], key.key); !wrong.empty()) return wrong;
  if (words.size() < 5) return {};
  const auto rekey = number(words[4], std::uint64_t{1} << 47);
  if (!rekey || !std::has_single_bit(*rekey))
    return fmt::format("'{}' is no number of packets; expected a power of two", words[4]);
  key.rekey_bits = static_cast<std::uint8_t>(std::countr_zero(*rekey));
  return {};
}

}  // namespace

std::expected<std::vector<UetKey>, std::string> parse_uet_keys(std::string_view text, std::string_view file) {
  std::vector<UetKey> keys;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    UetKey key;
    if (const std::string wrong = read_line(words, key); !wrong.empty())
      return std::unexpected(fmt::format("{}:{}: {}", file, line, wrong));
    keys.push_back(key);
  }
  if (keys.empty()) return std::unexpected(fmt::format("{}: has no keys; expected SDI ASSOCIATION MODE KEY", file));
  return keys;
}

}  // namespace railyard::decode
