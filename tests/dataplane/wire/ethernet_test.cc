#include "dataplane/wire/ethernet.h"

#include <gtest/gtest.h>

#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

TEST(Ethernet, HeaderOfACapturedFrame) {
  const Octets frame = corpus_frame("roce_cnp_connectx4");
  EXPECT_EQ(to_string(read<Ethernet::Destination>(frame.data())), "e4:1d:2d:ab:2b:c2");
  EXPECT_EQ(to_string(read<Ethernet::Source>(frame.data())), "7c:fe:90:64:3b:32");
  EXPECT_EQ(read<Ethernet::EtherType>(frame.data()), ether_type::kIpv4);
  EXPECT_EQ((reencoded<Ethernet::kOctets, Ethernet::Destination, Ethernet::Source, Ethernet::EtherType>(frame.data())),
            first(frame.data(), Ethernet::kOctets));
}

}  // namespace
}  // namespace railyard::wire
