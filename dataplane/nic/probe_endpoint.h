// Trains of probe frames beside what a NIC's own endpoint does, measured where they arrive.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "dataplane/nic/traffic_generator.h"

namespace railyard {

// Takes the place of the NIC's endpoint, which goes on behind it: when both have something, they take turns. Probes
// are known by their QP number; all other frames that arrive are the other one's. It sees frames without 802.1Q tags:
// not for endpoints that keep them.
class ProbeEndpoint final : public Endpoint {
 public:
  // Numbers of probes are at or above this one; transports hand out smaller ones.
  static constexpr std::uint32_t kFirstQp = 0xFD0000;
  static constexpr std::uint32_t kMostPerNic = 0xFFFE - 1;  // that one NIC receives

  // Each `destination_qp` is at or above kFirstQp.
  ProbeEndpoint(std::vector<TxFlowConfig> sends, const std::vector<RxFlowConfig>& receives)
      : probes_(std::move(sends), receives) {}

  // Before anything else. `own`: the NIC's endpoint, may be nullptr.
  void begin(std::unique_ptr<Endpoint> own) noexcept { own_ = std::move(own); }
  // The NIC's endpoint, to be put back.
  std::unique_ptr<Endpoint> take_own() noexcept { return std::move(own_); }
  // No probe is begun at or after `at`.
  void stop_at(Instant at) { probes_.stop_at(at); }
  // What was sent and what came so far.
  const TrafficGenerator& probes() const noexcept { return probes_; }
  // The same, told by the process that runs the host, taken by others.
  void exchange_figures(StateArchive& archive) { probes_.exchange_figures(archive); }

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool take_control(Instant now, std::span<std::byte, kControlOctets> out) override {
    return own_ != nullptr && own_->take_control(now, out);
  }
  void expect_frame(std::uint32_t queue_pair, bool payload) const noexcept override {
    if (own_ != nullptr && queue_pair < kFirstQp) own_->expect_frame(queue_pair, payload);
  }
  void expect_send() const noexcept override {
    if (own_ != nullptr) own_->expect_send();
  }
  // Probes have kNoFlow.
  bool generates(std::uint32_t flow) const noexcept override { return own_ != nullptr && own_->generates(flow); }
  bool takes_everything() const noexcept override { return own_ != nullptr && own_->takes_everything(); }
  bool has_real_payload() const noexcept override { return own_ != nullptr && own_->has_real_payload(); }

 private:
  std::size_t send_probes(Instant now, Priority priority, std::span<TxFrame> frames);

  TrafficGenerator probes_;
  std::unique_ptr<Endpoint> own_;
  bool own_first_ = false;
};

}  // namespace railyard
