// A UET engine behind a NIC: its packets in frames.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "transports/uet/engine.h"
#include "transports/uet/wire/encapsulation.h"
#include "transports/uet/wire/outer_path.h"

namespace railyard::uet {

class UetEndpoint final : public Endpoint {
 public:
  // `real_payload`: frames carry the octets of registered memory; else the NIC may make promises of them. With
  // encapsulation.crc the NIC has to make the CRC: TxFrame::trailer_octets is 4.
  UetEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
              bool real_payload);

  Engine& engine() noexcept { return engine_; }
  const Engine& engine() const noexcept { return engine_; }

  Readiness ready(Instant now) override { return engine_.ready(now); }
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override;
  bool receive(std::span<const RxFrame> frames) override;
  bool has_real_payload() const noexcept override { return real_payload_; }
  // Without UDP its packets have no ports.
  bool takes_everything() const noexcept override { return !encapsulation_.udp; }

  // The packet in a frame, which the engine has not seen yet, into `in`, which holds as long as the frame does; else
  // why it is none, which is counted, and nothing in `in` is of use. Of a trimmed one the SES header is there, too, if
  // the cut has left it.
  std::optional<Drop> parse(const RxFrame& frame, InPacket& in);
  // The next packet of a class in a frame. False: there is none.
  bool send_one(Instant now, Priority priority, TxFrame& frame, OutPacket& out, Engine::Ahead& ahead);

 private:
  void fill(const OutPacket& out, TxFrame& frame);
  const OuterPath& path(const OutPacket& out, std::size_t way);
  // Place of a path, and number of the flow (TxFrame::flow) that takes it: its frames differ in their entropy only. Each
  // peer has one for each data class, and one for what is control.
  std::size_t way(const OutPacket& out) const noexcept {
    return std::size_t{ways_} * out.to.index() + (out.control ? ways_ - 1u : std::uint32_t{out.data_class});
  }
  std::uint8_t class_of(std::uint8_t traffic_class_octet) const noexcept;

  Engine engine_;
  Dialect dialect_;
  EncapsulationConfig encapsulation_;
  EncapsulationConfig of_trimmed_;  // what a switch has cut has no CRC any more
  bool real_payload_;
  bool known_to_fabric_;  // for what it is, whatever its entropy
  // What data of each class are marked with.
  struct Mark {
    std::uint8_t dscp;
    bool ect;
  };
  std::vector<Mark> classes_;
  std::uint32_t ways_ = 0;  // to each peer
  std::vector<OuterPath> paths_;
  InPacket in_;
  std::vector<std::byte> whole_;  // a frame whose headers end in another piece than they should
};

}  // namespace railyard::uet
