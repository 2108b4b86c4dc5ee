#include "dataplane/wire/tcp.h"

#include <gtest/gtest.h>

#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

TEST(Tcp, HeaderWithOptions) {
  const Octets frame = corpus_frame("ipv4_tcp_options");
  const std::byte* const tcp = frame.data() + 34;
  EXPECT_EQ(read<Tcp::SourcePort>(tcp), 40000);
  EXPECT_EQ(read<Tcp::DestinationPort>(tcp), 80);
  EXPECT_EQ(read<Tcp::SequenceNumber>(tcp), 1u);
  EXPECT_EQ(read<Tcp::AcknowledgmentNumber>(tcp), 2u);
  EXPECT_EQ(read<Tcp::DataOffset>(tcp), 7);
  EXPECT_EQ(read<Tcp::Flags>(tcp), 0x12);  // SYN, ACK
  EXPECT_EQ(read<Tcp::Window>(tcp), 65535);
  EXPECT_EQ(
      (reencoded<Tcp::kOctets, Tcp::SourcePort, Tcp::DestinationPort, Tcp::SequenceNumber, Tcp::AcknowledgmentNumber,
                 Tcp::DataOffset, Tcp::Reserved, Tcp::Flags, Tcp::Window, Tcp::Checksum, Tcp::UrgentPointer>(tcp)),
      first(tcp, Tcp::kOctets));
}

}  // namespace
}  // namespace railyard::wire
