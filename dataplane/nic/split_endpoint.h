// Two endpoints at one NIC: the traffic generator and a RoCE engine, told apart by QP number; or either and a UET engine,
// told apart by what is behind IP.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dataplane/base/endpoint.h"

namespace railyard {

// Frames for QPs [0, first_qp) but QP 1, where connections are asked for, are the first one's, all others the second
// one's. When both have something to send in a class, they take turns with halves of what the NIC asks for.
class SplitEndpoint final : public Endpoint {
 public:
  // Which frames are the second one's: those to this UDP port, or of this IP protocol.
  struct Uet {
    bool udp = true;
    std::uint16_t port = 0;
    std::uint8_t protocol = 0;
  };

  // `flows`: the first one's TxFrame::flow are less.
  SplitEndpoint(std::unique_ptr<Endpoint> first, std::unique_ptr<Endpoint> second, std::uint32_t first_qp,
                std::uint32_t flows)
      : first_(std::move(first)), second_(std::move(second)), first_qp_(first_qp), flows_(flows) {}
  SplitEndpoint(std::unique_ptr<Endpoint> first, std::unique_ptr<Endpoint> second, const Uet& uet, std::uint32_t flows)
      : first_(std::move(first)), second_(std::move(second)), uet_(uet), flows_(flows) {}

  Readiness ready(Instant now) override;
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool generates(std::uint32_t flow) const noexcept override {
    return flow < flows_ ? first_->generates(flow) : second_->generates(flow - flows_);
  }
  bool takes_everything() const noexcept override { return first_->takes_everything() || second_->takes_everything(); }
  bool has_real_payload() const noexcept override { return first_->has_real_payload() || second_->has_real_payload(); }

 private:
  std::size_t send_second(Instant now, Priority priority, std::span<TxFrame> frames);
  bool is_of_first(const RxFrame& frame) const noexcept;
  bool is_uet(const RxFrame& frame) const noexcept;

  std::unique_ptr<Endpoint> first_;
  std::unique_ptr<Endpoint> second_;
  std::uint32_t first_qp_ = 0;
  std::optional<Uet> uet_{};
  std::uint32_t flows_;
  bool second_begins_ = false;
};

}  // namespace railyard
