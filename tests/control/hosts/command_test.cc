#include "control/hosts/command.h"

#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/base/file_descriptor.h"
#include "control/hosts/hosts_error.h"

namespace railyard::hosts {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::string error_of(const std::string& program) {
  try {
    find_program(program);
  } catch (const HostsError& error) {
    return error.what();
  }
  return {};
}

TEST(Command, OutputAndStatusComeBack) {
  const CommandResult result = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.status, 3);
}

TEST(Command, NoShellLooksAtTheArguments) {
  EXPECT_EQ(run_command({"printf", "%s|", "$HOME; ls *", ""}).output, "$HOME; ls *||");
}

TEST(Command, InputIsRead) {
  const std::string text(300'000, 'x');  // more than a pipe holds
  const CommandResult result = run_command({"cat"}, {.input = text, .most_output = 1 << 20});
  EXPECT_TRUE(result.output == text) << result.output.size();
}

TEST(Command, InputThatNobodyReadsHurtsNobody) {
  EXPECT_EQ(run_command({"true"}, {.input = std::string(300'000, 'x')}).status, 0);
}

TEST(Command, OutputIsBoundedAndTheProgramEndsNevertheless) {
  const CommandResult result = run_command({"head", "-c", "1000000", "/dev/zero"}, {.most_output = 1000});
  EXPECT_EQ(result.output.size(), 1000u);
  EXPECT_EQ(result.status, 0);
}

TEST(Command, ASignalIsAStatusAsInAShell) { EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}).status, 128 + 9); }

TEST(Command, OnlyTheDescriptorThatIsNamedStaysOpen) {
  const FileDescriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  EXPECT_EQ(run_command({"test", "-e", path}, {.keep_open = file.get()}).status, 0);
  EXPECT_EQ(run_command({"test", "-e", path}).status, 1);
}

TEST(Command, AMissingProgramIsNamedWithItsPackage) {
  EXPECT_THAT(error_of("no-such-program"), HasSubstr("no-such-program"));
  EXPECT_THAT(error_of("/no/such/ip"), HasSubstr("/no/such/ip"));
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(error_of("ls"), "") << "the system's folders are looked at in any case";
  ::setenv("PATH", path.c_str(), 1);
  // ethtool may be there or not; without it, the message says where it is from.
  const std::string error = error_of("ethtool");
  EXPECT_THAT(error, AnyOf("", HasSubstr("apt-get install ethtool")));
}

}  // namespace
}  // namespace railyard::hosts
