#include "dataplane/wire/udp.h"

#include <gtest/gtest.h>

#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

TEST(Udp, HeaderOfVector2) {
  const Octets frame = corpus_frame("roce_uc_send_only");
  const std::byte* const udp = frame.data() + 34;
  EXPECT_EQ(read<Udp::SourcePort>(udp), 0xC000);
  EXPECT_EQ(read<Udp::DestinationPort>(udp), kRoceV2Port);
  EXPECT_EQ(read<Udp::Length>(udp), 44);
  EXPECT_EQ(read<Udp::Checksum>(udp), 0xACA2);
  EXPECT_EQ((reencoded<Udp::kOctets, Udp::SourcePort, Udp::DestinationPort, Udp::Length, Udp::Checksum>(udp)),
            first(udp, Udp::kOctets));
}

}  // namespace
}  // namespace railyard::wire
