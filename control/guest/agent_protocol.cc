#include "control/guest/agent_protocol.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/guest/guest_error.h"

namespace railyard::guest {
namespace {

void append_record(std::string& request, char kind, const std::string& text) {
  if (text.contains('\0')) throw GuestError(fmt::format("a NUL character in \"{}\"; programs cannot take it", text));
  request += kind;
  request += text;
  request += '\0';
}

char octet(unsigned n) { return static_cast<char>(static_cast<unsigned char>(n)); }

}  // namespace

std::string greeting_octets(const Nonce& nonce) {
  std::string out(RY_FLUSH_OCTETS, '\0');
  out.append(RY_GREETING, RY_MAGIC_OCTETS);
  for (const std::uint8_t n : nonce) out += octet(n);
  return out;
}

std::string frame_octets(ry_frame_type type, std::string_view payload) {
  std::array<std::uint8_t, RY_FRAME_HEADER> header;
  ry_put_header(header.data(), type, static_cast<unsigned>(payload.size()));
  std::string out;
  for (const std::uint8_t n : header) out += octet(n);
  out += payload;
  return out;
}

std::string window_octets(WindowSize size) {
  const std::array payload{octet(size.rows & 0xFFu), octet(size.rows >> 8u), octet(size.columns & 0xFFu),
                           octet(size.columns >> 8u)};
  return frame_octets(RY_WINDOW, {payload.data(), payload.size()});
}

std::string signal_octets(int number) {
  return frame_octets(RY_SIGNAL, std::string(1, octet(static_cast<unsigned>(number))));
}

std::string request_octets(const AgentCommand& command) {
  if (command.arguments.empty() || command.arguments.front().empty()) throw GuestError("no program to run");
  std::string request;
  for (const std::string& argument : command.arguments) append_record(request, 'a', argument);
  for (const std::string& variable : command.environment) append_record(request, 'e', variable);
  if (!command.directory.empty()) append_record(request, 'd', command.directory);
  if (command.terminal)
    append_record(request, 't', fmt::format("{} {}", command.terminal->rows, command.terminal->columns));
  if (request.size() > RY_REQUEST_OCTETS)
    throw GuestError(
        fmt::format("the command line has {} bytes; a guest takes {}: put the text into a file and copy it",
                    request.size(), static_cast<int>(RY_REQUEST_OCTETS)));
  std::string out;
  for (std::size_t i = 0; i < request.size(); i += RY_FRAME_PAYLOAD)
    out += frame_octets(RY_REQUEST, std::string_view(request).substr(i, RY_FRAME_PAYLOAD));
  return out + frame_octets(RY_START);
}

void AgentReader::append(std::span<const std::uint8_t> octets) {
  if (begin_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), octets.begin(), octets.end());
}

std::optional<unsigned> AgentReader::find_welcome() {
  std::array<std::uint8_t, RY_GREETING_OCTETS> wanted;
  const std::string_view magic = RY_WELCOME;
  std::ranges::copy(
      nonce_, std::ranges::transform(magic, wanted.begin(), [](char c) { return static_cast<std::uint8_t>(c); }).out);
  const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
  const auto at = std::search(from, buffer_.end(), wanted.begin(), wanted.end());
  if (at == buffer_.end()) {  // its beginning may be there
    begin_ += size() - std::min(size(), wanted.size() - 1);
    return std::nullopt;
  }
  begin_ += static_cast<std::size_t>(at - from);
  if (size() < RY_WELCOME_OCTETS) return std::nullopt;
  const unsigned version = ry_get16(&buffer_[begin_ + RY_GREETING_OCTETS]);
  begin_ += RY_WELCOME_OCTETS;
  return version;
}

AgentReader::Outcome AgentReader::next(AgentFrame& frame) {
  ry_frame found{};
  const int n = ry_parse_frame(buffer_.data() + begin_, size(), RY_FIRST_FROM_AGENT, RY_LAST_FROM_AGENT, &found);
  if (n == 0) return Outcome::kIncomplete;
  if (n < 0) return Outcome::kBroken;
  begin_ += static_cast<std::size_t>(n);
  frame.type = static_cast<ry_frame_type>(found.type);
  frame.payload = {reinterpret_cast<const char*>(found.payload), found.length};
  return Outcome::kFrame;
}

}  // namespace railyard::guest
