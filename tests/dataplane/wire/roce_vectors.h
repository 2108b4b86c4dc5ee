// The worked RoCEv2 packets of roce-and-lossless.md §3.3 and §3.4, by the name of their frame in the corpus.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace railyard::wire {

struct RoceVector {
  std::string_view name;
  std::uint8_t opcode;
  std::uint32_t destination_qp;
  std::uint32_t psn;
  std::string_view icrc;                                 // as on the wire
  std::optional<std::uint32_t> register_after_bth = {};  // of the CRC, not complemented
};

inline constexpr RoceVector kRoceVectors[] = {
    {"roce_cnp_connectx4", 0x81, 0x000118, 0, "82fd002a", 0x6A4B4034},
    {"roce_uc_send_only", 0x24, 0x0000D3, 0xCF1710, "78f353f3", 0x31652275},
    {"roce_write_only", 0x0A, 0x000012, 0x000100, "98dba0d1", 0x1BAF5429},
    {"roce_send_only_imm_ipv6", 0x05, 0x000012, 0xFFFFFE, "40d68560", 0x6EF7F75F},
    {"roce_ack", 0x11, 0x000011, 0x000100, "f882f107"},
    {"roce_nak", 0x11, 0x000011, 0x000102, "413bed99"},
    {"roce_compare_swap", 0x13, 0x000012, 0x000101, "034be565"},
    {"roce_read_request", 0x0C, 0x000012, 0x000102, "d930f3ae"},
    {"roce_write_middle", 0x07, 0x000003, 0, "b9abf3bf"},
};

}  // namespace railyard::wire
