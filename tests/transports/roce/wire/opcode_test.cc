#include "transports/roce/wire/opcode.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace railyard::roce {
namespace {

std::size_t octets_of(std::uint8_t code) { return kOpcodes[code].header_octets; }

// The header column of roce-and-lossless.md §2.3, in octets after the BTH.
TEST(Opcodes, HeadersOfEvery) {
  const std::map<unsigned, unsigned> extensions = {
      {opcode::kRcSendFirst, 0},
      {opcode::kRcSendMiddle, 0},
      {opcode::kRcSendLast, 0},
      {opcode::kRcSendLastImm, 4},
      {opcode::kRcSendOnly, 0},
      {opcode::kRcSendOnlyImm, 4},
      {opcode::kRcWriteFirst, 16},
      {opcode::kRcWriteMiddle, 0},
      {opcode::kRcWriteLast, 0},
      {opcode::kRcWriteLastImm, 4},
      {opcode::kRcWriteOnly, 16},
      {opcode::kRcWriteOnlyImm, 20},
      {opcode::kRcReadRequest, 16},
      {opcode::kRcReadResponseFirst, 4},
      {opcode::kRcReadResponseMiddle, 0},
      {opcode::kRcReadResponseLast, 4},
      {opcode::kRcReadResponseOnly, 4},
      {opcode::kRcAcknowledge, 4},
      {opcode::kRcAtomicAcknowledge, 12},
      {opcode::kRcCompareSwap, 28},
      {opcode::kRcFetchAdd, 28},
      {opcode::kRcSendLastInvalidate, 4},
      {opcode::kRcSendOnlyInvalidate, 4},
      {opcode::kRcFlush, 20},
      {opcode::kRcAtomicWrite, 16},
      {opcode::kUcSendFirst, 0},
      {opcode::kUcSendMiddle, 0},
      {opcode::kUcSendLast, 0},
      {opcode::kUcSendLastImm, 4},
      {opcode::kUcSendOnly, 0},
      {opcode::kUcSendOnlyImm, 4},
      {opcode::kUcWriteFirst, 16},
      {opcode::kUcWriteMiddle, 0},
      {opcode::kUcWriteLast, 0},
      {opcode::kUcWriteLastImm, 4},
      {opcode::kUcWriteOnly, 16},
      {opcode::kUcWriteOnlyImm, 20},
      {opcode::kUdSendOnly, 8},
      {opcode::kUdSendOnlyImm, 12},
      {opcode::kCnp, 16},
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
      {0xB7, 8},
      // Selective repeat: an SRETH, in every WRITE packet a RETH, in acknowledgements a SACKETH.
      {0xC0, 8},
      {0xC1, 8},
      {0xC2, 8},
      {0xC3, 12},
      {0xC4, 8},
      {0xC5, 12},
      {0xC6, 24},
      {0xC7, 24},
      {0xC8, 24},
      {0xC9, 28},
      {0xCA, 24},
      {0xCB, 28},
      {0xCC, 16},
      {0xCD, 4},
      {0xCE, 0},
      {0xCF, 4},
      {0xD0, 4},
      {0xD1, 8},
      {0xD2, 12},
      {0xD3, 28},
      {0xD4, 28},
      {0xD6, 12},
      {0xD7, 12}};
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const auto known = extensions.find(opcode);
    const OpcodeInfo& info = kOpcodes[opcode];
    EXPECT_EQ(info.known(), known != extensions.end()) << "opcode " << opcode;
    EXPECT_EQ(info.header_octets, info.known() ? 12 + known->second : 0) << "opcode " << opcode;
  }
}

// The quick checks below the table: UDP payload = BTH, extensions, ICRC.
TEST(Opcodes, UdpPayloadsWithoutData) {
  EXPECT_EQ(octets_of(opcode::kRcAcknowledge) + 4, 20u);
  EXPECT_EQ(octets_of(opcode::kRcAtomicAcknowledge) + 4, 28u);
  EXPECT_EQ(octets_of(opcode::kRcReadRequest) + 4, 32u);
  EXPECT_EQ(octets_of(opcode::kRcCompareSwap) + 4, 44u);
  EXPECT_EQ(octets_of(opcode::kCnp) + 4, 32u);
}

