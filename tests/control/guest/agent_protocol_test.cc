#include "control/guest/agent_protocol.h"

#include <algorithm>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/guest/guest_error.h"

namespace railyard::guest {
namespace {

using Outcome = AgentReader::Outcome;

constexpr Nonce kNonce{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

std::vector<std::uint8_t> octets(std::string_view text) { return {text.begin(), text.end()}; }

std::string welcome(const Nonce& nonce) {
  std::string out(RY_WELCOME);
  out.append(nonce.begin(), nonce.end());
  return out + '\x01' + '\0';
}

TEST(AgentProtocol, AFrameIsItsTypeALengthAndThePayload) {
  EXPECT_EQ(frame_octets(RY_STDIN, "abc"), std::string("\x03\0\x03\0abc", 7));
  EXPECT_EQ(frame_octets(RY_STDIN_EOF), std::string("\x04\0\0\0", 4));
  EXPECT_EQ(window_octets({.rows = 50, .columns = 300}), std::string("\x06\0\x04\0\x32\0\x2c\x01", 8));
  EXPECT_EQ(signal_octets(15), std::string("\x05\0\x01\0\x0f", 5));
}

TEST(AgentProtocol, ARequestIsRecordsInFramesAndAStart) {
  const std::string request = request_octets(
      {.arguments = {"sh", "-c"}, .environment = {"A=b"}, .directory = "/tmp", .terminal = WindowSize{24, 80}});
  const std::string records("ash\0a-c\0eA=b\0d/tmp\0t24 80\0", 26);
  EXPECT_EQ(request, frame_octets(RY_REQUEST, records) + frame_octets(RY_START));
}

TEST(AgentProtocol, ALongRequestIsSeveralFrames) {
  const std::string request = request_octets({.arguments = {"echo", std::string(2 * RY_FRAME_PAYLOAD, 'x')}});
  EXPECT_EQ(request.size(), 4 * RY_FRAME_HEADER + 2 * RY_FRAME_PAYLOAD + 6 + 2u);
}

TEST(AgentProtocol, WhatNoProgramCanBeGivenIsRefused) {
  EXPECT_THROW(request_octets({.arguments = {}}), GuestError);
  EXPECT_THROW(request_octets({.arguments = {""}}), GuestError);
  EXPECT_THROW(request_octets({.arguments = {std::string("a\0b", 3)}}), GuestError);
  EXPECT_THROW(request_octets({.arguments = {"echo", std::string(RY_REQUEST_OCTETS, 'x')}}), GuestError);
}

TEST(AgentProtocol, TheGreetingFillsAnyFrameThatWasCut) {
  // Wherever the last client was cut, a frame reader meets a zero where a frame should begin before the greeting.
  const std::string frame = frame_octets(RY_STDIN, std::string(RY_FRAME_PAYLOAD, 'x'));
  const std::string greeting = greeting_octets(kNonce);
  for (std::size_t cut = 0; cut <= frame.size(); ++cut) {
    const auto all = octets(frame.substr(0, cut) + greeting);
    const std::size_t magic = all.size() - RY_GREETING_OCTETS;
    std::size_t at = 0;
    ry_frame f{};
    int n = 0;
    while ((n = ry_parse_frame(&all[at], all.size() - at, RY_REQUEST, RY_LAST_TO_AGENT, &f)) > 0)
      at += static_cast<std::size_t>(n);
    ASSERT_EQ(n, -1) << "cut at " << cut;
    ASSERT_LT(at, magic) << "cut at " << cut;
  }
}

TEST(AgentReader, TheWelcomeIsFoundBehindWhatAnEarlierSessionLeft) {
  AgentReader reader(kNonce);
  const std::string stale = frame_octets(RY_STDOUT, "old") + welcome(Nonce{});  // an answer to somebody else
  const std::string all = stale + welcome(kNonce) + frame_octets(RY_EXITED, std::string(1, '\x2a'));
  std::optional<unsigned> version;
  for (const char c : all) {  // octet by octet
    const auto piece = octets({&c, 1});
    reader.append(piece);
    if (!version) version = reader.find_welcome();
  }
  EXPECT_EQ(version, 1u);
  AgentFrame frame{};
  ASSERT_EQ(reader.next(frame), Outcome::kFrame);
  EXPECT_EQ(frame.type, RY_EXITED);
  EXPECT_EQ(frame.payload, "*");
  EXPECT_EQ(reader.next(frame), Outcome::kIncomplete);
  EXPECT_EQ(reader.size(), 0u);
}

TEST(AgentReader, WhatWaitsForAWelcomeStaysSmall) {
  AgentReader reader(kNonce);
  for (int i = 0; i < 100; ++i) {
    reader.append(octets(std::string(4096, 'x')));
    EXPECT_FALSE(reader.find_welcome());
    EXPECT_LT(reader.size(), static_cast<std::size_t>(RY_WELCOME_OCTETS));
  }
}

TEST(AgentReader, WrongFramesAreBroken) {
  for (const std::string& wrong : {std::string("\0", 1), frame_octets(RY_STDIN, "to the agent only"),
                                   std::string("\x11\x01", 2), std::string("\x11\0\x01\x10", 4), std::string("\xff")}) {
    AgentReader reader(kNonce);
    reader.append(octets(wrong));
    AgentFrame frame{};
    EXPECT_EQ(reader.next(frame), Outcome::kBroken) << testing::PrintToString(wrong);
  }
}

TEST(AgentReader, RandomOctetsInRandomPiecesGiveNothingButFramesWithinThem) {
  constexpr unsigned kSeed = 20;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    AgentReader reader(kNonce);
    std::size_t given = 0;
    std::size_t taken = 0;
    bool broken = false;
    while (given < 20000 && !broken) {
      // Mostly noise, often with what looks like a header.
      std::vector<std::uint8_t> piece(1 + random() % 300);
      std::ranges::generate(piece, [&] { return static_cast<std::uint8_t>(random()); });
      if (random() % 4 != 0 && piece.size() >= RY_FRAME_HEADER)
        ry_put_header(piece.data(), 17 + static_cast<unsigned>(random() % 7),
                      static_cast<unsigned>(piece.size()) - RY_FRAME_HEADER);
      reader.append(piece);
      given += piece.size();
      if (random() % 8 == 0) reader.find_welcome();
      AgentFrame frame{};
      Outcome outcome;
      while ((outcome = reader.next(frame)) == Outcome::kFrame) {
        taken += RY_FRAME_HEADER + frame.payload.size();
        ASSERT_LE(frame.payload.size(), static_cast<std::size_t>(RY_FRAME_PAYLOAD));
        volatile char last = frame.payload.empty() ? '\0' : frame.payload.back();  // for AddressSanitizer
        static_cast<void>(last);
      }
      broken = outcome == Outcome::kBroken;
      ASSERT_LE(taken + reader.size(), given);
    }
  }
}

TEST(AgentFrame, NoBufferIsReadBeyondItsEnd) {
  constexpr unsigned kSeed = 21;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 20000; ++round) {
    // Exactly as large as what is there, for AddressSanitizer.
    std::vector<std::uint8_t> buffer(random() % 64);
    std::ranges::generate(buffer, [&] { return static_cast<std::uint8_t>(random() % 32); });
    ry_frame frame{};
    const int n = ry_parse_frame(buffer.data(), buffer.size(), RY_REQUEST, RY_LAST_TO_AGENT, &frame);
    if (n > 0) {
      ASSERT_LE(static_cast<std::size_t>(n), buffer.size());
      ASSERT_EQ(frame.payload + frame.length, buffer.data() + n);
    }
  }
}

}  // namespace
}  // namespace railyard::guest
