// Which process behind a NIC a UET packet is for, and what a process may send (UE-Spec 1.0 §3.4.1, §3.5.10).
//
// Each process has numbers of its own: a block of PDCIDs and one of PIDonFEPs. A packet of a PDC names it by its PDCID
// at this end. One that sets a PDC up (syn) cannot: the request that it carries names a PIDonFEP. What comes with syn
// and without a request (control packets, trimmed ones) goes where a request of the same PDC went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/packet/packet.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/parse.h"

namespace railyard {

class ApplicationProcess;

// A process's numbers at its NIC.
struct UetNumbers {
  static constexpr std::uint32_t kProcesses = 128;  // at a NIC
  static constexpr std::uint32_t kPdcids = (1u << 16) / kProcesses;
  static constexpr std::uint32_t kPids = (1u << 12) / kProcesses;

  std::uint8_t block = 0;    // 0..kProcesses - 1
  std::uint32_t job_id = 0;  // 24 bits

  // PDCID 0 is nobody's.
  constexpr std::uint16_t first_pdcid() const noexcept {
    return static_cast<std::uint16_t>(block == 0 ? 1u : block * kPdcids);
  }
  constexpr std::uint16_t pdcids() const noexcept {
    return static_cast<std::uint16_t>(block == 0 ? kPdcids - 1 : kPdcids);
  }
  constexpr std::uint16_t first_pid_on_fep() const noexcept { return static_cast<std::uint16_t>(block * kPids); }
  constexpr bool has_pdcid(std::uint16_t id) const noexcept { return id != 0 && id / kPdcids == block; }
  constexpr bool has_pid(std::uint32_t pid) const noexcept { return pid / kPids == block; }
};

// What endpoints of applications call themselves in messages (initiator): their PIDonFEP and resource index, so that
// whoever knows an endpoint's address knows its messages.
constexpr std::uint32_t uet_initiator_of(std::uint16_t pid_on_fep, std::uint16_t resource_index) noexcept {
  return std::uint32_t{pid_on_fep} << 12 | resource_index;
}

class UetProcesses {
 public:
  void add(const UetNumbers& numbers, ApplicationProcess& process) noexcept { by_block_[numbers.block] = &process; }
  void remove(const UetNumbers& numbers) noexcept { by_block_[numbers.block] = nullptr; }

  // Of a packet that has come; nullptr: of nobody here.
  ApplicationProcess* find(const Packet& packet) noexcept;

 private:
  // Of the last PDCs that were set up.
  struct Setup {
    wire::IpAddress source{};
    std::uint16_t spdcid = 0;  // 0: none
    std::uint8_t block = 0;
  };
  static constexpr std::size_t kSetups = 1024;
  Setup& setup_of(const wire::IpAddress& source, std::uint16_t spdcid) noexcept;

  std::array<ApplicationProcess*, UetNumbers::kProcesses> by_block_{};
  std::array<Setup, kSetups> setups_{};
};

// Whether a process that has these numbers may send this frame, which `view` is of: a UET packet of its own PDCs, in
// the name of its own endpoints and job. nullopt: it is no UET packet.
//
// DEVIATION: a NACK to a packet of no PDC (SPDCID 0) may name any PDC of its receiver.
std::optional<bool> may_send_uet(const UetNumbers& numbers, const wire::FrameView& view,
                                 std::span<const std::byte> frame) noexcept;

}  // namespace railyard
