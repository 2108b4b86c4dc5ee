#include "transports/roce/services/rping_message.h"

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace railyard::roce {
namespace {

constexpr unsigned kFirst = 'A', kCharacters = 'z' - 'A' + 1;

// The words in front of the characters; returns how many octets they have.
std::size_t write_words(std::array<char, 48>& out, std::uint64_t n) noexcept {
  constexpr std::string_view kBefore = "rdma-ping-";
  std::memcpy(out.data(), kBefore.data(), kBefore.size());
  char* end = std::to_chars(out.data() + kBefore.size(), out.data() + out.size(), n).ptr;
  *end++ = ':';
  *end++ = ' ';
  return static_cast<std::size_t>(end - out.data());
}

template <class See>
bool for_each_octet(std::size_t octets, std::uint64_t n, const See& see) noexcept {
  std::array<char, 48> words;
  const std::size_t spoken = write_words(words, n);
  for (std::size_t i = 0; i < octets; ++i) {
    const char c = i + 1 == octets ? '\0'
                   : i < spoken    ? words[i]
                                   : static_cast<char>(kFirst + (n + i - spoken) % kCharacters);
    if (!see(i, static_cast<std::byte>(c))) return false;
  }
  return true;
}

}  // namespace

void write_ping(std::span<std::byte> out, std::uint64_t n) noexcept {
  for_each_octet(out.size(), n, [&](std::size_t i, std::byte b) {
    out[i] = b;
    return true;
  });
}

bool is_ping(std::span<const std::byte> octets, std::uint64_t n) noexcept {
  return for_each_octet(octets.size(), n, [&](std::size_t i, std::byte b) { return octets[i] == b; });
}

}  // namespace railyard::roce
