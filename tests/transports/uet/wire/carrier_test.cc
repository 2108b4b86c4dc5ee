#include "transports/uet/wire/carrier.h"

#include <gtest/gtest.h>

namespace railyard::uet {
namespace {

using Carriers = std::vector<Carrier>;

TEST(Carrier, IsALineOfTextAndBack) {
  const Carriers all{{.udp = true, .number = 5555, .crc = false},
                     {.udp = false, .number = 250, .ref_prov = true},
                     {.udp = true, .number = 65535, .crc = false, .ref_prov = true},
                     {.udp = true, .number = 4793}};
  EXPECT_EQ(carriers_text(all), "UET: udp 5555, no crc; ip 250, ref-prov; udp 65535, no crc, ref-prov; udp 4793");
  EXPECT_EQ(parse_carriers(carriers_text(all)), all);
  EXPECT_EQ(carriers_text({}), "");
  EXPECT_TRUE(parse_carriers("").empty());
}

TEST(Carrier, OfOtherTextIsNothing) {
  for (const char* text : {"udp 5555", "UET:", "UET: ", "UET: tcp 5", "UET: udp", "UET: udp x", "UET: udp 65536",
                           "UET: ip 256", "UET: ip -1", "Captured by somebody"})
    EXPECT_TRUE(parse_carriers(text).empty()) << text;
  EXPECT_EQ(parse_carriers("UET: udp 5555; ip 999"), (Carriers{{.udp = true, .number = 5555}}));
  EXPECT_EQ(parse_carriers("UET: udp 5555 and more"), (Carriers{{.udp = true, .number = 5555}}));
}

}  // namespace
}  // namespace railyard::uet
