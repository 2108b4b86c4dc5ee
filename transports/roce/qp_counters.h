// What is counted of one QP; the NIC's sums, and what is no QP's, are in counters.h under the same names.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "dataplane/base/time.h"

namespace railyard::roce {

struct QpCounters {
  // Packets with payload that were sent, retransmissions included.
  std::uint64_t data_packets = 0;
  std::uint64_t data_octets = 0;
  Instant first_data = Instant::never();  // when the first of them was

  // As a requester.
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t packet_seq_err = 0;
  std::uint64_t implied_nak_seq_err = 0;
  std::uint64_t local_ack_timeout_err = 0;
  std::uint64_t rnr_nak_received = 0;
  // As a responder.
  std::uint64_t out_of_sequence = 0;
  std::uint64_t out_of_buffer = 0;
  std::uint64_t duplicate_request = 0;
  std::uint64_t nak_sent = 0;
  // Congestion.
  std::uint64_t np_ecn_marked_roce_packets = 0;
  std::uint64_t np_cnp_sent = 0;
  std::uint64_t rp_cnp_handled = 0;
  std::uint64_t rp_cnp_ignored = 0;
};

// Of several QPs; the earliest first_data.
constexpr QpCounters& operator+=(QpCounters& sum, const QpCounters& q) noexcept {
  if (q.first_data < sum.first_data) sum.first_data = q.first_data;
  for (std::uint64_t QpCounters::*const member :
       {&QpCounters::data_packets, &QpCounters::data_octets, &QpCounters::retransmitted_packets,
        &QpCounters::packet_seq_err, &QpCounters::implied_nak_seq_err, &QpCounters::local_ack_timeout_err,
        &QpCounters::rnr_nak_received, &QpCounters::out_of_sequence, &QpCounters::out_of_buffer,
        &QpCounters::duplicate_request, &QpCounters::nak_sent, &QpCounters::np_ecn_marked_roce_packets,
        &QpCounters::np_cnp_sent, &QpCounters::rp_cnp_handled, &QpCounters::rp_cnp_ignored})
    sum.*member += q.*member;
  return sum;
}

}  // namespace railyard::roce
