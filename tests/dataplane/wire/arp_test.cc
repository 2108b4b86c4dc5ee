#include "dataplane/wire/arp.h"

#include <array>

#include <gtest/gtest.h>

#include "dataplane/wire/parse.h"
#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

constexpr MacAddress kHost1{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kRouter{{2, 0, 0, 0, 0, 0xFE}};
constexpr IpAddress kIp1(0x0A000001u);
constexpr IpAddress kIp2(0x0A000002u);

TEST(Arp, RequestIsWrittenAsTheCorpusHasIt) {
  std::array<std::byte, 64> out{};
  const LinkHeader link{.destination = kBroadcastMac, .source = kHost1};
  const std::size_t n = write_arp_request(out, link, kIp1, kIp2);
  EXPECT_EQ(to_hex(std::span(out).first(n)), to_hex(corpus_frame("arp_request")));
}

TEST(Arp, RequestIsAnsweredWithWhatItAskedFor) {
  const Octets request = corpus_frame("arp_request");
  const FrameView view = parse_frame(request).value();
  std::array<std::byte, 64> out{};
  const std::size_t n = write_arp_reply(out, request, view, kRouter);
  const auto reply = std::span(out).first(n);
  EXPECT_EQ(to_hex(reply),
            "020000000001"
            "0200000000fe"
            "0806"
            "0001080006040002"
            "0200000000fe"
            "0a000002"
            "020000000001"
            "0a000001");
  EXPECT_EQ(read_arp(reply.data() + 14), (ArpMessage{.operation = arp_operation::kReply,
                                                     .sender_mac = kRouter,
                                                     .sender_ip = kIp2,
                                                     .target_mac = kHost1,
                                                     .target_ip = kIp1}));
}

TEST(Arp, ReplyToATaggedRequestHasTheSameTag) {
  const Octets request = corpus_frame("arp_request_tagged");
  std::array<std::byte, 64> out{};
  const std::size_t n = write_arp_reply(out, request, parse_frame(request).value(), kRouter);
  ASSERT_EQ(n, 46u);
  const FrameView reply = parse_frame(std::span(out).first(n)).value();
  EXPECT_TRUE(reply.tagged);
  EXPECT_EQ(reply.vid, 100);
  EXPECT_EQ(reply.source, kIp2);
  EXPECT_EQ(reply.destination, kIp1);
}

TEST(Arp, NothingIsWrittenWithoutRoom) {
  std::array<std::byte, 41> out{};
  EXPECT_EQ(write_arp_request(out, {.destination = kBroadcastMac, .source = kHost1}, kIp1, kIp2), 0u);
}

}  // namespace
}  // namespace railyard::wire
