// A UET NIC that returns messages: a server for programs of libfabric and for other UET endpoints. It listens at one
// well-known address and sends each message, tagged or not, back to the endpoint that it came from.
//
// A message does not name its sender's PIDonFEP and resource index. Senders that call themselves by both, as the
// endpoints of applications do (initiator = PIDonFEP << 12 | resource index), are answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/base/rng.h"
#include "transports/uet/uet_endpoint.h"

namespace railyard::uet {

struct EchoCounters {
  Counter messages;    // received whole
  Counter bytes;       // of them
  Counter returned;    // answers that arrived
  Counter failed;      // answers that did not
  Counter unanswered;  // a retransmission buffer was not to be had, or the sender cannot be named
};

class EchoEndpoint final : public Endpoint {
 public:
  static constexpr std::uint16_t kPidOnFep = 0;
  static constexpr std::uint16_t kResourceIndex = 1;
  // Longer messages are refused (TOO_LONG).
  static constexpr std::uint32_t kMostOctets = 64 * 1024;
  // Messages, of each kind, that can be received or on their way back at once; more are refused or wait at the sender.
  static constexpr std::uint32_t kBuffers = 64;

  // `job_id`: 24 bits; requests of other jobs are refused (BAD_JOB_ID). `lanes`: PIDonFEPs of one process at a peer; 0:
  // all endpoints of a peer's address share its PDCs.
  EchoEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
               std::uint32_t job_id, std::uint32_t pids_per_process);

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool has_real_payload() const noexcept override { return true; }
  bool takes_everything() const noexcept override { return uet_.takes_everything(); }

  const Engine& engine() const noexcept { return uet_.engine(); }
  const EchoCounters& counters() const noexcept { return counters_; }

 private:
  std::uint64_t address_of(std::uint32_t buffer) const noexcept;
  void post(Instant now, std::uint32_t buffer);
  // Whether anything had completed.
  bool serve(Instant now);
  void on_message(Instant now, const Completion& completion);

  UetEndpoint uet_;
  std::uint32_t pids_per_process_;
  CqId cq_;
  ContextId context_;
  std::vector<std::byte> memory_;  // the first kBuffers for messages without tags, then those with
  MemoryRegions::Key key_ = 0;
  EchoCounters counters_;
};

}  // namespace railyard::uet
