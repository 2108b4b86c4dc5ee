// --capture: what a port saw, for Wireshark.
#include <gmock/gmock.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class Capture : public CommandLine {};

TEST_F(Capture, OfAPortThatIsNotThere) {
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--capture", "leaf2:1=x.pcapng"}),
            "railyard: --capture: leaf2:1: no node is called 'leaf2'; did you mean 'leaf1'?");
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--capture", "leaf1:3=x.pcapng"}),
            "railyard: --capture: leaf1:3: leaf1 has no port 3; its ports are 1..2");
}

TEST_F(Capture, TwiceOfOnePort) {
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--capture", "leaf1:1:in=a.pcapng", "--capture", "leaf1:1:out=b.pcapng"}),
            "railyard: --capture: leaf1:1 is captured twice; expected one file per port, for both directions or one");
}

TEST_F(Capture, GoesWhereTheCommandRuns) {
  EXPECT_EQ(railyard({"run", topology("lossy-vs-lossless.yaml"), "--duration", "20us", "--capture", "leaf1:1=x.pcapng"})
                .exit_code,
            kOk);
  EXPECT_THAT(read("x.pcapng"), HasSubstr("leaf1:1 to h1:1"));
}

TEST_F(Capture, OfOneDirectionHasOnlyThat) {
  EXPECT_EQ(railyard({"run", "lab.yaml", "--capture", "leaf1:1:in=in.pcapng", "--capture", "leaf1:2:in=quiet.pcapng",
                      "--capture", "h1:1=both.pcapng"})
                .exit_code,
            kOk);
  // The flow is 25 frames of 4 KiB from h1 to h2: they come in at leaf1:1, and nothing does at leaf1:2.
  EXPECT_GT(read("in.pcapng").size(), 100'000u);
  EXPECT_LT(read("quiet.pcapng").size(), 1000u);
  EXPECT_GT(read("both.pcapng").size(), 100'000u);
}

// What goes in as a capture comes out as one, with paths beside the fabric file.
TEST_F(Capture, IsTakenAsTheTrafficOfAHost) {
  ASSERT_EQ(railyard({"run", "lab.yaml", "--capture", "h1:1:out=h1.pcapng"}).exit_code, kOk);
  std::filesystem::create_directory(folder_ / "labs");
  std::filesystem::rename(folder_ / "h1.pcapng", folder_ / "labs/h1.pcapng");
  write("labs/replay.yaml",
        "name: replay\nnodes:\n  leaf1: { kind: switch }\n  h1: { kind: host, attach: { pcap: { in: h1.pcapng } } }\n"
        "  h2: { kind: host, attach: { pcap: { out: h2.pcap } } }\nlinks: [[h1:1, leaf1:1], [h2:1, leaf1:2]]\n");
  const Outcome o = railyard({"run", "labs/replay.yaml"});
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_THAT(o.out, HasSubstr("25 packet-hops"));
  EXPECT_GT(read("labs/h2.pcap").size(), 100'000u);
}

}  // namespace
}  // namespace railyard::tools
