#include "dataplane/wire/bth.h"

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

}  // namespace
}  // namespace railyard::wire
