// What an application and the daemon tell each other when an application opens a NIC of an emulated host: one message
// each way over a UNIX socket (SOCK_SEQPACKET). With the answer come three descriptors (SCM_RIGHTS): the shared memory,
// the doorbell that wakes the daemon, the doorbell that wakes the application (eventfd both).
//
// The socket stays open: when either process ends, the kernel closes it, and the other one knows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dataplane/base/frame_ring_pair.h"
#include "dataplane/base/units.h"
#include "dataplane/wire/address.h"
#include "dataplane/wire/mac_address.h"

namespace railyard::application {

inline constexpr std::uint32_t kMagic = 0x52'59'41'50;  // "RYAP"
// Of messages and memory. Application and daemon come from one build, or this differs.
inline constexpr std::uint32_t kVersion = 5;

// What the application is going to speak. Each has numbers and settings of its own.
enum class Transport : std::uint32_t { kRoce, kUet };

// From the application.
struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::array<char, 64> host{};  // name of the emulated host, ended by 0
  std::uint32_t nic = 1;        // from 1
  Transport transport = Transport::kRoce;
  std::uint32_t job_id = 0;  // UET: 24 bits; 0: the one that applications of a lab have by default
};

// UET: the process's numbers at the NIC.
struct UetGrant {
  std::uint32_t job_id = 0;  // that it asked for, or the lab's
  std::uint16_t first_pdcid = 0;
  std::uint16_t most_pdcids = 0;
  std::uint16_t first_pid_on_fep = 0;
  std::uint16_t most_pids = 0;
};

// The NIC as the fabric file has it, and what of it is this process's.
struct NicGrant {
  std::uint32_t first_qpn = 0;  // QP numbers first_qpn .. first_qpn + most_qps - 1
  std::uint32_t most_qps = 0;
  UetGrant uet{};         // or these
  std::uint32_t mtu = 0;  // of the link: octets of the longest IP packet
  BitRate rate{};         // of the link
  wire::MacAddress mac{};
  wire::MacAddress next_hop{};  // MAC address of the leaf's port
  // Unspecified: the NIC has none of that family.
  wire::IpAddress address_v4{};
  wire::IpAddress address_v6{};
  std::array<std::uint8_t, 64> dscp_to_class{};  // of the host's QoS profile
  // Communication IDs of connection management: first_comm_id .. first_comm_id + comm_ids - 1.
  std::uint32_t first_comm_id = 0;
  std::uint32_t comm_ids = 0;
};

// From the daemon. `settings` are the transport engine's (verbs::NicSettings, libfabric::NicSettings), as they lie in
// memory.
struct Welcome {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::int32_t error = 0;  // errno; then only `why` is set, and no descriptors come
  std::array<char, 256> why{};
  FrameRingPairGeometry rings{};
  NicGrant nic{};
  std::uint32_t settings_octets = 0;
  std::array<std::byte, 1024> settings{};
};
static_assert(std::is_trivially_copyable_v<Hello> && std::is_trivially_copyable_v<Welcome>);

// ---- Ports of rdma_cm, later and over the same socket: each request has an answer ---------------------------------

// From the application. A port of its NIC that it alone has: what peers ask for comes to it.
struct PortRequest {
  std::uint32_t magic = kMagic;
  std::uint8_t release = 0;  // 1: gives the port back; else it wants it
  std::uint8_t space = 0;    // roce::cm::PortSpace
  std::uint16_t port = 0;    // 0: any that is free
};
// From the daemon.
struct PortAnswer {
  std::uint32_t magic = kMagic;
  std::int32_t error = 0;  // errno; EADDRINUSE: somebody else has it
  std::uint16_t port = 0;
};
static_assert(std::is_trivially_copyable_v<PortRequest> && std::is_trivially_copyable_v<PortAnswer>);

}  // namespace railyard::application
