// Every parameter of NSCC, and how they follow from a network (uet §8.1).
#pragma once

#include <cstdint>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard::uet {

// What the parameters are derived from.
struct NsccNetwork {
  BitRate rate{100'000'000'000};       // of the slower of the two links
  Duration base_rtt{12'000'000};       // unloaded, of the longest path
  std::uint32_t mtu = 4096;            // payload of a packet, octets
  std::uint32_t packet_octets = 4160;  // a full packet as it is counted (Packet sizes, pds/packet_size.h)
  bool trimming = true;                // switches trim, so that losses are told and longer queues are not waited for
};

struct NsccConfig {
  BitRate rate{};
  Duration base_rtt{};
  bool keeps_base_rtt = false;   // a shorter round trip does not make it shorter
  Duration target{};             // the queueing delay that is wanted
  double alpha = 0;              // proportional increase: octets a round trip, per picosecond below the target
  double fi = 0;                 // fair increase: octets a round trip
  double eta = 0;                // octets once per period
  double fi_scale = 0;           // fast increase: octets per octet
  double gamma = 0.8;            // multiplicative decrease: of how far the delay is over the target
  double max_md_jump = 0.5;      // the least that one decrease leaves
  std::uint32_t qa_gate = 3;     // quick adapt: less than max_wnd / 2^this was delivered
  Duration qa_threshold{};       // and the delay is over this, or something was lost
  Duration adjust_period{};      // increases are carried out as often,
  double adjust_bytes = 0;       // or after as many octets
  double max_wnd_bdps = 1.5;     // the window at most: times rate x base_rtt
  double first_wnd_bdps = 1.5;   // and at first
  double min_wnd = 0;            // octets
  double packet = 0;             // octets of a full packet: with a smaller min_wnd the window may be a part of one
  double part_gain = 0.25;       // and then grows by so many octets for each that arrives
  bool part_holds_marked = false;  // but for those that are marked
  Duration no_queue{1'000'000};  // a delay below is none
  double delay_weight = 0.0125;  // of a sample in the average

  bool operator==(const NsccConfig&) const = default;

  // The reference's parameters, scaled from its network of 100 Gb/s and 12 us.
  static constexpr NsccConfig of(const NsccNetwork& n) noexcept {
    constexpr double kReferenceBdp = 150'000;
    constexpr double kReferenceRtt = 12e6;  // ps
    const double bdp = static_cast<double>((n.rate * n.base_rtt).n);
    const double a = bdp / kReferenceBdp;
    const Duration target = n.trimming ? n.base_rtt * 3 / 4 : n.base_rtt;
    const double b = static_cast<double>(target.ps) / kReferenceRtt;
    const double mtu = n.mtu;
    return {.rate = n.rate,
            .base_rtt = n.base_rtt,
            .target = target,
            .alpha = 4 * a * b * mtu / static_cast<double>(target.ps),
            .fi = 5 * mtu * a,
            .eta = 0.15 * mtu * a,
            .fi_scale = 0.25 * a,
            .qa_threshold = target * 4,
            .adjust_period = n.base_rtt,
            .adjust_bytes = 8.0 * n.packet_octets,
            .min_wnd = static_cast<double>(n.packet_octets),
            .packet = static_cast<double>(n.packet_octets),
            .part_holds_marked = !n.trimming};
  }
};

}  // namespace railyard::uet
