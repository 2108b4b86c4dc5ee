// The notification point of DCQCN: which CE-marked packets are answered by a CNP (roce-and-lossless §8.2).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "dataplane/base/time.h"
#include "dataplane/wire/address.h"

namespace railyard::roce {

// Within what at most one CNP goes out in an interval.
enum class CnpScope : std::uint8_t { kQp, kDestinationIp, kPort };

struct CnpConfig {
  bool enabled = true;            // off towards peers that mistake a CNP (rxe)
  Duration interval{50'000'000};  // N of the paper, 50 us; vendor default 4 us
  CnpScope scope = CnpScope::kQp;
  std::uint8_t dscp = 48;
  std::uint8_t priority = 6;

  bool operator==(const CnpConfig&) const = default;
};

// The first marked packet is answered at once; further ones within the interval are not, nor afterwards.
class CnpPacing {
 public:
  explicit CnpPacing(const CnpConfig& config) : config_(config) {}

  // Whether a CE-marked packet for QP `qpn` from `peer` is answered at `now`. Allocates once per QP or peer.
  bool notify(Instant now, std::uint32_t qpn, const wire::IpAddress& peer) {
    if (!config_.enabled) return false;
    Instant& next = slot(qpn, peer);
    if (now < next) return false;
    next = now + config_.interval;
    return true;
  }
  void forget(std::uint32_t qpn) { by_qp_.erase(qpn); }

 private:
  Instant& slot(std::uint32_t qpn, const wire::IpAddress& peer) {
    switch (config_.scope) {
      case CnpScope::kQp:
        return by_qp_[qpn];
      case CnpScope::kDestinationIp:
        return by_peer_[peer];
      case CnpScope::kPort:
        break;
    }
    return port_;
  }

  CnpConfig config_;
  std::unordered_map<std::uint32_t, Instant> by_qp_;  // the instant from which the next one may go
  std::unordered_map<wire::IpAddress, Instant> by_peer_;
  Instant port_{};
};

}  // namespace railyard::roce
