// The names of the figures that a program reports (dataplane/base/traffic_figures.h), for those who write them, the
// providers, and for the daemon, which reads them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "dataplane/base/traffic_figures.h"
#include "dataplane/wire/address.h"

namespace railyard::application {

// Counters of RoCEv2. Those that mlx5 has in hw_counters have its names.
inline constexpr std::array<std::string_view, 17> kRoceCounters{
    "sent_packets",          "received_packets",      "retransmitted_packets",
    "packet_seq_err",        "implied_nak_seq_err",   "local_ack_timeout_err",
    "rnr_nak_received",      "rnr_nak_retry_err",     "req_transport_retries_exceeded",
    "out_of_sequence",       "out_of_buffer",         "duplicate_request",
    "rx_icrc_encapsulated",  "np_ecn_marked_roce_packets", "np_cnp_sent",
    "rp_cnp_handled",        "rp_cnp_ignored"};
// Counters of UET.
inline constexpr std::array<std::string_view, 12> kUetCounters{
    "sent_packets",   "received_packets",       "retransmitted_packets", "retransmission_timeouts",
    "inferred_losses", "trimmed_packets",        "nacks_sent",            "nacks_received",
    "ecn_marked_packets", "ecn_marked_acks",     "pdcs_opened",           "pdcs_failed"};
static_assert(kRoceCounters.size() <= TrafficFigures::kCounters && kUetCounters.size() <= TrafficFigures::kCounters);

template <std::size_t N>
void report_counters(const std::array<std::uint64_t, N>& values, TrafficFigures& to) noexcept {
  static_assert(N <= TrafficFigures::kCounters);
  for (std::size_t i = 0; i < N; ++i) to.counters[i].store(values[i], std::memory_order_relaxed);
}

// A connection as a provider reports it, or as the daemon reads it.
struct ReportedConnection {
  std::string_view kind{};   // at most 8 characters count
  std::string_view state{};
  std::uint32_t local = 0;
  std::uint32_t remote = 0;
  wire::IpAddress peer{};
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t retransmitted = 0;
};

// Lists connections, one after the other; done() says how many there are.
class ConnectionList {
 public:
  explicit ConnectionList(TrafficFigures& to) noexcept : to_(to) {}
  void add(const ReportedConnection& c) noexcept {
    if (const std::size_t i = open_++; i < TrafficFigures::kConnections) put(to_.connections[i], c);
  }
  void done() noexcept { to_.open.store(open_, std::memory_order_relaxed); }

 private:
  static std::uint64_t packed(std::string_view text) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
    return word;
  }
  static void put(TrafficFigures::Connection& at, const ReportedConnection& c) noexcept {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    std::array<std::uint64_t, 2> peer{};
    static_assert(sizeof peer == sizeof c.peer.octets);
    std::memcpy(peer.data(), c.peer.octets.data(), sizeof peer);
    at.packets.store(c.packets, kRelaxed);
    at.bytes.store(c.bytes, kRelaxed);
    at.retransmitted.store(c.retransmitted, kRelaxed);
    at.peer[0].store(peer[0], kRelaxed);
    at.peer[1].store(peer[1], kRelaxed);
    at.kind.store(packed(c.kind), kRelaxed);
    at.state.store(packed(c.state), kRelaxed);
    at.local.store(c.local, kRelaxed);
    at.remote.store(c.remote, kRelaxed);
  }

  TrafficFigures& to_;
  std::uint32_t open_ = 0;
};

// For people: of what a program wrote, only letters, digits, '-' and '_'.
inline std::string readable(std::uint64_t packed) {
  std::array<char, sizeof packed> text{};
  std::memcpy(text.data(), &packed, sizeof packed);
  std::string out;
  for (const char c : text) {
    if (c == '\0') break;
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    out += plain ? c : '?';
  }
  return out;
}

}  // namespace railyard::application
