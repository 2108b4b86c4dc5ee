// A capture of one port: both directions, with what the device thought of each frame.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/units.h"
#include "dataplane/capture/capture_direction.h"
#include "dataplane/capture/pcapng_writer.h"
#include "dataplane/device/tap.h"

namespace railyard {

// Writes every frame that the port receives, sends or drops, MAC control included. Frames are whole: synthetic payload
// is made real and the ICRC computed. Comments say the class, the depth of the queue, whether CE was set here, and why
// a frame was dropped. A dropped frame is shown twice: as it came in, and where it was dropped.
class CaptureTap final : public Tap {
 public:
  // Throws std::runtime_error if the file cannot be written. `comment`: of the whole capture; empty: none.
  CaptureTap(const std::filesystem::path& file, const std::string& port, const std::string& description, BitRate rate,
             CaptureDirection direction, std::string_view comment = {});

  void see(Instant at, const Packet& packet, const TapNote& note) override;

  // Completes the file. Throws std::runtime_error if something could not be written.
  void close();
  std::uint64_t frames() const noexcept { return frames_; }

 private:
  PcapngWriter writer_;
  PcapngWriter::InterfaceId interface_;
  CaptureDirection direction_;
  std::vector<std::byte> octets_;
  std::uint64_t frames_ = 0;
};

}  // namespace railyard
