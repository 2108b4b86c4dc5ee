#include "control/decode/capture_note.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

namespace railyard::decode {
namespace {

// Of the pcapng format, draft-ietf-opsawg-pcapng §4.1 and §3.5. Numbers in this machine's byte order, as we write them:
// other captures have nothing to say here.
constexpr std::uint32_t kSectionHeaderBlock = 0x0A0D0D0A;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr std::uint16_t kOptComment = 1;
constexpr std::size_t kFixedOctets = 24;  // type, length, magic, versions, section length
constexpr std::size_t kMostOctets = 1 << 20;

template <class T>
T at(std::span<const char> octets, std::size_t offset) {
  T value{};
  std::memcpy(&value, octets.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::string capture_note(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(kFixedOctets);
  if (!file.read(block.data(), kFixedOctets) || at<std::uint32_t>(block, 0) != kSectionHeaderBlock ||
      at<std::uint32_t>(block, 8) != kByteOrderMagic)
    return {};
  const std::size_t length = std::min<std::size_t>(at<std::uint32_t>(block, 4), kMostOctets);
  if (length < kFixedOctets) return {};
  block.resize(length);
  file.read(block.data() + kFixedOctets, static_cast<std::streamsize>(length - kFixedOctets));
  const std::size_t there = kFixedOctets + static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()));
  for (std::size_t next = kFixedOctets; next + 4 <= there;) {
    const auto code = at<std::uint16_t>(block, next);
    const auto octets = at<std::uint16_t>(block, next + 2);
    if (code == 0 || next + 4 + octets > there) break;
    if (code == kOptComment) return {block.data() + next + 4, octets};
    next += 4 + (octets + 3u) / 4 * 4;
  }
  return {};
}

}  // namespace railyard::decode
