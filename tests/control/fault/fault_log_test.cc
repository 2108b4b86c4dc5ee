#include "control/fault/fault_log.h"

#include <gtest/gtest.h>

#include "control/spec/spec_error.h"

namespace railyard::fault {
namespace {

using Kind = LoggedEvent::Kind;

LoggedEvent event(Kind kind, const std::string& fault, std::int64_t ps) {
  LoggedEvent e;
  e.kind = kind;
  e.fault = fault;
  e.what = "loss";
  e.where = "leaf1:1 out";
  e.requested = e.effective = Instant{ps};
  if (kind == Kind::kAdded) e.text = R"({"name": ")" + fault + R"(", "on": "leaf1:1 out", "loss": "1%"})";
  return e;
}

std::string log_of(const std::vector<LoggedEvent>& events) {
  std::string text;
  for (const LoggedEvent& e : events) text += line_of(e) + "\n";
  return text;
}

std::string error_of(const std::string& log) {
  try {
    read_log(log, "x.log");
    return "(no error)";
  } catch (const spec::SpecError& e) {
    return e.what();
  }
}

TEST(FaultLog, ALineIsOneObject) {
  EXPECT_EQ(
      line_of(event(Kind::kBegin, "a", 5)),
      R"({"event":"begin","fault":"a","what":"loss","on":"leaf1:1 out","requested_ps":5,"effective_ps":5,"frames":0})");
}

TEST(FaultLog, FramesThatAreNotCountedAreNoNumber) {
  LoggedEvent e = event(Kind::kEnd, "a", 5);
  e.frames.reset();
  EXPECT_TRUE(line_of(e).ends_with(R"("frames":null})")) << line_of(e);
}

TEST(FaultLog, IsReadAsItWasWritten) {
  const auto faults =
      read_log(log_of({event(Kind::kAdded, "a", 0), event(Kind::kAdded, "b", 3), event(Kind::kBegin, "a", 5),
                       event(Kind::kEnd, "a", 7), event(Kind::kBegin, "b", 7), event(Kind::kBegin, "a", 9),
                       event(Kind::kRemoved, "b", 11), event(Kind::kAdded, "b", 12)}),
               "x.log");
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].happened, (std::vector<Interval>{{Instant{5}, Instant{7}}, {Instant{9}, Instant::never()}}));
  EXPECT_EQ(faults[1].added, Instant{3});
  EXPECT_EQ(faults[1].removed, Instant{11});
  EXPECT_EQ(faults[1].happened, (std::vector<Interval>{{Instant{7}, Instant{11}}}));
  EXPECT_EQ(faults[2].added, Instant{12});
  EXPECT_TRUE(faults[2].happened.empty());
}

TEST(FaultLog, AnythingElseIsRefusedWithItsLine) {
  const std::string added = line_of(event(Kind::kAdded, "a", 0)) + "\n";
  EXPECT_EQ(error_of(added + "hello\n"), "x.log:2:1: is not a JSON object; expected a line of a fault log");
  EXPECT_EQ(error_of("{}"), "x.log:1:1: has no instant 'effective_ps'; expected a line of a fault log");
  EXPECT_EQ(error_of(line_of(event(Kind::kBegin, "a", 0))),
            "x.log:1:1: names a, which was not added; expected a line of a fault log");
  EXPECT_EQ(error_of(added + line_of(event(Kind::kEnd, "a", 0))),
            "x.log:2:1: ends a, which has not begun; expected a line of a fault log");
  EXPECT_EQ(error_of(added + added), "x.log:2:1: adds a, which exists already; expected a line of a fault log");
  EXPECT_EQ(error_of(added + R"({"event":"explode","fault":"a","effective_ps":1})"),
            "x.log:2:1: has an unknown event 'explode'; expected a line of a fault log");
  EXPECT_EQ(error_of(added + R"({"event":"begin","fault":"a","effective_ps":-1})"),
            "x.log:2:1: has no instant 'effective_ps'; expected a line of a fault log");
}

}  // namespace
}  // namespace railyard::fault
