#include "control/decode/capture_note.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>

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
T at(std::span<const std::byte> octets, std::size_t offset) {
  T value{};
  std::memcpy(&value, octets.data() + offset, sizeof value);
  return value;
}

// Of the octets of a section header that are there.
std::string first_comment(std::span<const std::byte> block) {
  for (std::size_t next = kFixedOctets; next + 4 <= block.size();) {
    const auto code = at<std::uint16_t>(block, next);
    const auto octets = at<std::uint16_t>(block, next + 2);
    if (code == 0 || next + 4 + octets > block.size()) break;
    if (code == kOptComment) return {reinterpret_cast<const char*>(block.data()) + next + 4, octets};
    next += 4 + (octets + 3u) / 4 * 4;
  }
  return {};
}

}  // namespace

CaptureStart capture_start(const ReadOctets& read) {
  CaptureStart start;
  const auto read_to = [&](std::size_t octets) {
    const std::size_t before = start.octets.size();
    start.octets.resize(octets);
    start.octets.resize(before + read(std::span(start.octets).subspan(before)));
    return start.octets.size() == octets;
  };
  if (!read_to(kFixedOctets) || at<std::uint32_t>(start.octets, 0) != kSectionHeaderBlock ||
      at<std::uint32_t>(start.octets, 8) != kByteOrderMagic)
    return start;
  const std::size_t length = std::min<std::size_t>(at<std::uint32_t>(start.octets, 4), kMostOctets);
  if (length < kFixedOctets) return start;
  read_to(length);
  start.note = first_comment(start.octets);
  return start;
}

std::string capture_note(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return capture_start([&](std::span<std::byte> octets) {
           file.read(reinterpret_cast<char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
           return static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()));
         })
      .note;
}

}  // namespace railyard::decode