TEST(Opcodes, WhoSendsThem) {
  const std::set<unsigned> responses{0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12, 0xAD, 0xAE, 0xAF, 0xB0,
                                     0xB1, 0xB2, 0x81, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2};
  for (unsigned code = 0; code < 256; ++code) EXPECT_EQ(kOpcodes[code].response, responses.contains(code)) << code;
}

TEST(Opcodes, NamesAreUniqueWithTheirTransport) {
  std::set<std::string> names;
  for (unsigned code = 0; code < 256; ++code) {
    if (!kOpcodes[code].known()) continue;
    const auto name =
        std::string(transport_name(static_cast<std::uint8_t>(code))) + " " + std::string(kOpcodes[code].name);
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(names.size(), 25u + 12u + 2u + 1u + 23u + 23u);  // RC, UC, UD, CNP, XRC, RC-SR
  EXPECT_TRUE(names.contains("RC WRITE Only+Imm"));
  EXPECT_TRUE(names.contains("UC WRITE Only+Imm"));
  EXPECT_TRUE(names.contains("UD SEND Only"));
  EXPECT_TRUE(names.contains("XRC READ Response Middle"));
  EXPECT_TRUE(names.contains(" CNP"));
}

// The payload column of roce-and-lossless.md §2.3, at a path MTU of 1024.
TEST(Opcodes, PayloadOfEvery) {
  const auto lengths = [](std::uint8_t code) {
    std::string fits;
    for (const std::size_t n : {0u, 1u, 8u, 1023u, 1024u, 1025u})
      fits += payload_fits(kOpcodes[code].payload, n, 1024) ? 'y' : '-';
    return fits;
  };
  const std::string none = "y-----", full = "----y-", some = "-yyyy-", any = "yyyyy-", eight = "--y---";
  const std::map<unsigned, std::string> rc = {{0x00, full}, {0x01, full}, {0x02, some}, {0x03, some}, {0x04, any},
                                              {0x05, any},  {0x06, full}, {0x07, full}, {0x08, some}, {0x09, some},
                                              {0x0A, any},  {0x0B, any},  {0x0C, none}, {0x0D, full}, {0x0E, full},
                                              {0x0F, some}, {0x10, any},  {0x11, none}, {0x12, none}, {0x13, none},
                                              {0x14, none}, {0x16, some}, {0x17, any},  {0x1C, none}, {0x1D, eight}};
  for (const auto& [code, expected] : rc) {
    EXPECT_EQ(lengths(static_cast<std::uint8_t>(code)), expected) << code;
    if (code <= 0x0B) {
      EXPECT_EQ(lengths(static_cast<std::uint8_t>(0x20 | code)), expected) << code;
    }
    if (code <= 0x17) {
      EXPECT_EQ(lengths(static_cast<std::uint8_t>(0xA0 | code)), expected) << code;
    }
  }
  EXPECT_EQ(lengths(0x64), any);
  EXPECT_EQ(lengths(0x65), any);
  EXPECT_EQ(lengths(0x81), none);
}

// Where in a message it is, as the name says.
TEST(Opcodes, PositionOfEvery) {
  for (const OpcodeInfo& info : kOpcodes) {
    const Position expected = info.name.find("First") != info.name.npos    ? Position::kFirst
                              : info.name.find("Middle") != info.name.npos ? Position::kMiddle
                              : info.name.find("Last") != info.name.npos   ? Position::kLast
                                                                           : Position::kOnly;
    EXPECT_EQ(info.position, expected) << info.name;
  }
}

TEST(Opcodes, PaddingFillsUpToFour) {
  for (std::size_t n = 0; n < 9; ++n) {
    EXPECT_EQ((n + pad_octets(n)) % 4, 0u) << n;
    EXPECT_LT(pad_octets(n), 4) << n;
  }
}

}  // namespace
}  // namespace railyard::roce
