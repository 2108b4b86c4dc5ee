// A host made of capture files: what is in one is sent, what arrives goes into another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/base/state_archive.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/port/pcap_file.h"
#include "dataplane/wire/mac_address.h"

namespace railyard {

struct PcapEndpointConfig {
  std::string in;                    // frames to send; empty: none
  std::string out;                   // where arriving frames go; empty: nowhere
  bool as_fast_as_possible = false;  // else at the times of the capture, the first one at 0
  wire::MacAddress next_hop_mac;     // unicast frames are addressed to it: the capture's own next hop is not here
  std::array<std::uint8_t, 64> dscp_to_class{};
  std::array<std::uint8_t, 8> pcp_to_class{};
  bool trust_pcp = false;
  std::uint8_t default_class = 0;
};

struct PcapEndpointCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t control = 0;  // of those sent, PFC frames
  // Frames of the capture that are left out:
  std::uint64_t malformed = 0;     // no NIC would send them: too short, or lengths and versions that cannot be
  std::uint64_t long_headers = 0;  // more headers (IPv6 extensions) than a packet has room for
  std::uint64_t not_pfc = 0;       // MAC control that is not PFC: 802.3x pause, what a port of the lab does not obey
};

// Frames leave as they were captured but for the destination MAC address; what happens to them on the way (TTL, ECN,
// MAC addresses) is the fabric's doing. PFC frames go as such to the port at the other end of the link, before frames
// of any class. Works under either clock.
class PcapEndpoint final : public Endpoint {
 public:
  // Throws std::runtime_error with the file and what is wrong with it.
  explicit PcapEndpoint(const PcapEndpointConfig& config);

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool has_real_payload() const noexcept override { return true; }
  bool takes_everything() const noexcept override { return true; }
  bool keeps_tags() const noexcept override { return true; }
  bool take_control(Instant now, std::span<std::byte, kControlOctets> out) override;

  // Where arriving frames go from now on. Throws std::runtime_error if it cannot be created.
  void write_to(const std::filesystem::path& file);
  // Completes the output file. Throws std::runtime_error if something could not be written.
  void close();
  const PcapEndpointCounters& counters() const noexcept { return counters_; }
  // The same, and when the last frame was sent: told by the process that runs the host, taken by others.
  void exchange_figures(StateArchive& archive) { archive(counters_, last_sent_); }
  // When the last frame so far was sent.
  Instant last_sent() const noexcept { return last_sent_; }
  // Frames of the capture whose time has not come.
  std::uint64_t not_yet_sent() const noexcept { return frames_.size() + controls_.size() - counters_.sent; }

 private:
  struct Frame {
    Instant at;
    Priority priority;
    std::size_t header_octets;
    std::vector<std::byte> octets;
  };
  struct Control {
    Instant at;
    std::array<std::byte, kControlOctets> octets{};
  };
  void take(CapturedFrame& frame, const PcapEndpointConfig& config);
  std::optional<std::size_t> next_of(Priority priority) const noexcept;

  std::vector<Frame> frames_;      // in order of time
  std::vector<Control> controls_;  // the same
  std::size_t next_control_ = 0;
  std::array<std::vector<std::size_t>, kPriorities> by_class_;
  std::array<std::size_t, kPriorities> next_{};
  std::optional<PcapWriter> out_;
  std::vector<std::byte> assembled_;
  std::uint64_t stream_;
  Instant last_sent_{};
  PcapEndpointCounters counters_;
};

}  // namespace railyard
