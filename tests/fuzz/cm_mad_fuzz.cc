// Any octets as a MAD of connection management, and to a manager that listens and connects.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tests/fuzz/expect.h"
#include "transports/roce/cm/connection_manager.h"

using namespace railyard;
using namespace railyard::roce;

namespace {

void expect_encodes_to_the_same(std::span<const std::byte> mad) {
  const auto datagram = cm::decode(mad);
  if (!datagram) return;
  std::array<std::byte, cm::kMadOctets> octets;
  cm::encode(octets, *datagram);
  FUZZ_EXPECT(cm::decode(octets) == datagram);
}

void expect_books_to_balance(const cm::CmCounters& c) {
  std::uint64_t sum = c.taken.read();
  for (const Counter& n : c.ignored) sum += n.read();
  FUZZ_EXPECT(c.received.read() == sum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto octets = std::as_bytes(std::span(data, size));
  expect_encodes_to_the_same(octets);

  const wire::IpAddress own(0x0A000001u), peer(0x0A000002u);
  Engine engine({});
  cm::CmConfig config;
  config.route = [&](const wire::IpAddress&, const wire::IpAddress&) {
    AddressVector av;
    av.source = own;
    av.destination = peer;
    return std::optional(av);
  };
  cm::ConnectionManager manager(engine, config);
  const CqId cq = engine.create_cq(4);
  const auto make_qp = [&] { return *engine.create_qp({.send_cq = cq, .recv_cq = cq}); };
  for (unsigned port = 0; port < 0x10000; port += 0x101)
    manager.listen(cm::PortSpace::kTcp, static_cast<std::uint16_t>(port));
  for (unsigned port = 0; port < 0x10000; port += 0x101)
    manager.serve_datagrams(static_cast<std::uint16_t>(port), QpNumber{1}, cm::kUdpQKey);
  const auto connection = manager.connect({}, {1, own, peer}, cm::PortSpace::kTcp, 1, {.qp = make_qp()});
  FUZZ_EXPECT(connection.has_value());
  // Octets that name the connection: behind the first the peer's ID, then ours.
  std::array<std::byte, cm::kMadOctets> named{};
  if (size == cm::kMadOctets) {
    std::copy(octets.begin(), octets.end(), named.begin());
    wire::write<wire::Field<0, 32>>(named.data() + cm::Mad::kOctets + 4, connection->value);
  }
  Instant now{};
  for (int i = 0; i < 3; ++i) {
    manager.on_mad(now, peer, own, octets);
    manager.on_mad(now, peer, own, named);
    for (const cm::Event& e : manager.take_events())
      if (e.type == cm::EventType::kConnectRequest)
        static_cast<void>(manager.accept(now, e.connection, {.qp = make_qp(), .path_mtu = PathMtu::k4096}));
    now = now + Duration{1'000'000'000'000 * i};
    manager.on_timer(now);
  }
  static_cast<void>(manager.disconnect(now, *connection));
  for (int i = 0; i < 1000 && manager.deadline() != Instant::never(); ++i) manager.on_timer(manager.deadline());
  while (const auto out = manager.next()) FUZZ_EXPECT(cm::decode(out->mad).has_value());
  expect_books_to_balance(manager.counters());
  return 0;
}
