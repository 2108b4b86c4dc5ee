// The UDP source port of a RoCEv2 flow: entropy for ECMP, constant for the life of a QP. Nobody demultiplexes by it.
#pragma once

#include <cstdint>

namespace railyard::roce {

// The 20-bit flow label that Linux derives of two QP numbers (rdma_calc_flow_label in its ib_verbs.h); the same from
// both ends.
constexpr std::uint32_t flow_label(std::uint32_t local_qpn, std::uint32_t remote_qpn) noexcept {
  std::uint64_t v = std::uint64_t{local_qpn} * remote_qpn;
  v ^= v >> 20;
  v ^= v >> 40;
  return static_cast<std::uint32_t>(v & 0xFFFFF);
}

// The port for a flow label, 0xC000..0xFFFF (rdma_flow_label_to_udp_sport).
constexpr std::uint16_t source_port(std::uint32_t label) noexcept {
  return static_cast<std::uint16_t>(((label & 0x3FFF) ^ (label & 0xFC000) >> 14) | 0xC000);
}

// The port that the kernel's rxe takes, by its own QP number alone: the two ends of a connection use different ones.
constexpr std::uint16_t rxe_source_port(std::uint32_t local_qpn) noexcept {
  return static_cast<std::uint16_t>(0xC000 + (local_qpn * 0x61C88647u >> 18));
}

}  // namespace railyard::roce
