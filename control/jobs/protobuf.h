// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding): fields one after the other. Enough to
// read messages whose fields are known; it allocates nothing and reads nothing outside the message.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace railyard::jobs {

class ProtobufReader {
 public:
  struct Field {
    enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
    std::uint32_t number = 0;
    Wire wire = Wire::kVarint;
    std::uint64_t value = 0;     // kVarint, kFixed64, kFixed32
    std::string_view octets{};   // kLength
  };

  explicit ProtobufReader(std::string_view message) : left_(message) {}

  // Nothing: the message ends here, or (failed()) it is broken.
  std::optional<Field> next();
  // A varint before which nothing stands, as the length before a message; nothing: as next().
  std::optional<std::uint64_t> varint();
  // So many octets of what is left, as they are; nothing: as next().
  std::optional<std::string_view> take(std::uint64_t octets);

  bool at_end() const noexcept { return left_.empty(); }
  bool failed() const noexcept { return failed_; }

 private:
  std::optional<std::uint64_t> little_endian(std::size_t octets);

  std::string_view left_;
  bool failed_ = false;
};

// Signed numbers as `sint32` and `sint64` are written.
constexpr std::int64_t from_zigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace railyard::jobs
