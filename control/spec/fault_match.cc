#include "control/spec/fault_match.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

std::unexpected<std::string> wrong(std::string what) { return std::unexpected(std::move(what)); }

std::optional<std::uint64_t> number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

Parsed<std::vector<wire::FieldTest>> number_tests(const wire::HeaderField& f, std::string_view text) {
  const std::uint64_t most = f.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.width) - 1;
  const std::optional<std::uint64_t> n = number(text);
  if (!n) return wrong(fmt::format("'{}' is not a number; expected 0..{} for {}", text, most, f.name));
  if (*n > most) return wrong(fmt::format("{} is out of range; expected 0..{} for {}", text, most, f.name));
  std::vector tests{wire::number_test(f.layer, f.first_bit, f.width, *n)};
  if (f.v6_width != 0) tests.push_back(wire::number_test(wire::HeaderLayer::kIpv6, f.v6_first_bit, f.v6_width, *n));
  return tests;
}

Parsed<std::vector<wire::FieldTest>> address_tests(const wire::HeaderField& f, std::string_view text) {
  const auto address = wire::IpAddress::parse(text);
  const auto prefix = address ? std::optional(wire::IpPrefix::of(*address, 128)) : wire::IpPrefix::parse(text);
  if (!prefix)
    return wrong(fmt::format("'{}' is not an address or prefix; expected one such as 10.0.0.1 or fd00::/64", text));
  const std::span<const std::byte> octets = std::as_bytes(std::span(prefix->address.octets));
  if (prefix->is_v4())
    return std::vector{wire::prefix_test(f.layer, f.first_bit / 8, octets.subspan(12), prefix->length - 96u)};
  return std::vector{wire::prefix_test(wire::HeaderLayer::kIpv6, f.v6_first_bit / 8, octets, prefix->length)};
}

}  // namespace

Parsed<std::vector<wire::FieldTest>> parse_field_tests(const wire::HeaderField& f, std::string_view text) {
  switch (f.kind) {
    case wire::HeaderFieldKind::kNumber:
      return number_tests(f, text);
    case wire::HeaderFieldKind::kIpAddress:
      return address_tests(f, text);
    case wire::HeaderFieldKind::kMac:
      break;
  }
  const Parsed<wire::MacAddress> mac = parse_mac(text);
  if (!mac) return wrong(mac.error());
  return std::vector{wire::prefix_test(f.layer, f.first_bit / 8, std::as_bytes(std::span(mac->octets)), 48)};
}

Parsed<FrameSizes> parse_frame_sizes(std::string_view text) {
  const char sign = text.empty() ? '\0' : text[0];
  if (sign == '<' || sign == '>') text.remove_prefix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  const Parsed<Bytes> size = parse_size(text);
  if (!size) return wrong(size.error());
  if (size->n < 1 || size->n > 65536)
    return wrong(fmt::format("{} is out of range; expected 1B..64KiB, optionally after < or >", text));
  const auto n = static_cast<std::uint32_t>(size->n);
  if (sign == '<') return FrameSizes{0, n - 1};
  if (sign == '>') return FrameSizes{n + 1};
  return FrameSizes{n, n};
}

std::vector<std::string> match_words() {
  std::vector<std::string> words;
  for (const wire::HeaderField& f : wire::header_fields()) words.emplace_back(f.name);
  words.emplace_back("size");
  words.emplace_back("flow");
  return words;
}

Parsed<void> check_match_term(const MatchTerm& term) {
  if (term.field == "flow") return {};
  if (term.field == "size") {
    if (const auto sizes = parse_frame_sizes(term.value); !sizes) return wrong(sizes.error());
    return {};
  }
  if (const wire::HeaderField* f = wire::header_field(term.field)) {
    if (const auto tests = parse_field_tests(*f, term.value); !tests) return wrong(tests.error());
    return {};
  }
  std::vector<std::string> words = match_words();
  const std::string guess = did_you_mean(term.field, words);
  return wrong(fmt::format("unknown header field '{}'{} Expected nth, {}", term.field, guess.empty() ? "." : guess,
                           fmt::join(words, ", ")));
}

}  // namespace railyard::spec
