// The blocks of a capture in the pcapng format (draft-ietf-opsawg-pcapng; section numbers in this room are that
// draft's): many interfaces in one section, the direction of every frame, and remarks about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// Puts blocks one behind the other into memory, from where somebody writes them to a file or a socket: one section
// (§4.1), which begins with its header.
//
// Time stamps are nanoseconds, rounded down, and 1970-01-01 is the beginning of the run. Wireshark (up to 4.0 at least)
// reads picosecond stamps wrongly: its product of ticks and 10^9 overflows 64 bits from 18.4 ms in each second on.
class PcapngBlocks {
 public:
  using InterfaceId = Id<struct CaptureInterfaceTag, std::uint32_t>;

  // As seen from the interface: the direction bits of the flags word (§4.3.1).
  enum class Direction : std::uint8_t { kInbound = 1, kOutbound = 2 };

  // What an interface has to say at the end (§4.6).
  struct Statistics {
    std::uint64_t received = 0;   // frames that the interface has seen
    std::uint64_t lost = 0;       // of them, those that the capture had no room for
    std::uint64_t delivered = 0;  // of them, those that are in the capture
  };

  // Writes the section header. Of every frame at most `snap_octets` are kept, 0: all. One limit for the whole section,
  // because libpcap refuses files whose interfaces have different ones. `comment`: of the section (§3.5); empty: none.
  explicit PcapngBlocks(std::uint32_t snap_octets = 0, std::string_view comment = {});

  // Announces an Ethernet interface (§4.2); at any time before its first frame. An empty `description` and a `speed` of
  // 0 are left out.
  InterfaceId add_interface(std::string_view name, std::string_view description, BitRate speed);

  // Adds one frame (§4.3): its octets from the Ethernet header on and without FCS, in as many pieces as they lie in.
  // `original_octets` is its length on the link; fewer may be given where nobody needs the rest. Each comment becomes
  // an opt_comment of its own (§3.5), in UTF-8 and cut at 65535 octets.
  void add_frame(InterfaceId interface, Instant at, Direction direction,
                 std::span<const std::span<const std::byte>> pieces, std::uint32_t original_octets,
                 std::span<const std::string_view> comments);

  void add_statistics(InterfaceId interface, Instant at, const Statistics& statistics);

  // What has been added since clear(): whole blocks.
  std::span<const std::byte> octets() const noexcept { return octets_; }
  void clear() noexcept { octets_.clear(); }

 private:
  void begin_block(std::uint32_t type);
  void append(std::span<const std::byte> octets);
  template <class T>
  void put(T value);
  void put_time(Instant at);
  void pad();
  void put_option(std::uint16_t code, std::span<const std::byte> value);
  void put_option(std::uint16_t code, std::string_view text);
  void end_options();
  void end_block();

  std::uint32_t snap_octets_;
  std::uint32_t interfaces_ = 0;
  std::vector<std::byte> octets_;
  std::size_t begun_ = 0;  // where the last block begins
};

}  // namespace railyard
