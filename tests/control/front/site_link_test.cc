// The connection to a site, with a shell script in the place of the remote shell and the relay.
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/api/message.h"
#include "control/front/child.h"
#include "control/front/site_link.h"
#include "control/front/site_links.h"

namespace railyard::front {
namespace {

using testing::HasSubstr;

// A relay that answers with these lines, one after the other, and then ends with `code`.
SiteLink link_to(const std::string& lines, int code = 0) {
  const std::string script = "for a in " + lines + "; do read -r line || exit 1; printf '%s\\n' \"$a\"; done; exit " + std::to_string(code);
  // The words behind: "railyard relay" are parameters of the script.
  RemoteShell shell{.prefix = "env", .program = "sh"};
  static int n = 0;
  const std::string file = testing::TempDir() + "relay" + std::to_string(n++) + ".sh";
  FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(script.c_str(), out);
  std::fclose(out);
  shell.prefix = "env sh " + file;
  return SiteLink(shell, {.name = "b", .target = "host-b", .lab = "x-b"});
}

std::string gone(const std::function<void()>& work) {
  try {
    work();
  } catch (const SiteGone& error) {
    return error.what();
  }
  return "";
}

// Not even by a signal.
TEST(Child, OneThatHasEndedTakesNothingAndHarmsNobody) {
  Child child({"true"});
  EXPECT_EQ(child.read_line(std::chrono::seconds(10)), std::nullopt);
  // The kernel closes what it had open one after the other.
  while (child.write_line("anybody there?")) std::this_thread::yield();
  EXPECT_TRUE(child.has_ended());
}

TEST(SiteLink, PassesAnswersAndRefusalsOn) {
  SiteLink link = link_to(R"('{"up":true}' '{"status":200,"body":{"name":"x-b"}}' '{"status":404,"body":"there is no such thing"}')");
  link.start("name: x");
  EXPECT_EQ(link.ask("GET", "/lab")["name"], "x-b");
  try {
    link.ask("GET", "/nothing");
    FAIL();
  } catch (const api::ApiError& error) {
    EXPECT_EQ(error.status(), 404);
    EXPECT_STREQ(error.what(), "there is no such thing");
  }
  EXPECT_EQ(link.why_gone(), "");
}

TEST(SiteLink, NamesTheSiteThatCannotStart) {
  SiteLink link = link_to(R"('{"error":"/dev/vfio: no such device","exit_code":1}')");
  try {
    link.start("name: x");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "site b: /dev/vfio: no such device");
  }
}

// A text of brackets would overflow the stack of who copies it.
TEST(SiteLink, AnswersThatNestWithoutEndOrHaveNoStatusAreRefused) {
  SiteLink link = link_to(R"('{"up":true}' '{"body":1}' "{\"status\":200,\"body\":$(printf '[%.0s' $(seq 200))$(printf ']%.0s' $(seq 200))}")");
  link.start("name: x");
  EXPECT_THROW(link.ask("GET", "/lab"), api::ApiError);
  EXPECT_THAT(gone([&] { link.ask("GET", "/lab"); }), HasSubstr("expected a railyard of the same version"));
}

TEST(SiteLink, ASiteThatEndsIsGoneAndStaysSo) {
  SiteLink link = link_to(R"('{"up":true}')", 255);
  link.start("name: x");
  EXPECT_THAT(gone([&] { link.ask("GET", "/lab"); }), HasSubstr("site b: cannot be reached"));
  EXPECT_THAT(link.why_gone(), HasSubstr("cannot be reached"));
  EXPECT_THAT(gone([&] { link.ask("GET", "/lab"); }), HasSubstr("cannot be reached"));
}

TEST(SiteLink, ADaemonThatEndsIsGoneWhileItsMachineAnswers) {
  SiteLink link = link_to(R"('{"up":true}' '{"gone":"its daemon (PID 7) has ended"}' '{"down":true}')");
  link.start("name: x");
  EXPECT_EQ(gone([&] { link.ask("GET", "/lab"); }), "site b: its daemon (PID 7) has ended");
  link.stop();
}

TEST(SiteLinks, OneThatCannotStartStopsTheOthers) {
  SiteRecord record;
  record.shell = {.prefix = "/nowhere/shell", .program = "railyard"};
  record.sites = {{"a", "a", "x-a"}, {"b", "b", "x-b"}};
  SiteLinks links(record);
  EXPECT_THAT(gone([&] { links.start("name: x"); }), HasSubstr("site a: cannot run /nowhere/shell"));
}

}  // namespace
}  // namespace railyard::front
