// Two ends of a link that talk BFD, with a wire that may lose one direction.
#include "dataplane/switch/bfd.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace railyard {
namespace {

constexpr PortIndex kPort{2};
constexpr Duration kMillisecond{1'000'000'000};
const BfdConfig kConfig{.interval = kMillisecond * 100, .multiplier = 3};

struct Pair {
  std::array<Bfd, 2> ends{Bfd(kConfig, {kPort}, RngStream(Seed{1}, "a")), Bfd(kConfig, {kPort}, RngStream(Seed{1}, "b"))};
  std::array<bool, 2> loses{};  // what this end sends
  std::array<int, 2> sent{};
  std::string events;           // "a down at 1234 ms; "
  Instant now{};

  void note(std::size_t end, bool up) {
    events += std::string(1, static_cast<char>('a' + end)) + (up ? " up" : " down") + " at " +
              std::to_string((now - Instant{}).ps / kMillisecond.ps) + " ms; ";
  }
  void deliver(std::size_t from) {
    ++sent[from];
    const wire::BfdControl control = ends[from].take(kPort);
    if (loses[from]) return;
    const std::size_t to = 1 - from;
    if (const auto change = ends[to].hear(now, kPort, control); change != Bfd::Change::kNone)
      note(to, change == Bfd::Change::kUp);
  }
  void run_for(Duration d) {
    const Instant end = now + d;
    for (;;) {
      const Instant next = std::min(ends[0].due(), ends[1].due());
      if (next > end) break;
      now = std::max(now, next);
      for (std::size_t e = 0; e < 2; ++e) {
        bool sends = false;
        ends[e].on_time(now, [&](PortIndex) { note(e, false); }, [&](PortIndex) { sends = true; });
        if (sends) deliver(e);
      }
    }
    now = end;
  }
};

TEST(Bfd, AGoodLinkStaysUpAndIsAskedAtItsInterval) {
  Pair link;
  link.run_for(kMillisecond * 10'000);
  EXPECT_EQ(link.events, "");
  for (const int sent : link.sent) {
    // 75 to 100 % of 100 ms.
    EXPECT_GE(sent, 100);
    EXPECT_LE(sent, 134);
  }
}

// With a multiplier of 1 one lost packet is a failure; none is lost, from the first one on.
TEST(Bfd, AMultiplierOfOneIsNoFalseAlarm) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Pair link;
    const BfdConfig config{.interval = kMillisecond * 100, .multiplier = 1};
    link.ends = {Bfd(config, {kPort}, RngStream(Seed{seed}, "a")), Bfd(config, {kPort}, RngStream(Seed{seed}, "b"))};
    link.run_for(kMillisecond * 2'000);
    EXPECT_EQ(link.events, "") << seed;
  }
}

// One direction is lost: the end that hears nothing finds it after three intervals, and the other is told at once.
TEST(Bfd, OneDirectionIsEnough) {
  Pair link;
  link.run_for(kMillisecond * 1'000);
  link.loses[0] = true;
  link.run_for(kMillisecond * 199);
  EXPECT_EQ(link.events, "") << "two packets may be lost";
  link.run_for(kMillisecond * 200);
  EXPECT_EQ(link.ends[0].state(kPort), wire::BfdState::kDown);
  EXPECT_EQ(link.ends[1].state(kPort), wire::BfdState::kDown);
  EXPECT_TRUE(link.events.starts_with("b down at 1")) << link.events;
  EXPECT_NE(link.events.find("a down"), std::string::npos) << link.events;
}

// By three packets, within about a second.
TEST(Bfd, ComesUpAgainByHandshake) {
  Pair link;
  link.loses[0] = true;
  link.run_for(kMillisecond * 5'000);
  ASSERT_EQ(link.ends[0].state(kPort), wire::BfdState::kDown);
  const int before = link.sent[0];
  link.run_for(kMillisecond * 10'000);
  // Once a second, and at once when a state changes: a handshake is begun again and again.
  EXPECT_LE(link.sent[0] - before, 30);
  link.events.clear();
  link.loses[0] = false;
  link.run_for(kMillisecond * 1'100);
  EXPECT_EQ(link.ends[0].state(kPort), wire::BfdState::kUp);
  EXPECT_EQ(link.ends[1].state(kPort), wire::BfdState::kUp);
  EXPECT_NE(link.events.find("a up"), std::string::npos) << link.events;
  EXPECT_NE(link.events.find("b up"), std::string::npos) << link.events;
}

TEST(Bfd, WithoutASignalThereIsNoSession) {
  Pair link;
  link.run_for(kMillisecond * 1'000);
  for (Bfd& end : link.ends) end.link(link.now, kPort, false);
  EXPECT_EQ(link.ends[0].due(), Instant::never());
  link.run_for(kMillisecond * 5'000);
  EXPECT_EQ(link.events, "");
  for (Bfd& end : link.ends) end.link(link.now, kPort, true);
  link.run_for(kMillisecond * 1'000);
  EXPECT_EQ(link.events, "") << "both are back";
  // The signal comes back at one end only.
  link.ends[1].link(link.now, kPort, false);
  link.run_for(kMillisecond * 400);
  EXPECT_EQ(link.ends[0].state(kPort), wire::BfdState::kDown);
}

TEST(Bfd, AnEndThatIsSwitchedOffIsDown) {
  Pair link;
  EXPECT_EQ(link.ends[0].hear(link.now, kPort,
                              {.state = wire::BfdState::kAdminDown, .my_discriminator = 3, .your_discriminator = 3}),
            Bfd::Change::kDown);
  EXPECT_EQ(link.ends[0].state(kPort), wire::BfdState::kDown);
}

}  // namespace
}  // namespace railyard
