// A RoCE engine behind a NIC: its packets in frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "transports/roce/engine.h"
#include "transports/roce/known_headers.h"

namespace railyard::roce {

class RoceEndpoint final : public Endpoint {
 public:
  // `real_payload`: frames carry the octets of registered memory; else the NIC may make promises of them.
  RoceEndpoint(EngineConfig config, bool real_payload) : real_payload_(real_payload), engine_(std::move(config)) {}

  Engine& engine() noexcept { return engine_; }
  const Engine& engine() const noexcept { return engine_; }

  Readiness ready(Instant now) override { return engine_.ready(now); }
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool has_real_payload() const noexcept override { return real_payload_; }

  // One frame. Returns why it was of no use; nullopt: it was taken. `in`, new, says what it was as far as that is known
  // (of a trimmed one: for which QP), and holds as long as the frame does.
  std::optional<Drop> receive_one(const RxFrame& frame, InPacket& in);

 private:
  Drop dropped(Drop reason) noexcept {
    engine_.on_drop(reason);
    return reason;
  }

  // Of a frame's octets: where the BTH begins, and where the IP packet ends.
  struct Datagram {
    std::size_t begin = 0;
    std::size_t ip_end = 0;
  };
  std::optional<Datagram> find_datagram(std::span<const std::byte> octets, std::size_t frame_octets,
                                        InPacket& in) noexcept;
  std::optional<Drop> take(const RxFrame& frame, std::span<const std::byte> octets, const Datagram& found,
                           const PayloadRef& rest, InPacket& in);

  bool real_payload_;
  KnownHeaders known_;
  PathTelemetry telemetry_;       // of the frame that is being handled
  std::vector<std::byte> whole_;  // a frame whose headers end in another piece than they should
  Engine engine_;
};

}  // namespace railyard::roce
