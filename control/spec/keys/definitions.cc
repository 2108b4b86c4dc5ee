#include "control/spec/keys/definitions.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/spec/quantity.h"

namespace railyard::spec {
namespace {

constexpr std::string_view kDecimal = "[0-9]+(\\.[0-9]+)?";

Tree pattern(std::string_view description, std::string_view regex) {
  Tree schema = Tree::map();
  schema.add("description", Tree::string(std::string(description)));
  schema.add("type", Tree::string("string"));
  schema.add("pattern", Tree::string(fmt::format("^{}$", regex)));
  return schema;
}

// Text with a unit, or the number 0.
Tree amount(const Quantity& quantity) {
  std::string units;
  for (const Unit& unit : quantity.units) units += fmt::format("{}{}", units.empty() ? "" : "|", unit.name);
  Tree schema = Tree::map();
  schema.add("description",
             Tree::string(fmt::format("{} with its unit, such as {}", quantity.noun, quantity.examples)));
  schema.add("anyOf", Tree::list({Tree::map({{"const", Tree::plain("0")}}),
                                  Tree::map({{"type", Tree::string("string")},
                                             {"pattern", Tree::string(fmt::format("^{} *({})$", kDecimal, units))}})}));
  return schema;
}

// Text, or a number written as such.
Tree number_or(std::string_view description, std::string_view regex) {
  Tree schema = Tree::map();
  schema.add("description", Tree::string(std::string(description)));
  schema.add("anyOf", Tree::list({Tree::map({{"type", Tree::string("number")}, {"minimum", Tree::plain("0")}}),
                                  Tree::map({{"type", Tree::string("string")},
                                             {"pattern", Tree::string(fmt::format("^{}$", regex))}})}));
  return schema;
}

}  // namespace

Tree reference(std::string_view name) { return Tree::map({{"$ref", Tree::string(fmt::format("#/$defs/{}", name))}}); }

Tree with_description(std::string description, const Tree& schema) {
  Tree described = Tree::map({{"description", Tree::string(std::move(description))}});
  for (const Tree::Entry& e : schema.entries) described.entries.push_back(e);
  return described;
}

Tree scalar_definitions() {
  Tree all = Tree::map();
  all.add("duration", amount(kTime));
  all.add("size", amount(kSize));
  all.add("rate", amount(kRate));
  all.add("length", amount(kLength));
  all.add("ratio", number_or("a fraction such as 0.2, 20% or 1/100", "([0-9]+/[0-9]+|[0-9]+(\\.[0-9]+)?%?)"));
  all.add("probability", number_or("0..1, such as 1%, 0.001 or 1e-12",
                                   "([0-9]+/[0-9]+|[0-9]+(\\.[0-9]+)?(%|[eE]-[0-9]+)?)"));
  all.add("clock-error", number_or("parts per million, 0..1000ppm", "[0-9]+(\\.[0-9]+)?ppm"));
  all.add("power-of-two",
          number_or("a power of two from 1/256 to 128", "(1/(2|4|8|16|32|64|128|256)|1|2|4|8|16|32|64|128)"));
  all.add("name", pattern("letters, digits, '-' and '_'", "[A-Za-z0-9][A-Za-z0-9_-]{0,62}"));
  all.add("port", pattern("a node and its port, counted from 1", "[A-Za-z0-9][A-Za-z0-9_-]{0,62}:[1-9][0-9]{0,3}"));
  all.add("ipv4", pattern("an IPv4 address", "[0-9]{1,3}(\\.[0-9]{1,3}){3}"));
  all.add("ipv6", pattern("an IPv6 address", "[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*"));
  all.add("prefix", pattern("an IPv4 or IPv6 prefix", "[0-9A-Fa-f:.]+/[0-9]{1,3}"));
  all.add("udp-endpoint",
          pattern("an address and a UDP port", "([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9A-Fa-f:.]+\\]):[1-9][0-9]{0,4}"));
  all.add("mac", pattern("a MAC address", "[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}"));
  return all;
}

}  // namespace railyard::spec
