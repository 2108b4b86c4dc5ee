// Capture files as a source and a sink of frames: what a replay sends, and what a port to the outside records. Through
// libpcap; captures with many interfaces and remarks are written by capture/pcapng_writer.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/base/time.h"

struct pcap;
struct pcap_dumper;

namespace railyard {

// A whole frame, from the Ethernet header to the last octet before the FCS.
struct CapturedFrame {
  Instant at;  // since the first frame of the file; to the nanosecond, or as coarse as the file is
  std::vector<std::byte> octets;
};

// Reads a pcap or pcapng file of Ethernet frames, one after another.
class PcapReader {
 public:
  // The error names the file and what was expected: one that is missing or no capture, whose link type is not Ethernet.
  static std::expected<PcapReader, std::string> open(const std::filesystem::path& path);
  // From standard input, which may be a capture that is still going on. `begun`: octets of its beginning that were
  // taken out of there already, by read_standard_input().
  static std::expected<PcapReader, std::string> standard_input(std::vector<std::byte> begun = {});
  // Waits until all of `octets` has come, or the end; how many have.
  static std::size_t read_standard_input(std::span<std::byte> octets);

  struct Frame {
    Instant at;                         // as in CapturedFrame
    std::span<const std::byte> octets;  // valid until the next call
    std::uint32_t frame_octets = 0;     // of the whole frame; `octets` has fewer if it was cut to a snap length
  };
  // nullopt: the end of the file. The error names the file, the frame (from 1, as Wireshark counts) and what is wrong:
  // a file that ends in the middle of a frame, a time too far from the first one.
  std::expected<std::optional<Frame>, std::string> next();

  // "FILE: frame 7: `what`", of the last frame that next() gave.
  std::string complaint(const std::string& what) const;
  // The longest frame that is kept whole, octets.
  int snap_octets() const noexcept;

 private:
  struct ClosePcap {
    void operator()(pcap* file) const noexcept;
  };

  PcapReader(std::unique_ptr<pcap, ClosePcap> file, std::string name);
  static std::expected<PcapReader, std::string> from(std::FILE* file, std::string name);

  std::unique_ptr<pcap, ClosePcap> file_;
  std::string name_;
  std::uint64_t frames_ = 0;        // given so far
  std::int64_t first_seconds_ = 0;  // of the first frame
  std::int64_t first_nanoseconds_ = 0;
};

// All frames of a pcap or pcapng file, in the order of the file. That is not always the order of time: a capture from
// several queues has frames that are earlier than the one before, even earlier than the first.
//
// The error names the file, the frame (from 1, as Wireshark counts) and what was expected: a file that is missing or no
// capture, that ends in the middle of a frame, whose link type is not Ethernet, a frame that was cut to a snap length.
std::expected<std::vector<CapturedFrame>, std::string> read_pcap(const std::filesystem::path& path);

// Writes a classic pcap file of Ethernet frames with time stamps in nanoseconds, rounded down; 1970-01-01 is the
// beginning of the run. A write that fails ends the file there; close() says so.
class PcapWriter {
 public:
  static std::expected<PcapWriter, std::string> open(const std::filesystem::path& path);

  // Writes one frame, in as many pieces as it lies in.
  void write(Instant at, std::span<const std::span<const std::byte>> pieces);

  // Writes what is buffered and closes the file. The error is the first one since open(), with the file's name. Further
  // calls give the same answer; the destructor closes silently.
  std::expected<void, std::string> close();

 private:
  struct CloseDump {
    void operator()(pcap_dumper* dump) const noexcept;
  };

  PcapWriter(std::unique_ptr<pcap_dumper, CloseDump> dump, std::filesystem::path path);

  std::unique_ptr<pcap_dumper, CloseDump> dump_;  // nullptr once closed
  std::filesystem::path path_;
  int error_ = 0;                 // errno of the first failure
  std::vector<std::byte> frame_;  // the pieces put together, as libpcap wants them
};

}  // namespace railyard
