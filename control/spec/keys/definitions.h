// What the forms of united values look like to a JSON Schema: its "$defs".
#pragma once

#include <string>
#include <string_view>

#include "control/spec/yaml/tree.h"

namespace railyard::spec {

// { "$ref": "#/$defs/<name>" }
Tree reference(std::string_view name);

// The schema with a description before its other keys.
Tree with_description(std::string description, const Tree& schema);

// duration, size, rate, length, ratio, probability, power-of-two, name, port, ipv4, ipv6, mac.
Tree scalar_definitions();

}  // namespace railyard::spec
