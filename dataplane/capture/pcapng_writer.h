// Writes captures in the pcapng format (draft-ietf-opsawg-pcapng; section numbers in this room are that draft's): many
// interfaces in one file, the direction of every frame, and remarks about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// One section (§4.1) of one file. Every block is written as it comes, so a run that ends early leaves a readable file
// up to the last block on disk. A write that fails ends the file there; close() says so.
//
// Time stamps are nanoseconds, rounded down, and 1970-01-01 is the beginning of the run. Wireshark (up to 4.0 at least)
// reads picosecond stamps wrongly: its product of ticks and 10^9 overflows 64 bits from 18.4 ms in each second on.
class PcapngWriter {
 public:
  using InterfaceId = Id<struct CaptureInterfaceTag, std::uint32_t>;

  // As seen from the interface: the direction bits of the flags word (§4.3.1).
  enum class Direction : std::uint8_t { kInbound = 1, kOutbound = 2 };

  // Creates the file. Of every frame at most `snap_octets` are kept, 0: all. One limit for the whole file, because
  // libpcap refuses files whose interfaces have different ones.
  static std::expected<PcapngWriter, std::string> open(const std::filesystem::path& path,
                                                       std::uint32_t snap_octets = 0);

  // Announces an Ethernet interface (§4.2); at any time before its first frame. An empty `description` and a `speed` of
  // 0 are left out.
  InterfaceId add_interface(std::string_view name, std::string_view description, BitRate speed);

  // Writes one frame (§4.3): its octets from the Ethernet header on and without FCS, in as many pieces as they lie in.
  // `original_octets` is its length on the link; fewer may be given where nobody needs the rest. Each comment becomes
  // an opt_comment of its own (§3.5), in UTF-8 and cut at 65535 octets.
  void write(InterfaceId interface, Instant at, Direction direction, std::span<const std::span<const std::byte>> pieces,
             std::uint32_t original_octets, std::span<const std::string_view> comments);

  // Writes what is buffered and closes the file. The error is the first one since open(), with the file's name. Further
  // calls give the same answer; the destructor closes silently.
  std::expected<void, std::string> close();

 private:
  struct File;
  struct CloseFile {
    void operator()(File* file) const noexcept;
  };

  PcapngWriter(std::unique_ptr<File, CloseFile> file, std::filesystem::path path, std::uint32_t snap_octets);

  // A block is put together in block_ and written at once.
  void begin_block(std::uint32_t type);
  void append(std::span<const std::byte> octets);
  template <class T>
  void put(T value);
  void pad();
  void put_option(std::uint16_t code, std::span<const std::byte> value);
  void put_option(std::uint16_t code, std::string_view text);
  void end_options();
  void end_block();

  void write_section_header();

  std::unique_ptr<File, CloseFile> file_;
  std::filesystem::path path_;
  std::uint32_t snap_octets_;
  std::uint32_t interfaces_ = 0;
  int error_ = 0;  // errno of the first failure
  std::vector<std::byte> block_;
};

}  // namespace railyard
