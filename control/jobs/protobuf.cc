#include "control/jobs/protobuf.h"

namespace railyard::jobs {

std::optional<std::uint64_t> ProtobufReader::varint() {
  constexpr unsigned kBits = 7, kMost = 64;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kMost && !left_.empty(); shift += kBits) {
    const auto octet = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    value |= std::uint64_t{octet & 0x7fu} << shift;
    if ((octet & 0x80) == 0) return value;
  }
  failed_ = true;
  return std::nullopt;
}

std::optional<std::string_view> ProtobufReader::take(std::uint64_t octets) {
  if (octets > left_.size()) {
    failed_ = true;
    return std::nullopt;
  }
  const std::string_view taken = left_.substr(0, octets);
  left_.remove_prefix(octets);
  return taken;
}

std::optional<std::uint64_t> ProtobufReader::little_endian(std::size_t octets) {
  const auto taken = take(octets);
  if (!taken) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < octets; ++i) value |= std::uint64_t{static_cast<unsigned char>((*taken)[i])} << (8 * i);
  return value;
}

std::optional<ProtobufReader::Field> ProtobufReader::next() {
  if (left_.empty() || failed_) return std::nullopt;
  const auto key = varint();
  if (!key) return std::nullopt;
  Field field;
  field.number = static_cast<std::uint32_t>(*key >> 3);
  field.wire = static_cast<Field::Wire>(*key & 7);
  std::optional<std::uint64_t> value;
  switch (field.wire) {
    case Field::Wire::kVarint:
      value = varint();
      break;
    case Field::Wire::kFixed64:
      value = little_endian(8);
      break;
    case Field::Wire::kFixed32:
      value = little_endian(4);
      break;
    case Field::Wire::kLength:
      if (const auto length = varint())
        if (const auto octets = take(*length)) {
          field.octets = *octets;
          value = *length;
        }
      break;
    default:
      break;
  }
  if (!value || field.number == 0) {
    failed_ = true;
    return std::nullopt;
  }
  field.value = *value;
  return field;
}

}  // namespace railyard::jobs
