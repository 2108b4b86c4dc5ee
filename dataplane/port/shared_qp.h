// QP 1 of a NIC whose other QPs are in several processes: who gets what is sent to it. What its datagrams say is not
// known here (transports/roce/cm/shared_gsi.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace railyard {

inline constexpr std::uint32_t kSharedQp = 1;

// Called by the engine's thread. A process is named by its first QP number. `frame`: from Ethernet to the last octet
// before the FCS, and without its ICRC if that is pending.
class SharedQp {
 public:
  virtual ~SharedQp() = default;

  struct Verdict {
    std::optional<std::uint32_t> first_qpn;  // of the process that gets it
    std::vector<std::byte> answer;           // if none does: a frame in return, without ICRC; empty: none
  };
  virtual Verdict for_frame(std::span<const std::byte> frame, bool icrc_pending) = 0;
  // Whether the process may send this to a QP 1.
  virtual bool may_send(std::uint32_t first_qpn, std::span<const std::byte> frame, bool icrc_pending) = 0;
};

}  // namespace railyard
