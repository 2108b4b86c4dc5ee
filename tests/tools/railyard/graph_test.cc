// graph, hosts: a lab as a picture, and as names with addresses.
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Graph : public CommandLine {};
class Hosts : public CommandLine {};

TEST_F(Graph, DrawsALab) {
  const Outcome o = railyard({"graph", "lab.yaml"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, AllOf(StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" "), EndsWith("</svg>\n"),
                           HasSubstr("<title>small</title>"), HasSubstr(">leaf1</text>"), HasSubstr(">h2</text>")));
}

TEST_F(Graph, WithAValueChanged) {
  const Outcome o = railyard({"graph", topology("incast-8to1.yaml"), "--set", "topology.spines=3"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_THAT(o.out, HasSubstr(">spine3</text>"));
}

TEST_F(Graph, InTwoDirections) {
  const std::string down = railyard({"graph", "lab.yaml"}).out;
  EXPECT_EQ(railyard({"graph", "lab.yaml", "--direction", "down"}).out, down);
  const Outcome right = railyard({"graph", "lab.yaml", "--direction", "right"});
  EXPECT_EQ(right.exit_code, kOk);
  EXPECT_NE(right.out, down);
  const Outcome wrong = railyard({"graph", "lab.yaml", "--direction", "left"});
  EXPECT_EQ(wrong.exit_code, kUsage);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(wrong.err, HasSubstr("left not in {down,right}"));
}

TEST_F(Graph, ThePictureThatIsShippedIsUpToDate) {
  EXPECT_EQ(railyard({"graph", topology("rails-4x8.yaml")}).out, read(topology("rails-4x8.svg")))
      << "railyard graph topologies/rails-4x8.yaml > topologies/rails-4x8.svg";
}

// topologies/README.md: | `{ preset: ... }` | <img src="pictures/NAME.svg" ...
TEST_F(Graph, ThePicturesOfPresetsAreUpToDate) {
  const std::regex row("\\| `(\\{ preset: ([a-z-]+), .*\\})` \\| <img src=\"pictures/(.*)\\.svg\"");
  std::istringstream lines(read(topology("README.md")));
  std::set<std::string> drawn;
  for (std::string line; std::getline(lines, line);) {
    std::smatch m;
    if (!std::regex_search(line, m, row)) continue;
    drawn.insert(m[2]);
    write("preset.yaml", "name: " + m[3].str() + "\ntopology: " + m[1].str() + "\n");
    EXPECT_EQ(railyard({"graph", "preset.yaml"}).out, read(topology("pictures/" + m[3].str() + ".svg"))) << line;
  }
  std::istringstream presets(railyard({"topologies"}).out);
  std::size_t known = 0;
  for (std::string line; std::getline(presets, line) && !line.empty();) ++known;
  EXPECT_EQ(drawn.size(), known) << "a picture of each";
}

TEST_F(Hosts, PrintsEveryAddressWithItsName) {
  const Outcome o = railyard({"hosts", "lab.yaml"});
  EXPECT_EQ(o.exit_code, kOk);
  EXPECT_EQ(o.out,
            "# lab small\n"
            "10.255.0.1 leaf1\nfd00:ffff::1 leaf1\n"
            "10.0.0.1 h1 h1.eth1\nfd00::1 h1 h1.eth1\n"
            "10.0.0.2 h2 h2.eth1\nfd00::2 h2 h2.eth1\n");
}

TEST_F(Hosts, NamesTheNicsOfAHostWhateverStandsBehindIt) {
  const std::vector<std::string> rails{"hosts", topology("rails-4x8.yaml")};
  EXPECT_THAT(railyard(rails).out, AllOf(HasSubstr("\n10.0.0.1 h1 h1.eth1\n"), HasSubstr("\n10.0.3.8 h8.eth4\n"),
                                         HasSubstr("\n10.255.0.6 spine2\n"), Not(HasSubstr("localhost"))));
  const Outcome made = railyard({"hosts", topology("rails-4x8.yaml"), "--set", "hosts.default.attach=namespace",
                                 "--set", "run.clock=wall", "--set", "traffic=[]"});
  EXPECT_EQ(made.exit_code, kOk) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("\n10.0.0.1 h1 h1.eth1\n"), HasSubstr("\n10.0.3.8 h8.eth4\n")));
}

TEST_F(Graph, MistakesAreAnsweredAsByShow) {
  write("bad.yaml", "name: bad\nnodes: { leaf1: { kind: swich } }\n");
  const std::string said = error(kInput, {"show", "bad.yaml"});
  for (const char* command : {"graph", "hosts"}) {
    EXPECT_EQ(error(kInput, {command, "bad.yaml"}), said);
    EXPECT_EQ(error(kInput, {command, "none.yaml"}), "railyard: none.yaml: cannot be read: No such file or directory");
    EXPECT_THAT(error(kInput, {command, "lab.yaml", "--set", "run.sed=1"}), HasSubstr("did you mean 'seed'?"));
  }
}

class ExportCommand : public CommandLine {};

TEST_F(ExportCommand, TakesAHostWhereTheFormatIsOfOne) {
  EXPECT_EQ(railyard({"export", "nccl-hca", topology("labs/rails-4x8.yaml"), "--node", "h2"}).out,
            "NCCL_IB_HCA==railyard0:1,railyard1:1,railyard2:1,railyard3:1\n");
  EXPECT_THAT(railyard({"export", "nccl-topology", topology("rails-4x8.yaml"), "--node", "h2", "--gpus", "8"}).out,
              HasSubstr("<gpu dev=\"7\" "));
  EXPECT_THAT(error(kUsage, {"export", "graphviz", topology("rails-4x8.yaml"), "--node", "h2"}),
              HasSubstr("--node: found with graphviz; expected nccl-topology or nccl-hca"));
  EXPECT_THAT(error(kInput, {"export", "nccl-hca", topology("rails-4x8.yaml"), "--node", "h99"}),
              HasSubstr("--node h99: the lab has no such host"));
}

}  // namespace
}  // namespace railyard::tools
