#include "control/spec/keys/form.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "control/spec/condition.h"
#include "control/spec/keys/definitions.h"

namespace railyard::spec {
namespace {

// A form of what a parser of value.h reads. `expected`: what to say of a list or a map.
template <class T, class Parse, class Format>
Form<T> scalar(std::string expected, Parse parse, Format write, Tree schema) {
  return {[=](const Tree& tree) -> T {
            auto value = parse(std::string_view(tree.as_text(expected)));
            if (!value) tree.fail(value.error());
            return static_cast<T>(*value);
          },
          [=](const T& value) { return write(value); }, std::move(schema)};
}

template <class T>
Form<T> within(Form<T> form, T least, T most) {
  return checked<T>(std::move(form), [least, most](const T& value) -> std::optional<std::string> {
    if (value >= least && value <= most) return std::nullopt;
    return fmt::format("{} is out of range; expected {}..{}", format(value), format(least), format(most));
  });
}

Tree plain(const std::string& text) { return Tree::plain(text); }

Tree typed(std::string_view type) { return Tree::map({{"type", Tree::string(std::string(type))}}); }

std::optional<std::string> not_one_host(const wire::IpAddress& a) {
  const char* what = a.is_unspecified() ? "the unspecified address"
                     : a.is_multicast() ? "a multicast address"
                     : a.is_broadcast() ? "the broadcast address"
                     : a.is_loopback()  ? "the loopback address"
                                        : nullptr;
  if (what == nullptr) return std::nullopt;
  return fmt::format("{} is {}; expected the address of one host", to_string(a), what);
}

std::optional<std::string> not_one_port(const wire::MacAddress& a) {
  if (a == wire::MacAddress{}) return fmt::format("{} is not a port's address", to_string(a));
  if (a.is_multicast()) return fmt::format("{} is a group address; expected a port's address", to_string(a));
  return std::nullopt;
}

}  // namespace

Form<std::string> any_text() {
  return scalar<std::string>(
      "text", [](std::string_view text) { return Parsed<std::string>(std::string(text)); },
      [](const std::string& text) { return Tree::string(text); }, typed("string"));
}

Form<ConditionSpec> condition_form() {
  const Form<std::string> text = any_text();
  return {[=](const Tree& tree) {
            ConditionSpec condition{text.read(tree), tree.place};
            if (const auto parsed = parse_condition(condition.text); !parsed) tree.fail(parsed.error());
            return condition;
          },
          [=](const ConditionSpec& condition) { return text.write(condition.text); }, text.schema};
}

Form<std::string> text_without_control_characters(std::size_t most_octets) {
  return checked<std::string>(any_text(), [most_octets](const std::string& text) -> std::optional<std::string> {
    if (text.empty()) return "is empty";
    if (text.size() > most_octets)
      return fmt::format("is {} bytes long; expected at most {}", text.size(), most_octets);
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
      return "has a control character in it";
    return std::nullopt;
  });
}

Form<std::string> interface_name() {
  constexpr std::size_t kLongestInterface = 15;  // IFNAMSIZ with the final zero
  return checked<std::string>(text_without_control_characters(kLongestInterface),
                              [](const std::string& name) -> std::optional<std::string> {
                                if (name.find_first_of("/ ") == std::string::npos && name != "." && name != "..")
                                  return {};
                                return fmt::format("'{}' is no name of a network interface", name);
                              });
}

Form<std::string> name_form() { return scalar<std::string>("a name", parse_name, plain, reference("name")); }

Form<bool> boolean() {
  return scalar<bool>(
      "true or false", parse_boolean, [](bool value) { return Tree::plain(value ? "true" : "false"); },
      typed("boolean"));
}

Form<int> integer(int least, int most) {
  Tree schema = typed("integer");
  schema.add("minimum", Tree::plain(std::to_string(least)));
  schema.add("maximum", Tree::plain(std::to_string(most)));
  return scalar<int>(
      fmt::format("a whole number, {}..{}", least, most),
      [=](std::string_view text) { return parse_integer(text, least, most); },
      [](int value) { return Tree::plain(std::to_string(value)); }, std::move(schema));
}

Form<std::uint64_t> seed_form() {
  Tree schema = typed("integer");
  schema.add("minimum", Tree::plain("0"));
  return scalar<std::uint64_t>(
      "a whole number", parse_seed, [](std::uint64_t value) { return Tree::plain(std::to_string(value)); },
      std::move(schema));
}

Form<Duration> duration(Duration least, Duration most) {
  return within(scalar<Duration>(
                    "a duration such as 1.5us", parse_duration,
                    [](Duration value) { return Tree::plain(format(value)); }, reference("duration")),
                least, most);
}

Form<Bytes> size(Bytes least, Bytes most) {
  return within(scalar<Bytes>(
                    "a size such as 64KiB", parse_size, [](Bytes value) { return Tree::plain(format(value)); },
                    reference("size")),
                least, most);
}

Form<std::uint32_t> octets(std::uint32_t least, std::uint32_t most) {
  const Form<Bytes> form = size(Bytes{least}, Bytes{most});
  return {[=](const Tree& tree) { return static_cast<std::uint32_t>(form.read(tree).n); },
          [=](const std::uint32_t& value) { return form.write(Bytes{value}); }, form.schema};
}

Form<BitRate> rate(BitRate least, BitRate most) {
  return within(scalar<BitRate>(
                    "a rate such as 100Gbps", parse_rate, [](BitRate value) { return Tree::plain(format(value)); },
                    reference("rate")),
                least, most);
}

Form<Length> length() {
  return within(scalar<Length>(
                    "a length such as 3m", parse_length, [](Length value) { return Tree::plain(format(value)); },
                    reference("length")),
                Length{}, Length{1'000'000'000});
}

Form<Ratio> ratio() {
  return checked<Ratio>(scalar<Ratio>(
                            "a fraction such as 1/100", parse_ratio,
                            [](Ratio value) { return Tree::plain(format(value)); }, reference("ratio")),
                        [](const Ratio& value) -> std::optional<std::string> {
                          if (value.numerator > 0) return std::nullopt;
                          return "is 0; expected more than 0";
                        });
}

Form<Ratio> probability() {
  return scalar<Ratio>(
      "a probability such as 1%", parse_probability, [](Ratio value) { return Tree::plain(format(value)); },
      reference("probability"));
}

Form<std::uint32_t> ppm() {
  return scalar<std::uint32_t>(
      "a fraction such as 20%", parse_ppm, [](std::uint32_t value) { return Tree::plain(format_ppm(value)); },
      reference("ratio"));
}

Form<std::uint32_t> clock_error() {
  return scalar<std::uint32_t>(
      "parts per million such as 100ppm", parse_clock_error,
      [](std::uint32_t value) { return Tree::plain(format_clock_error(value)); }, reference("clock-error"));
}

Form<int> power_of_two() {
  return scalar<int>(
      "a power of two such as 1/8", parse_power_of_two,
      [](int exponent) { return Tree::plain(format_power_of_two(exponent)); }, reference("power-of-two"));
}

Form<wire::IpAddress> ipv4() {
  return checked<wire::IpAddress>(
      scalar<wire::IpAddress>(
          "an IPv4 address", parse_ipv4, [](const wire::IpAddress& value) { return Tree::plain(to_string(value)); },
          reference("ipv4")),
      not_one_host);
}

Form<wire::IpAddress> ipv6() {
  return checked<wire::IpAddress>(
      scalar<wire::IpAddress>(
          "an IPv6 address", parse_ipv6, [](const wire::IpAddress& value) { return Tree::plain(to_string(value)); },
          reference("ipv6")),
      not_one_host);
}

Form<wire::MacAddress> mac() {
  return checked<wire::MacAddress>(
      scalar<wire::MacAddress>(
          "a MAC address", parse_mac, [](const wire::MacAddress& value) { return Tree::plain(to_string(value)); },
          reference("mac")),
      not_one_port);
}

Form<wire::IpPrefix> ip_prefix() {
  return scalar<wire::IpPrefix>(
      "a prefix such as 10.0.1.0/24", parse_prefix,
      [](const wire::IpPrefix& value) { return Tree::plain(to_string(value)); }, reference("prefix"));
}

// Loopback is fine: both daemons may be on one machine.
Form<wire::UdpEndpoint> udp_endpoint() {
  return checked<wire::UdpEndpoint>(
      scalar<wire::UdpEndpoint>(
          "an address and port such as 192.0.2.1:4800", parse_udp_endpoint,
          [](const wire::UdpEndpoint& value) { return Tree::string(to_string(value)); }, reference("udp-endpoint")),
      [](const wire::UdpEndpoint& e) -> std::optional<std::string> {
        if (!e.address.is_unspecified() && !e.address.is_multicast() && !e.address.is_broadcast()) return {};
        return fmt::format("{} is not the address of one host", to_string(e.address));
      });
}

Form<PortName> port_name() {
  return scalar<PortName>(
      "a port such as leaf1:3", parse_port_name, [](const PortName& value) { return Tree::plain(format(value)); },
      reference("port"));
}

void fail_choice(const Tree& tree, const std::vector<std::string>& words) {
  std::string expected = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) expected += (i + 1 == words.size() ? " or " : ", ") + words[i];
  if (tree.kind != Tree::Kind::kScalar) tree.fail(fmt::format("found {}; expected {}", tree.described(), expected));
  const std::string guess = did_you_mean(tree.text, words);
  tree.fail(
      fmt::format("unknown {}{} {}", tree.described(), guess.empty() ? "; expected" : guess + " Expected", expected));
}

Tree choice_schema(const std::vector<std::string>& words) {
  Tree list = Tree::list({});
  for (const std::string& word : words) list.items.push_back(Tree::plain(word));
  return Tree::map({{"enum", std::move(list)}});
}

Tree any_of_schemas(std::vector<Tree> schemas) { return Tree::map({{"anyOf", Tree::list(std::move(schemas))}}); }

}  // namespace railyard::spec
