// Writes execution traces of Chakra, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace railyard::jobs {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
inline std::string number(std::uint32_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string block(std::uint32_t field, std::string_view octets) { return varint(field << 3 | 2) + varint(octets.size()) + std::string(octets); }
inline std::string attribute(std::string_view name, std::int64_t value) {
  return block(10, block(1, name) + number(9, static_cast<std::uint64_t>(value)));
}
inline std::string unsigned_attribute(std::string_view name, std::uint64_t value) { return block(10, block(1, name) + number(13, value)); }
inline std::string attribute(std::string_view name, std::string_view value) { return block(10, block(1, name) + block(29, value)); }

// Without its length. `more`: attributes and other fields.
inline std::string node(std::uint64_t id, std::string_view name, int type, const std::vector<std::uint64_t>& after = {}, const std::string& more = {}) {
  std::string packed;
  for (const std::uint64_t d : after) packed += varint(d);
  return number(1, id) + block(2, name) + number(3, static_cast<std::uint64_t>(type)) + (after.empty() ? "" : block(5, packed)) + more;
}
inline std::string micros(std::uint64_t time) { return number(7, time); }

inline std::string file_of(const std::vector<std::string>& nodes) {
  const std::string metadata = block(1, "0.0.4");
  std::string out = varint(metadata.size()) + metadata;
  for (const std::string& n : nodes) out += varint(n.size()) + n;
  return out;
}

}  // namespace railyard::jobs
