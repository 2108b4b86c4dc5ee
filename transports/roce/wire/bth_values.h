// What a BTH says, as values; its layout is dataplane/wire/bth.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/bth.h"

namespace railyard::roce {

// TVer is not among them: it is 0, or the packet is none of ours (IBTA Vol 1 §9.2).
struct BthValues {
  std::uint8_t opcode = 0;
  bool solicited = false;        // SE: meaningful on the last packet of a SEND or a WRITE with immediate
  bool mig_req = true;           // "migrated": hardware sends 1, rxe 0; a CNP 0
  std::uint8_t pad_cnt = 0;      // 0..3 octets between the payload and the ICRC
  std::uint16_t p_key = 0xFFFF;  // the default partition, full member
  bool fecn = false;
  bool becn = false;          // in a CNP
  std::uint8_t resv6 = 0;     // sent as 0, ignored on receipt; not covered by the ICRC
  std::uint32_t dest_qp = 0;  // 24 bits
  bool ack_req = false;       // of requests only
  std::uint8_t resv7 = 0;     // sent as 0, ignored on receipt
  std::uint32_t psn = 0;      // 24 bits

  bool operator==(const BthValues&) const = default;
};

constexpr BthValues read_bth(const std::byte* at) noexcept {
  using wire::Bth, wire::read;
  return {.opcode = read<Bth::OpCode>(at),
          .solicited = read<Bth::SE>(at) != 0,
          .mig_req = read<Bth::MigReq>(at) != 0,
          .pad_cnt = read<Bth::PadCnt>(at),
          .p_key = read<Bth::PKey>(at),
          .fecn = read<Bth::FECN>(at) != 0,
          .becn = read<Bth::BECN>(at) != 0,
          .resv6 = read<Bth::Resv6>(at),
          .dest_qp = read<Bth::DestQP>(at),
          .ack_req = read<Bth::AckReq>(at) != 0,
          .resv7 = read<Bth::Resv7>(at),
          .psn = read<Bth::PSN>(at)};
}

constexpr void write_bth(std::byte* at, const BthValues& bth) noexcept {
  using wire::Bth, wire::write;
  write<Bth::OpCode>(at, bth.opcode);
  write<Bth::SE>(at, bth.solicited);
  write<Bth::MigReq>(at, bth.mig_req);
  write<Bth::PadCnt>(at, bth.pad_cnt);
  write<Bth::TVer>(at, 0);
  write<Bth::PKey>(at, bth.p_key);
  write<Bth::FECN>(at, bth.fecn);
  write<Bth::BECN>(at, bth.becn);
  write<Bth::Resv6>(at, bth.resv6);
  write<Bth::DestQP>(at, bth.dest_qp);
  write<Bth::AckReq>(at, bth.ack_req);
  write<Bth::Resv7>(at, bth.resv7);
  write<Bth::PSN>(at, bth.psn);
}

}  // namespace railyard::roce
