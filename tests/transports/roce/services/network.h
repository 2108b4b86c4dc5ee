// RoCE NICs with services and a bare network between them, on which frames are whole: every octet and a real ICRC.
//
//   10.0.0.1, 10.0.0.2, ... ---- 1 us, 100 Gb/s ---- each other
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/parse.h"
#include "transports/roce/services/service_endpoint.h"

namespace railyard::roce {

struct NetworkFrame {
  std::size_t from = 0;
  Instant at{};
  std::vector<std::byte> octets;  // from the Ethernet header to the ICRC
  Duration late{};                // it takes so much longer than others
  bool operator==(const NetworkFrame&) const = default;
};

class Network {
 public:
  static wire::IpAddress address(std::size_t i) { return wire::IpAddress(0x0A000001u + static_cast<std::uint32_t>(i)); }

  // `change` is told each NIC's number and what it is made with.
  explicit Network(std::size_t nics, const std::function<void(std::size_t, ServiceEndpointConfig&)>& change)
      : nics_(nics), free_at_(nics) {
    using namespace literals;
    for (std::size_t i = 0; i < nics; ++i) {
      ServiceEndpointConfig c;
      c.engine.first_qpn = static_cast<std::uint32_t>(0x100 * (i + 1));
      c.connections.seed = {i + 1};
      c.connections.response_timeout = 10;
      c.connections.timewait = 1_ms;
      c.connections.route = [own = address(i)](const wire::IpAddress& from, const wire::IpAddress& to) {
        AddressVector av;
        av.source = from;
        av.destination = to;
        return from == own ? std::optional(av) : std::nullopt;
      };
      c.defaults.ack_timeout = 5;
      c.defaults.path_mtu = PathMtu::k4096;
      change(i, c);
      nics_[i] = std::make_unique<ServiceEndpoint>(std::move(c));
    }
  }

  ServiceEndpoint& nic(std::size_t i) { return *nics_[i]; }
  Instant now() const { return now_; }
  const std::vector<NetworkFrame>& log() const { return log_; }

  // How often a frame arrives, and what it is then. `n` counts from 0.
  std::function<unsigned(std::size_t n, NetworkFrame&)> fate = [](std::size_t, NetworkFrame&) { return 1u; };
  // Between two events the NICs are asked this often for nothing.
  int idle_questions = 0;

  void run(Instant until) {
    for (;;) {
      Instant next = Instant::never();
      for (std::size_t i = 0; i < nics_.size(); ++i) next = std::min(next, step(i));
      if (!arrivals_.empty()) next = std::min(next, arrivals_.begin()->first.first);
      if (next > until) break;
      for (int q = 1; q <= idle_questions && next > now_; ++q)
        for (const auto& nic : nics_) static_cast<void>(nic->ready(now_ + (next - now_) * q / (idle_questions + 1)));
      now_ = std::max(now_, next);
      while (!arrivals_.empty() && arrivals_.begin()->first.first <= now_) {
        const auto [to, frame] = std::move(arrivals_.begin()->second);
        arrivals_.erase(arrivals_.begin());
        deliver(to, frame.octets);
      }
    }
    now_ = until;
  }

  // A frame of somebody's making.
  void deliver(std::size_t to, std::span<const std::byte> octets) {
    const RxFrame in{now_, now_, octets, {}, false};
    nics_[to]->receive({&in, 1});
  }

  static void write_icrc(std::vector<std::byte>& frame) {
    const auto view = wire::parse_frame(frame, frame.size());
    const auto packet = std::span(frame).subspan(view->l3_offset, view->ip_octets);
    wire::write_crc32(packet.last(wire::kIcrcOctets).data(), wire::icrc(packet.first(packet.size() - 4)));
  }

 private:
  // Sends what can go now; when the NIC wants to be looked at again.
  Instant step(std::size_t i) {
    using namespace literals;
    if (now_ < free_at_[i]) return free_at_[i];
    const Readiness r = nics_[i]->ready(now_);
    for (std::uint8_t p = 0; p < kPriorities; ++p) {
      if ((r.classes & bit(Priority{p})) == 0) continue;
      std::array<std::byte, kMaxHeaderOctets> header;
      TxFrame out;
      out.header = header.data();
      if (nics_[i]->send(now_, Priority{p}, {&out, 1}) == 0) continue;
      NetworkFrame f{i, now_, {header.begin(), header.begin() + out.header_octets}, {}};
      if (out.payload.octets > 0)
        f.octets.insert(f.octets.end(), out.payload.bytes, out.payload.bytes + out.payload.octets);
      f.octets.resize(f.octets.size() + out.trailer_octets);
      write_icrc(f.octets);
      free_at_[i] = now_ + Bytes{static_cast<std::int64_t>(f.octets.size()) + 24} / 100_Gbps;
      log_.push_back(f);
      const auto view = wire::parse_frame(f.octets, f.octets.size());
      const std::size_t to = view->destination.v4() - address(0).v4();
      NetworkFrame arriving = f;
      for (unsigned n = fate(log_.size() - 1, arriving); n > 0 && to < nics_.size(); --n)
        arrivals_.emplace(std::pair{free_at_[i] + 1_us + arriving.late, order_++}, std::pair{to, arriving});
      return free_at_[i];
    }
    return r.until;
  }

  std::vector<std::unique_ptr<ServiceEndpoint>> nics_;
  std::vector<Instant> free_at_;
  std::map<std::pair<Instant, std::uint64_t>, std::pair<std::size_t, NetworkFrame>> arrivals_;
  std::uint64_t order_ = 0;
  Instant now_{};
  std::vector<NetworkFrame> log_;
};

}  // namespace railyard::roce
