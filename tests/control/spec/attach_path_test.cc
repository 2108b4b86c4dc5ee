// From where a path is meant: in a file from the folder of that file, in a --set from where the command runs.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

namespace fs = std::filesystem;

class AttachPath : public testing::Test {
 protected:
  AttachPath() {
    fs::create_directories(folder_);
    std::ofstream(file_) << R"(name: x
nodes:
  s: { kind: switch }
  a: { kind: host, attach: { pcap: { in: sub/in.pcap, out: ../out.pcap } } }
  b: { kind: host, attach: { pcap: { in: /somewhere/in.pcap } } }
  c: { kind: host, attach: { vhost-user: c.sock } }
links: [[a:1, s:1], [b:1, s:2], [c:1, s:3]]
run: { clock: wall }
)";
  }
  ~AttachPath() override { fs::remove_all(folder_.parent_path()); }

  static AttachPcap pcap(const Lab& lab, const char* host) {
    return std::get<AttachPcap>(lab.find(host)->nics[0].attach);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("attach_path_test." + std::to_string(getpid())) / "labs";
  fs::path file_ = folder_ / "x.yaml";
};

TEST_F(AttachPath, InAFileIsRelativeToItsFolder) {
  const Lab lab = load(file_);
  EXPECT_EQ(pcap(lab, "a").in, folder_ / "sub/in.pcap");
  EXPECT_EQ(pcap(lab, "a").out, folder_.parent_path() / "out.pcap");
  EXPECT_EQ(std::get<AttachVhostUser>(lab.find("c")->nics[0].attach).socket, folder_ / "c.sock");
}

TEST_F(AttachPath, ThatIsAbsoluteStaysAsItIs) { EXPECT_EQ(pcap(load(file_), "b").in, "/somewhere/in.pcap"); }

TEST_F(AttachPath, OnTheCommandLineIsRelativeToWhereItRuns) {
  const Lab lab = load(file_, {"nodes.a.attach.pcap.in=other.pcap"});
  EXPECT_EQ(pcap(lab, "a").in, "other.pcap");
  EXPECT_EQ(pcap(lab, "a").out, folder_.parent_path() / "out.pcap");
}

TEST_F(AttachPath, IsShownSoThatItHoldsAnywhere) {
  const Lab lab = load(file_);
  EXPECT_TRUE(parse(to_yaml(lab), "elsewhere/shown.yaml") == lab);
}

TEST_F(AttachPath, OfAFileInTheWorkingFolderNeedsNoFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(pcap(load("x.yaml"), "a").in, "sub/in.pcap");
  fs::current_path(before);
}

}  // namespace
}  // namespace railyard::spec
