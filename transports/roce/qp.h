// A QP: its halves, and where it stands in the engine's lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "dataplane/base/gap_jitter.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "transports/roce/congestion/cnp_pacing.h"
#include "transports/roce/congestion/congestion_control.h"
#include "transports/roce/datagrams.h"
#include "transports/roce/qp_info.h"
#include "transports/roce/requester.h"
#include "transports/roce/responder.h"
#include "transports/roce/uc_receiver.h"

namespace railyard::roce {

struct Qp {
  static constexpr std::size_t kLine = 64;  // octets that a cache fetches


  Qp(NicState& nic, const QpInfo& init, const AddressHandles& handles, std::size_t max_send_wr, std::size_t max_recv_wr,
     std::uint32_t its_slot)
      : slot(its_slot),
        info(init),
        requester(nic, info, max_send_wr),
        responder(nic, info),
        own_receives(max_recv_wr, init.domain),
        uc_receiver(nic, info),
        datagrams(nic, info, handles, max_send_wr) {
    if (!info.has_srq) info.receives = &own_receives;
  }
  Qp(const Qp&) = delete;
  Qp& operator=(const Qp&) = delete;

  // What a packet touches lies together, the halves apart: a NIC of many QPs finds little of it in its cache.
  alignas(kLine) Instant next_data{};   // pacing: no request or READ response before
  Instant timer_at = Instant::never();  // of its wake that counts
  BitRate rate_limit{};                 // of its data; 0: none
  OctetTime octet_time{};               // at that rate
  std::uint32_t slot;
  bool cnps = true;  // answers CE-marked packets
  bool cnp_waits = false;  // stands in the engine's line of those that owe a CNP; once
  bool in_control_line = false;
  bool in_data_line = false;    // or waits for next_data
  bool response_first = false;  // whose turn it is when both halves have data
  bool established = false;     // a request has come in RTR
  bool drained_told = false;
  bool returns_telemetry = false;
  QpInfo info;
  alignas(kLine) Requester requester;  // RC, UC
  alignas(kLine) Responder responder;  // RC
  alignas(kLine) CongestionControl congestion;
  // In-band telemetry of the newest request that came with it, once there was one, and whether a response is to return
  // it.
  std::unique_ptr<PathTelemetry> telemetry;
  ReceiveQueue own_receives;
  GapJitter gaps;            // of data at that rate
  UcReceiver uc_receiver;    // UC
  DatagramSender datagrams;  // UD

  // `controlled`: its congestion control is asked at each packet.
  void prefetch_to_send(bool controlled) const noexcept {
    prefetch(this, &info.counters.retransmitted_packets);
    prefetch(&requester, requester.cold());
    __builtin_prefetch(&responder);
    if (controlled) __builtin_prefetch(&congestion);
  }
  void prefetch_to_hear() const noexcept {
    prefetch(this, info.path.behind_addresses());
    prefetch(&requester, requester.cold());
    __builtin_prefetch(&responder);
  }
  void prefetch_to_receive() const noexcept {
    prefetch(this, info.path.behind_addresses());
    prefetch(&responder, responder.cold());
  }

  void limit_rate(BitRate limit, const PacingConfig& pacing) noexcept {
    rate_limit = limit;
    gaps = pacing.jitter_of(slot, limit);
    if (limit.bps > 0) octet_time = OctetTime(limit).slower(pacing.slower_ppb);
  }

  bool has_control() const noexcept { return responder.waiting() == Responder::Next::kControl; }
  bool has_read_response() const noexcept { return responder.waiting() == Responder::Next::kReadResponse; }
  bool has_request(Instant now) const noexcept {
    return info.type == QpType::kUd ? datagrams.ready() : requester.ready(now);
  }
  bool has_data(Instant now) const noexcept { return has_read_response() || has_request(now); }
  // Whom the CNP that waits is for: the newest that was to be told.
  std::uint32_t cnp_for = 0;

  // The way of its CNPs: its own in their class. Made once.
  const Path& cnp_path(const CnpConfig& config) {
    if (!cnp_path_ || cnp_path_->av().destination != info.path.av().destination)
      cnp_path_ = info.path.with(config.dscp, Priority{config.priority});
    return *cnp_path_;
  }
  // The same of its ACKs. `flow`: of TxFrame, if the way is new.
  const Path& ack_path(const AckClass& config, std::uint32_t& flow) {
    if (!ack_path_ || ack_path_->av().destination != info.path.av().destination)
      ack_path_ = info.path.with(config.dscp, Priority{config.priority}, flow++);
    return *ack_path_;
  }
  // The class of its data.
  Priority priority() const noexcept {
    return info.type == QpType::kUd && datagrams.ready() ? datagrams.priority() : info.path.priority();
  }

 private:
  // Every line from the one to the other.
  static void prefetch(const void* from, const void* to) noexcept {
    for (const auto* at = static_cast<const std::byte*>(from); at < to; at += kLine) __builtin_prefetch(at);
  }

  std::optional<Path> cnp_path_;
  std::optional<Path> ack_path_;
};

}  // namespace railyard::roce
