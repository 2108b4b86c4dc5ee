#include "control/jobs/chakra_node.h"

#include <fmt/format.h>

#include "control/jobs/protobuf.h"

namespace railyard::jobs {
namespace {

using Wire = ProtobufReader::Field::Wire;

// AttributeProto: a name, and one of many kinds of values.
struct Attribute {
  std::string_view name{};
  std::optional<Int128> number{};
  std::string_view text{};
};

bool read_attribute(std::string_view message, Attribute& into) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case 1:
        into.name = field->octets;
        break;
      case 7:   // int32
      case 9:   // int64
      case 25:  // sfixed64
      case 27:  // bool
        into.number = static_cast<std::int64_t>(field->value);
        break;
      case 11:  // uint32
      case 13:  // uint64
      case 19:  // fixed32
      case 21:  // fixed64
        into.number = field->value;
        break;
      case 23:  // sfixed32
        into.number = static_cast<std::int32_t>(field->value);
        break;
      case 15:  // sint32
      case 17:  // sint64
        into.number = from_zigzag(field->value);
        break;
      case 29:
        into.text = field->octets;
        break;
      default:  // lists, doc_string, floating point: none that is used here
        break;
    }
  }
  return !reader.failed();
}

void take(const Attribute& a, ChakraNode& into) {
  if (a.name == "comm_type")
    into.comm_type = a.number;
  else if (a.name == "comm_size")
    into.comm_size = a.number;
  else if (a.name == "comm_src")
    into.comm_src = a.number;
  else if (a.name == "comm_dst")
    into.comm_dst = a.number;
  else if (a.name == "comm_tag")
    into.comm_tag = a.number;
  else if (a.name == "root_rank")
    into.root = a.number;
  else if (a.name == "num_ops")
    into.num_ops = a.number;
  else if (a.name == "is_cpu_op")
    into.is_cpu_op = a.number.value_or(0) != 0;
  else if (a.name == "pg_name" || a.name == "comm_group")
    into.group = a.number ? fmt::format("{}", *a.number) : std::string(a.text);
}

// Packed, or one of those that are not.
bool add_numbers(const ProtobufReader::Field& field, std::vector<std::uint64_t>& into) {
  if (field.wire != Wire::kLength) {
    into.push_back(field.value);
    return true;
  }
  ProtobufReader reader(field.octets);
  while (!reader.at_end()) {
    const auto value = reader.varint();
    if (!value) return false;
    into.push_back(*value);
  }
  return true;
}

bool read_node(std::string_view message, ChakraNode& into) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    switch (field->number) {
      case 1:
        into.id = field->value;
        break;
      case 2:
        into.name = field->octets;
        break;
      case 3:
        into.type = static_cast<std::uint32_t>(field->value);
        break;
      case 4:
      case 5:
        if (!add_numbers(*field, into.dependencies)) return false;
        break;
      case 7:
        into.duration_us = field->value;
        break;
      case 10: {
        Attribute attribute;
        if (field->wire != Wire::kLength || !read_attribute(field->octets, attribute)) return false;
        take(attribute, into);
        break;
      }
      default:
        break;
    }
  }
  return !reader.failed();
}

}  // namespace

std::expected<std::vector<ChakraNode>, std::string> chakra_nodes(std::string_view octets) {
  std::vector<ChakraNode> nodes;
  ProtobufReader file(octets);
  for (std::size_t record = 1; !file.at_end(); ++record) {
    const auto length = file.varint();
    const auto message = length ? file.take(*length) : std::nullopt;
    if (!message) return std::unexpected(fmt::format("record {} ends behind the file; expected messages behind their length", record));
    if (record == 1) continue;  // GlobalMetadata
    ChakraNode node;
    if (!read_node(*message, node)) return std::unexpected(fmt::format("record {} is no node of a Chakra trace", record));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace railyard::jobs
