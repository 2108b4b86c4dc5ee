// NICs that peers connect to by rdma_cm, and clients of rping: what became of their connections and data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/report/percentiles.h"

namespace railyard::report {

// Of one service at one NIC.
struct ServiceReport {
  std::string name;  // "rping", "udaddy", "atomics"
  std::uint64_t connections = 0;
  std::uint64_t open = 0;
  std::uint64_t refused = 0;
  std::uint64_t rounds = 0;  // pings, datagrams, atomics of both ends
  std::uint64_t verified_bytes = 0;
  std::uint64_t corrupted = 0;   // pings; exchanges of atomics
  std::uint64_t violations = 0;  // connections
  std::uint64_t failed = 0;      // connections ...
  std::string status;            // ... and why the first of them: "RETRY_EXC_ERR"; empty: none
};

// Of an engine that serves, or is a client: sums of its QPs, under the names that hardware has for them.
struct ServiceNicReport {
  std::string nic;
  std::vector<ServiceReport> services;
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t out_of_sequence = 0;
  std::uint64_t packet_seq_err = 0;
  std::uint64_t implied_nak_seq_err = 0;
  std::uint64_t duplicate_request = 0;
  std::uint64_t out_of_buffer = 0;
  std::uint64_t rnr_nak_received = 0;
  std::uint64_t local_ack_timeout_err = 0;
  std::map<std::string, std::uint64_t> dropped;  // by reason, those that there were
  // Connection management: datagrams.
  std::uint64_t cm_received = 0;
  std::uint64_t cm_sent = 0;
  std::uint64_t cm_sent_again = 0;
  std::map<std::string, std::uint64_t> cm_ignored;    // by reason
  std::map<std::string, std::uint64_t> cm_malformed;  // of which, by what is wrong
};

struct RpingReport {
  std::string name;
  std::string source;
  std::string destination;
  std::string state;    // "done", "failed", ...
  std::string failure;  // "rejected", ...; empty: none
  std::string reason;   // of the failure, if it has one: "invalid service ID", "RETRY_EXC_ERR"
  std::uint64_t attempts_failed = 0;  // connections that were asked for and did not come to be
  std::uint64_t rounds = 0;
  std::uint64_t verified_bytes = 0;
  std::uint64_t corrupted = 0;
  Percentiles latency_ns;  // of a ping: from the client's offer until it is back
};

std::vector<ServiceNicReport> service_nic_reports(const build::BuiltLab& lab);
std::vector<RpingReport> rping_reports(const build::BuiltLab& lab);

// For people. Empty if there is nothing of either.
std::string service_text(const std::vector<ServiceNicReport>& nics, const std::vector<RpingReport>& clients);

}  // namespace railyard::report
