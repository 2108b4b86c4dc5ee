#include "dataplane/wire/bth.h"

#include <map>

#include <gtest/gtest.h>

#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

using namespace roce_opcode;

TEST(Bth, OfACapturedCnp) {
  const Octets frame = corpus_frame("roce_cnp_connectx4");
  const std::byte* const bth = frame.data() + 42;
  EXPECT_EQ(read<Bth::OpCode>(bth), kCnp);
  EXPECT_EQ(read<Bth::SE>(bth), 0);
  EXPECT_EQ(read<Bth::MigReq>(bth), 0);
  EXPECT_EQ(read<Bth::PKey>(bth), 0xFFFF);
  EXPECT_EQ(read<Bth::FECN>(bth), 0);
  EXPECT_EQ(read<Bth::BECN>(bth), 1);
  EXPECT_EQ(read<Bth::DestQP>(bth), 0x118u);
  EXPECT_EQ(read<Bth::PSN>(bth), 0u);
}

TEST(Bth, OfVectors2To4) {
  const Octets uc_send = corpus_frame("roce_uc_send_only");
  EXPECT_EQ(read<Bth::MigReq>(uc_send.data() + 42), 1);
  EXPECT_EQ(read<Bth::PadCnt>(uc_send.data() + 42), 2);
  EXPECT_EQ(read<Bth::PSN>(uc_send.data() + 42), 0xCF1710u);
  const Octets rc_write = corpus_frame("roce_write_only");
  EXPECT_EQ(read<Bth::PadCnt>(rc_write.data() + 42), 3);
  EXPECT_EQ(read<Bth::AckReq>(rc_write.data() + 42), 1);
  const Octets send_imm = corpus_frame("roce_send_only_imm_ipv6");
  EXPECT_EQ(read<Bth::SE>(send_imm.data() + 62), 1);
  EXPECT_EQ(read<Bth::PSN>(send_imm.data() + 62), 0xFFFFFEu);
}

// The header column of roce-and-lossless.md §2.3, in octets after the BTH.
TEST(Bth, HeadersOfEveryOpcode) {
  const std::map<unsigned, unsigned> extensions = {{kRcSendFirst, 0},
                                                   {kRcSendMiddle, 0},
                                                   {kRcSendLast, 0},
                                                   {kRcSendLastImm, 4},
                                                   {kRcSendOnly, 0},
                                                   {kRcSendOnlyImm, 4},
                                                   {kRcWriteFirst, 16},
                                                   {kRcWriteMiddle, 0},
                                                   {kRcWriteLast, 0},
                                                   {kRcWriteLastImm, 4},
                                                   {kRcWriteOnly, 16},
                                                   {kRcWriteOnlyImm, 20},
                                                   {kRcReadRequest, 16},
                                                   {kRcReadResponseFirst, 4},
                                                   {kRcReadResponseMiddle, 0},
                                                   {kRcReadResponseLast, 4},
                                                   {kRcReadResponseOnly, 4},
                                                   {kRcAcknowledge, 4},
                                                   {kRcAtomicAcknowledge, 12},
                                                   {kRcCompareSwap, 28},
                                                   {kRcFetchAdd, 28},
                                                   {kRcSendLastInvalidate, 4},
                                                   {kRcSendOnlyInvalidate, 4},
                                                   {kRcFlush, 20},
                                                   {kRcAtomicWrite, 16},
                                                   {kUcSendFirst, 0},
                                                   {kUcSendMiddle, 0},
                                                   {kUcSendLast, 0},
                                                   {kUcSendLastImm, 4},
                                                   {kUcSendOnly, 0},
                                                   {kUcSendOnlyImm, 4},
                                                   {kUcWriteFirst, 16},
                                                   {kUcWriteMiddle, 0},
                                                   {kUcWriteLast, 0},
                                                   {kUcWriteLastImm, 4},
                                                   {kUcWriteOnly, 16},
                                                   {kUcWriteOnlyImm, 20},
                                                   {kUdSendOnly, 8},
                                                   {kUdSendOnlyImm, 12},
                                                   {kCnp, 16},
                                                   // XRC: requests with an XRCETH more, responses as RC.
                                                   {0xA0, 4},
                                                   {0xA1, 4},
                                                   {0xA2, 4},
                                                   {0xA3, 8},
                                                   {0xA4, 4},
                                                   {0xA5, 8},
                                                   {0xA6, 20},
                                                   {0xA7, 4},
                                                   {0xA8, 4},
                                                   {0xA9, 8},
                                                   {0xAA, 20},
                                                   {0xAB, 24},
                                                   {0xAC, 20},
                                                   {0xAD, 4},
                                                   {0xAE, 0},
                                                   {0xAF, 4},
                                                   {0xB0, 4},
                                                   {0xB1, 4},
                                                   {0xB2, 12},
                                                   {0xB3, 32},
                                                   {0xB4, 32},
                                                   {0xB6, 8},
                                                   {0xB7, 8}};
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const auto known = extensions.find(opcode);
    EXPECT_EQ(roce_header_octets(static_cast<std::uint8_t>(opcode)), known == extensions.end() ? 0 : 12 + known->second)
        << "opcode " << opcode;
  }
}

// The quick checks below the table: UDP payload = BTH, extensions, ICRC.
TEST(Bth, UdpPayloadsWithoutData) {
  EXPECT_EQ(roce_header_octets(kRcAcknowledge) + 4, 20u);
  EXPECT_EQ(roce_header_octets(kRcAtomicAcknowledge) + 4, 28u);
  EXPECT_EQ(roce_header_octets(kRcReadRequest) + 4, 32u);
  EXPECT_EQ(roce_header_octets(kRcCompareSwap) + 4, 44u);
  EXPECT_EQ(roce_header_octets(kCnp) + 4, 32u);
}

}  // namespace
}  // namespace railyard::wire
