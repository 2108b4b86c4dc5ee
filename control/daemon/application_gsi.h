// QP 1 of a NIC that applications use: frames to and from it by the rules of roce::cm::SharedGsi, and ports of rdma_cm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/port/application_port.h"
#include "dataplane/port/shared_qp.h"
#include "transports/application/handshake.h"
#include "transports/roce/cm/shared_gsi.h"

namespace railyard::daemon {

// By the engine's thread. Processes are named by their first QP numbers.
class ApplicationGsi final : public SharedQp {
 public:
  static constexpr std::uint32_t kCommIds = roce::cm::SharedGsi::kCommIds;
  static constexpr std::uint32_t first_comm_id(std::uint32_t first_qpn) noexcept {
    return roce::cm::SharedGsi::first_comm_id(owner(first_qpn));
  }

  void join(std::uint32_t first_qpn) { gsi_.join(owner(first_qpn)); }
  // Returns frames that tell its peers, without ICRC.
  std::vector<std::vector<std::byte>> leave(std::uint32_t first_qpn) { return gsi_.leave(owner(first_qpn)); }
  application::PortAnswer serve(std::uint32_t first_qpn, const application::PortRequest& request);

  Verdict for_frame(std::span<const std::byte> frame, bool icrc_pending) override;
  bool may_send(std::uint32_t first_qpn, std::span<const std::byte> frame, bool icrc_pending) override;

 private:
  static constexpr roce::cm::SharedGsi::Owner owner(std::uint32_t first_qpn) noexcept {
    return first_qpn / ApplicationProcess::kQpnsPerProcess;
  }
  static_assert((1u << 24) / ApplicationProcess::kQpnsPerProcess <= roce::cm::SharedGsi::kMostOwners);

  roce::cm::SharedGsi gsi_;
};

}  // namespace railyard::daemon
