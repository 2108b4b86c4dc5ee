// Segmentation that a sender has left to its NIC: one TCP segment or UDP datagram of many times the MTU, and how to
// cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/port/offload_header.h"

namespace railyard {

// Cuts a super-frame into the frames that its sender means: the headers repeated with lengths, IPv4 identification, TCP
// sequence number and flags, and checksums of their own.
class SuperFrame {
 public:
  // What the kernel hands over is no longer: 64 KiB of IP, Ethernet, a tag.
  static constexpr std::size_t kMostOctets = 64 * 1024 + 64;

  // Takes a frame, which stays where it is until all of it is cut; false if it is none that can be cut: neither TCP nor
  // UDP, or in a tunnel.
  bool start(std::span<const std::byte> frame, const OffloadHeader& offload) noexcept;

  bool done() const noexcept { return next_ == frame_.size(); }
  // Octets of the longest frame it is cut into.
  std::size_t longest() const noexcept { return headers_ + segment_; }
  // Writes the next frame into `room`, of at least longest() octets; returns its octets. Only if not done().
  std::size_t cut(std::byte* room) noexcept;

 private:
  std::span<const std::byte> frame_;
  std::size_t next_ = 0;     // first payload octet of the next frame
  std::size_t headers_ = 0;  // octets of all headers
  std::size_t segment_ = 0;  // payload octets of a frame, but for the last
  std::size_t l3_ = 0;
  std::size_t l4_ = 0;
  bool ipv4_ = false;
  bool tcp_ = false;
};

}  // namespace railyard
