// What a rank's messages took of the network, as far as its transport can say it of one rank.
#pragma once

#include <cstdint>

namespace railyard {

struct RankTraffic {
  std::uint64_t packets = 0;  // with payload that were sent, retransmissions included
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t out_of_order = 0;  // received while others before them were missing; go-back-N: gaps
  // RoCE; UET counts NACKs and timeouts by NIC.
  std::uint64_t packet_seq_err = 0;  // NAKs for a gap
  std::uint64_t local_ack_timeout_err = 0;
  std::uint64_t ecn_marked = 0;  // received
  std::uint64_t cnp_sent = 0;
  std::uint64_t cnp_handled = 0;

  bool operator==(const RankTraffic&) const = default;
};

}  // namespace railyard
