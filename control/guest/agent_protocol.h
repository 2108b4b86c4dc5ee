// The host's side of what agent_frame.h defines: requests and frames as octets, and frames out of octets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/guest/agent_frame.h"

namespace railyard::guest {

// Of a terminal, in characters; 1..65535 each.
struct WindowSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;

  bool operator==(const WindowSize&) const = default;
};

// What a guest is asked to run.
struct AgentCommand {
  std::vector<std::string> arguments{};    // the program first; looked for in PATH (/bin:/sbin)
  std::vector<std::string> environment{};  // NAME=VALUE, added to what the guest has
  std::string directory{};                 // to start in; empty: /root
  std::optional<WindowSize> terminal{};    // a terminal instead of pipes; standard output and error are one then
};

using Nonce = std::array<std::uint8_t, RY_NONCE_OCTETS>;

// What a client sends first.
std::string greeting_octets(const Nonce& nonce);

// A frame with at most RY_FRAME_PAYLOAD octets.
std::string frame_octets(ry_frame_type type, std::string_view payload = {});
std::string window_octets(WindowSize size);
std::string signal_octets(int number);

// RY_REQUEST frames and RY_START. Throws GuestError if there is no program, a word contains NUL, or all are longer than
// RY_REQUEST_OCTETS.
std::string request_octets(const AgentCommand& command);

// A frame from the agent; the payload is valid until the next call of its reader.
struct AgentFrame {
  ry_frame_type type;
  std::string_view payload;
};

// Puts together what arrives from an agent: first its welcome, then frames.
class AgentReader {
 public:
  enum class Outcome { kIncomplete, kFrame, kBroken };

  explicit AgentReader(const Nonce& nonce) : nonce_(nonce) {}

  void append(std::span<const std::uint8_t> octets);
  // Looks for the welcome that answers our greeting and throws away what is before it; the agent's version once it is
  // there.
  std::optional<unsigned> find_welcome();
  // The next frame into `frame`. After kBroken, which no agent of our version causes, nothing more comes.
  Outcome next(AgentFrame& frame);
  // Octets that wait to be understood; never more than were appended.
  std::size_t size() const noexcept { return buffer_.size() - begin_; }

 private:
  Nonce nonce_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
};

}  // namespace railyard::guest
