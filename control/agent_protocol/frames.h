// How messages between a lab and its agents (tools/agent) lie in a stream of octets: four octets of length, the most
// significant first, and so many of JSON text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace railyard::agents {

// What the other side says cannot be understood, or must not be said. One sentence.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Octets of the longest message: of who has not said who he is; of an agent; of a lab, which sends programs.
inline constexpr std::size_t kMostOfStranger = 64 << 10;
inline constexpr std::size_t kMostOfAgent = 4 << 20;
inline constexpr std::size_t kMostOfLab = 64 << 20;

std::string frame(const nlohmann::json& message);

// Puts messages together from octets as they arrive.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most) : most_(most) {}
  void allow(std::size_t most) noexcept { most_ = most; }

  void append(std::span<const char> octets) { buffer_.append(octets.data(), octets.size()); }
  // The next whole message, an object. Throws ProtocolError: longer than allowed, or no JSON object. Nothing that comes
  // behind that can be understood.
  std::optional<nlohmann::json> next();
  // Part of a message waits for the rest of it.
  bool in_message() const noexcept { return begin_ < buffer_.size(); }

 private:
  std::size_t most_;
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace railyard::agents
