#include "dataplane/capture/pcapng_blocks.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "dataplane/base/assert.h"

namespace railyard {
namespace {

// Block types, §10.1.
constexpr std::uint32_t kSectionHeaderBlock = 0x0A0D0D0A;
constexpr std::uint32_t kInterfaceDescriptionBlock = 0x00000001;
constexpr std::uint32_t kInterfaceStatisticsBlock = 0x00000005;
constexpr std::uint32_t kEnhancedPacketBlock = 0x00000006;

// Option codes: §3.5, then the tables of §4.1, §4.2, §4.3 and §4.6.
constexpr std::uint16_t kOptEndOfOpt = 0;
constexpr std::uint16_t kOptComment = 1;
constexpr std::uint16_t kShbHardware = 2;
constexpr std::uint16_t kShbOs = 3;
constexpr std::uint16_t kShbUserAppl = 4;
constexpr std::uint16_t kIfName = 2;
constexpr std::uint16_t kIfDescription = 3;
constexpr std::uint16_t kIfSpeed = 8;
constexpr std::uint16_t kIfTsResol = 9;
constexpr std::uint16_t kIfFcsLen = 13;
constexpr std::uint16_t kEpbFlags = 2;
constexpr std::uint16_t kIsbIfRecv = 4;
constexpr std::uint16_t kIsbIfDrop = 5;
constexpr std::uint16_t kIsbUsrDeliv = 8;

// §4.1: written in this machine's byte order, which the reader finds out from it. So is every other number (§3.6.1).
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr std::int64_t kSectionLengthUnknown = -1;

constexpr std::uint16_t kLinkTypeEthernet = 1;  // draft-ietf-opsawg-pcaplinktype
constexpr std::uint8_t kNanoseconds = 9;        // if_tsresol: a negative power of ten
constexpr std::uint8_t kNoFcs = 0;

template <class T>
std::span<const std::byte> octets_of(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}

// As much of a UTF-8 text as an option holds, cut between two characters.
std::string_view option_text(std::string_view text) noexcept {
  std::size_t n = std::min<std::size_t>(text.size(), std::numeric_limits<std::uint16_t>::max());
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  if (n < text.size())
    while (n > 0 && continues(n)) --n;
  return text.substr(0, n);
}

}  // namespace

// §4.1. The same on every machine, so that captures of the same run can be compared octet for octet.
PcapngBlocks::PcapngBlocks(std::uint32_t snap_octets, std::string_view comment) : snap_octets_(snap_octets) {
  begin_block(kSectionHeaderBlock);
  put(kByteOrderMagic);
  put(std::uint16_t{1});  // major version
  put(std::uint16_t{0});  // minor version
  put(kSectionLengthUnknown);
  if (!comment.empty()) put_option(kOptComment, comment);
  put_option(kShbHardware, "emulated");
  put_option(kShbOs, "Linux");
  put_option(kShbUserAppl, "railyard");
  end_options();
  end_block();
}

PcapngBlocks::InterfaceId PcapngBlocks::add_interface(std::string_view name, std::string_view description,
                                                      BitRate speed) {
  begin_block(kInterfaceDescriptionBlock);
  put(kLinkTypeEthernet);
  put(std::uint16_t{0});  // reserved
  put(snap_octets_);
  put_option(kIfName, name);
  if (!description.empty()) put_option(kIfDescription, description);
  if (speed.bps != 0) put_option(kIfSpeed, octets_of(speed.bps));
  put_option(kIfTsResol, octets_of(kNanoseconds));
  put_option(kIfFcsLen, octets_of(kNoFcs));
  end_options();
  end_block();
  return {interfaces_++};
}

void PcapngBlocks::add_frame(InterfaceId interface, Instant at, Direction direction,
                             std::span<const std::span<const std::byte>> pieces, std::uint32_t original_octets,
                             std::span<const std::string_view> comments) {
  RAILYARD_ASSERT(interface.value < interfaces_, "a frame on an interface that was not announced");
  std::size_t given = 0;
  for (const auto piece : pieces) given += piece.size();
  RAILYARD_ASSERT(given <= original_octets, "more octets than the frame had");
  const std::size_t kept = snap_octets_ == 0 ? given : std::min<std::size_t>(given, snap_octets_);

  begin_block(kEnhancedPacketBlock);
  put(interface.value);
  put_time(at);
  put(static_cast<std::uint32_t>(kept));
  put(original_octets);
  std::size_t left = kept;
  for (const auto piece : pieces) {
    const auto part = piece.first(std::min(piece.size(), left));
    append(part);
    left -= part.size();
  }
  pad();
  for (const std::string_view comment : comments) put_option(kOptComment, comment);
  put_option(kEpbFlags, octets_of(static_cast<std::uint32_t>(direction)));
  end_options();
  end_block();
}

void PcapngBlocks::add_statistics(InterfaceId interface, Instant at, const Statistics& statistics) {
  RAILYARD_ASSERT(interface.value < interfaces_, "statistics of an interface that was not announced");
  begin_block(kInterfaceStatisticsBlock);
  put(interface.value);
  put_time(at);
  put_option(kIsbIfRecv, octets_of(statistics.received));
  put_option(kIsbIfDrop, octets_of(statistics.lost));
  put_option(kIsbUsrDeliv, octets_of(statistics.delivered));
  end_options();
  end_block();
}

// §3.1.
void PcapngBlocks::begin_block(std::uint32_t type) {
  begun_ = octets_.size();
  put(type);
  put(std::uint32_t{0});  // total length, by end_block
}

void PcapngBlocks::end_block() {
  const auto total = static_cast<std::uint32_t>(octets_.size() - begun_ + sizeof(std::uint32_t));
  std::memcpy(octets_.data() + begun_ + sizeof(std::uint32_t), &total, sizeof total);
  put(total);
}

void PcapngBlocks::append(std::span<const std::byte> octets) {
  const std::size_t at = octets_.size();
  octets_.resize(at + octets.size());
  std::ranges::copy(octets, octets_.begin() + static_cast<std::ptrdiff_t>(at));
}

template <class T>
void PcapngBlocks::put(T value) {
  append(octets_of(value));
}

void PcapngBlocks::put_time(Instant at) {
  RAILYARD_ASSERT(at >= Instant{}, "a frame from before the run began");
  const auto ticks = static_cast<std::uint64_t>(at.ps) / 1000;
  put(static_cast<std::uint32_t>(ticks >> 32));
  put(static_cast<std::uint32_t>(ticks));
}

// §3.6.2: zeroes up to the next 32-bit boundary. Every block begins on one.
void PcapngBlocks::pad() { octets_.resize((octets_.size() + 3) / 4 * 4); }

// §3.5: code, length without padding, value.
void PcapngBlocks::put_option(std::uint16_t code, std::span<const std::byte> value) {
  put(code);
  put(static_cast<std::uint16_t>(value.size()));
  append(value);
  pad();
}

void PcapngBlocks::put_option(std::uint16_t code, std::string_view text) {
  put_option(code, std::as_bytes(std::span(option_text(text))));
}

void PcapngBlocks::end_options() { put_option(kOptEndOfOpt, std::span<const std::byte>()); }

}  // namespace railyard
