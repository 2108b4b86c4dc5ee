// Frames of a capture among what a NIC's own endpoint sends, while a lab is live.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "dataplane/base/counter.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/port/replay_plan.h"

namespace railyard {

// What other threads know of a replay, and what they may ask of it.
struct ReplayControl {
  std::atomic<bool> stop{false};      // nothing more is sent
  std::atomic<bool> finished{false};  // all has been sent
  std::atomic<bool> begun{false};     // it drives a NIC
  Counter sent;                       // frames handed to the NIC
};

// Takes the place of the NIC's endpoint, which goes on behind it: when both have something, they take turns. What
// arrives is the other one's.
class ReplayEndpoint final : public Endpoint {
 public:
  ReplayEndpoint(std::shared_ptr<const ReplayPlan> plan, std::shared_ptr<ReplayControl> control);

  // Before anything else: the replay begins at `at`. `own`: the NIC's endpoint, may be nullptr.
  void begin(Instant at, std::unique_ptr<Endpoint> own);

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool generates(std::uint32_t flow) const noexcept override { return own_ != nullptr && own_->generates(flow); }
  bool has_real_payload() const noexcept override { return true; }
  bool takes_everything() const noexcept override { return own_ != nullptr && own_->takes_everything(); }
  bool keeps_tags() const noexcept override { return own_ != nullptr && own_->keeps_tags(); }
  bool take_control(Instant now, std::span<std::byte, kControlOctets> out) override;

  // The NIC's endpoint, to be put back.
  std::unique_ptr<Endpoint> take_own() noexcept { return std::move(own_); }

 private:
  struct Place {
    std::size_t next = 0;  // in by_class, or controls
    Instant round{};       // when its round began
  };
  // When the next frame of a class, or of MAC control, is due; never if there is none.
  Instant due(Priority priority) const noexcept { return due(plan_->by_class[priority.index()], places_[priority.index()]); }
  Instant due(const std::vector<std::uint32_t>& of, const Place& place) const noexcept;
  void advance(const std::vector<std::uint32_t>& of, Place& place) noexcept;
  std::size_t replay(Instant now, Priority priority, std::span<TxFrame> frames);

  std::shared_ptr<const ReplayPlan> plan_;
  std::shared_ptr<ReplayControl> control_;
  std::unique_ptr<Endpoint> own_;
  std::array<Place, kPriorities> places_;
  Place control_place_;
  std::uint64_t left_;  // in this round, without loop
  bool own_first_ = false;
};

}  // namespace railyard
