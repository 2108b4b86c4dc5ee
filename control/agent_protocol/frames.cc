#include "control/agent_protocol/frames.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "control/base/json_text.h"

namespace railyard::agents {

namespace {
constexpr std::size_t kLengthOctets = 4;
}

std::string frame(const nlohmann::json& message) {
  const std::string text = json_text(message);
  std::string out;
  out.reserve(kLengthOctets + text.size());
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(text.size() >> shift & 0xFF));
  return out + text;
}

std::optional<nlohmann::json> FrameReader::next() {
  if (buffer_.size() - begin_ < kLengthOctets) return {};
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthOctets; ++i) length = length << 8 | static_cast<std::uint8_t>(buffer_[begin_ + i]);
  if (length > most_)
    throw ProtocolError(
        fmt::format("a message of {} bytes; expected at most {}: is the peer railyard-agent?", length, most_));
  if (buffer_.size() - begin_ - kLengthOctets < length) return {};
  const char* const text = buffer_.data() + begin_ + kLengthOctets;
  if (is_nested_too_deeply({text, length}))
    throw ProtocolError(fmt::format("a message has more than {} nested levels", kDeepestJson));
  nlohmann::json message = nlohmann::json::parse(text, text + length, nullptr, false);
  begin_ += kLengthOctets + length;
  if (begin_ == buffer_.size() || begin_ > (1u << 16)) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  if (!message.is_object()) throw ProtocolError("a message is not a JSON object");
  return message;
}

}  // namespace railyard::agents
