// A trunk over UDP: one datagram per message, through the kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/base/counter.h"
#include "dataplane/base/file_descriptor.h"
#include "dataplane/trunk/trunk_wire.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard {

// Datagrams from anybody but `remote` are not seen. Those longer than the MTU of the way go in fragments, which costs
// time and loses more: a frame with real payload takes 80 octets beside its own, with UDP and IPv4 108.
class UdpWire final : public TrunkWire {
 public:
  // Both of one family. Throws std::runtime_error with the address and what would help.
  UdpWire(const wire::UdpEndpoint& local, const wire::UdpEndpoint& remote);
  ~UdpWire() override;
  UdpWire(const UdpWire&) = delete;
  UdpWire& operator=(const UdpWire&) = delete;

  std::size_t send(std::span<const TrunkDatagram> datagrams) override;
  std::size_t receive(Instant now, Duration wall, std::span<TrunkReceived> datagrams) override;
  int readable() const noexcept override { return socket_.get(); }
  TrunkWireCounters counters() const override;

 private:
  struct Buffers;

  FileDescriptor socket_;
  std::unique_ptr<Buffers> buffers_;
  Counter refused_;
};

}  // namespace railyard
