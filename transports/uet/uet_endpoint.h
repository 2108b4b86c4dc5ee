// A UET engine behind a NIC: its packets in frames.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/base/endpoint.h"
#include "transports/uet/engine.h"
#include "transports/uet/security/opener.h"
#include "transports/uet/security/sealer.h"
#include "transports/uet/wire/encapsulation.h"
#include "transports/uet/wire/outer_path.h"

namespace railyard::uet {

class UetEndpoint final : public Endpoint {
 public:
  // `real_payload`: frames carry the octets of registered memory; else the NIC may make promises of them. With
  // encapsulation.crc the NIC has to make the CRC: TxFrame::trailer_octets is 4.
  UetEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
              bool real_payload);

  // From now on packets are encrypted, and only such as are encrypted for this domain are taken. Before the first packet.
  void secure(const SecurityConfig& config);

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
  // ---- uet_endpoint_security.cc ----
  struct Security {
    Security(const SecurityConfig& config, std::size_t frames) : sealer(config), opener(config), sealed(frames) {}

    Sealer sealer;
    Opener opener;
    // Real payload, encrypted, with its ICV: of the frames that a NIC asks for at once. Taken in turn.
    std::vector<std::vector<std::byte>> sealed;
    std::size_t next = 0;
    std::vector<std::byte> opened{};  // the packet in hand
  };
  // What is around a packet in a frame that was received.
  struct Around {
    std::span<const std::byte> frame{};  // octets that are there, up to the end of the IP packet
    std::size_t l3 = 0;
    bool v4 = true;
  };
  void fill_secured(Instant now, const OutPacket& out, TxFrame& frame);
  std::optional<SecurityDrop> open_secured(const Around& around, const InPacket& in, bool trimmed, bool corrupted,
                                           Inner& inner);
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
  std::unique_ptr<Security> security_;  // nothing: packets are neither encrypted nor decrypted
  std::vector<std::byte> whole_;  // a frame whose headers end in another piece than they should
};

}  // namespace railyard::uet
