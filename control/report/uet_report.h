// Flows over UET and the NICs that they begin and end at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/build/built_lab.h"
#include "control/report/percentiles.h"

namespace railyard::report {

struct FlowReport;

// Of a flow over UET.
struct UetReport {
  std::string service;    // "rud", "rod", "rudi" or "uud"
  std::string operation;  // "write", "send", "read", or "tagged" of SENDs with tags
  int lanes = 1;
  std::uint64_t messages = 0;   // complete, where they were asked for; of UUD: sent
  std::uint64_t verified = 0;   // came whole, and every octet (elided payload: every packet) was what was sent
  Percentiles message_ns;       // from post to completion
  std::uint64_t discarded = 0;  // packets that the receiver had no use for: there already, or out of its window
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t completion_errors = 0;
  std::string status;  // of the first of them: "refused: NO_MATCH"; empty: none
  std::optional<std::int64_t> failed_ns;

  // SENDs that are complete for who sent them, and not at the target: nothing has taken them yet. A datagram may be
  // lost.
  std::uint64_t waiting() const noexcept {
    const bool sends = operation == "send" || operation == "tagged";
    return sends && service != "uud" && messages > verified ? messages - verified : 0;
  }
};

// Of one NIC: its engine's counters.
struct UetNicReport {
  std::string nic;
  std::uint64_t pdcs_opened = 0;  // of both ends
  std::uint64_t pdcs_closed = 0;  // in order,
  std::uint64_t pdcs_failed = 0;  // and in error
  std::uint64_t pdcs_left = 0;    // when the run ended
  std::uint64_t open_messages = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t acks_sent = 0;
  std::uint64_t acks_received = 0;
  std::map<std::string, std::uint64_t> nacks_sent;  // by code
  std::map<std::string, std::uint64_t> nacks_received;
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t retransmission_timeouts = 0;
  std::uint64_t inferred_losses = 0;
  std::uint64_t probes_sent = 0;
  std::uint64_t credits_sent = 0;
  std::uint64_t credits_received = 0;
  std::uint64_t credit_requests_sent = 0;
  std::uint64_t credit_requests_received = 0;
  std::uint64_t speculative_packets = 0;
  std::uint64_t ecn_marked_packets = 0;  // received
  std::uint64_t ecn_marked_acks = 0;     // received: packets of its own that were marked
  std::uint64_t out_of_order = 0;        // packets taken while others before them were missing
  std::map<std::string, std::uint64_t> dropped;  // by reason: trimmed, duplicate, ...
  // Of these the malformed ones, and those that are no UET, by what is wrong with them.
  std::map<std::string, std::uint64_t> malformed;
  std::map<std::string, std::uint64_t> not_uet;
  // The transport security sublayer.
  std::uint64_t secured_packets_sent = 0;      // encrypted
  std::uint64_t secured_packets_received = 0;  // authentic
  std::map<std::string, std::uint64_t> security_drops;

  std::uint64_t trimmed() const {
    const auto at = dropped.find("trimmed");
    return at == dropped.end() ? 0 : at->second;
  }
  // Packets that came although they were there already: of every one either the network or a sender made too much.
  std::uint64_t duplicates() const {
    const auto at = dropped.find("duplicate");
    return at == dropped.end() ? 0 : at->second;
  }
};

UetReport uet_report(const build::Flow& flow);
std::vector<UetNicReport> uet_nic_reports(const build::BuiltLab& lab);

nlohmann::ordered_json uet_json(const UetReport& r);
nlohmann::ordered_json uet_nic_json(const UetNicReport& n);

// For people, flows and NICs with what collectives took of them; empty without UET.
std::string uet_text(const std::vector<FlowReport>& flows, const std::vector<UetNicReport>& nics);

}  // namespace railyard::report
