#include "control/decode/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataplane/wire/corpus.h"

namespace railyard::decode {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string line_of(const wire::Octets& octets, std::size_t frame_octets) {
  Json frame{{"frame", 7}, {"time_ns", 1'234'567}, {"octets", frame_octets}};
  if (octets.size() < frame_octets) frame["captured"] = octets.size();
  frame.update(decode_frame(octets, frame_octets));
  return line(frame);
}
std::string line_of(std::string_view name) {
  const wire::Octets octets = wire::corpus_frame(name);
  return line_of(octets, octets.size());
}

TEST(Line, OfAWrite) {
  EXPECT_EQ(line_of("roce_write_only"),
            "     7       1.234567 roce   10.0.0.1 > 10.0.0.2  dscp=26  RC WRITE Only qp=0x12 psn=256 ackreq  reth "
            "va=0x00007f0000001000 rkey=4660 dma_length=5  payload=5  icrc ok  82 octets");
}

TEST(Line, OfANak) {
  EXPECT_THAT(line_of("roce_nak"),
              HasSubstr("RC Acknowledge qp=0x11 psn=258  aeth syndrome=96 type=nak nak=PSN sequence "
                        "error msn=2  payload=0  icrc ok"));
}

TEST(Line, OfOtherFrames) {
  EXPECT_THAT(line_of("pfc_xoff"), HasSubstr("pfc    02:00:00:00:00:01 > 01:80:c2:00:00:01  mac_control opcode=257 "
                                             "enable=[3] time=[0,0,0,65535,0,0,0,0]"));
  EXPECT_THAT(line_of("ipv4_udp_tagged"), HasSubstr("vlan=100 pcp=3  dscp=26  udp sport=49443 dport=5001"));
  EXPECT_THAT(line_of("arp_request"), HasSubstr("arp operation=1"));
  EXPECT_THAT(
      line_of("ipv4_uet_native"),
      HasSubstr("uet entropy=16962 ROD_REQ ar clear_psn=74581 psn=74584 spdcid=257 dpdcid=514  ses TAGGED_SEND dc "
                "rel hd eom som message_id=7 ri_generation=0 job_id=1 pid_on_fep=0 resource_index=15 "
                "buffer_offset=0x0000000000000000 initiator=16 match_bits=0x1122334455667788 "
                "header_data=0x00000000cafef00d request_length=9  payload=9  crc ok"));
  EXPECT_THAT(line_of("ipv4_uet_ack"), HasSubstr("uet entropy=16962 ACK ack_psn=74565 cack_psn=74565 spdcid=514 "
                                                 "dpdcid=257  ses list_name=EXPECTED DEFAULT_RESPONSE rc=OK"));
}

TEST(Line, NamesWhatIsWrong) {
  wire::Octets frame = wire::corpus_frame("roce_write_only");
  frame.back() ^= std::byte{1};
  EXPECT_THAT(line_of(frame, frame.size()), HasSubstr("icrc WRONG"));
  frame[42] = std::byte{0x15};
  EXPECT_THAT(line_of(frame, frame.size()), HasSubstr("  opcode 0x15 qp=0x12"));
  EXPECT_THAT(line_of(frame, frame.size()), HasSubstr("ERROR unknown_opcode"));
  frame.resize(60);
  EXPECT_THAT(line_of(frame, 82), HasSubstr("82 octets, 60 captured"));
  EXPECT_THAT(line_of(frame, 82), Not(HasSubstr("icrc")));
}

// A congestion mark is why one looks at a capture.
TEST(Line, ShowsCe) {
  wire::Octets frame = wire::corpus_frame("roce_send_only_imm_ipv6");
  frame[15] |= std::byte{0x10};
  EXPECT_THAT(line_of(frame, frame.size()), HasSubstr("dscp=26 CE  RC SEND Only+Imm"));
}

}  // namespace
}  // namespace railyard::decode
