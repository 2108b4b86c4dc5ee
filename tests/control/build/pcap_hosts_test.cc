// Hosts that are made of capture files: what is read is read at once, and nothing is written before it is time.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "control/build/built_lab.h"
#include "control/spec/load.h"
#include "dataplane/port/pcap_file.h"

namespace railyard::build {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PcapHosts : public testing::Test {
 protected:
  PcapHosts() { fs::create_directories(folder_); }
  ~PcapHosts() override { fs::remove_all(folder_); }

  spec::Lab lab(const std::string& pcap) const {
    return spec::parse("name: x\nnodes:\n  s: { kind: switch }\n  a: { kind: host, attach: { pcap: { " + pcap +
                           " } } }\nlinks: [[a:1, s:1]]\n",
                       "x.yaml");
  }
  std::string error_of(const std::string& pcap) const {
    try {
      BuiltLab built(lab(pcap));
    } catch (const spec::SpecError& e) {
      return e.what();
    }
    return "(no error)";
  }
  // A capture of `frames` frames of 64 octets.
  fs::path capture(int frames) const {
    const fs::path path = folder_ / "in.pcap";
    auto out = PcapWriter::open(path);
    std::array<std::byte, 64> octets{};
    const std::span<const std::byte> piece(octets);
    for (int i = 0; i < frames; ++i) out->write(Instant{}, {&piece, 1});
    EXPECT_TRUE(out->close().has_value());
    return path;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("pcap_hosts_test." + std::to_string(getpid()));
};

TEST_F(PcapHosts, WriteTheirFileFromTheStart) {
  const fs::path out = folder_ / "out.pcap";
  BuiltLab built(lab("out: " + out.string()));
  EXPECT_EQ(built.pcaps().size(), 1u);
  EXPECT_TRUE(fs::exists(out));
}

TEST_F(PcapHosts, LeaveAFileAloneUntilToldTo) {
  const fs::path out = folder_ / "out.pcap";
  std::ofstream(out) << "last week's results";
  const auto size = fs::file_size(out);
  BuiltLab built(lab("out: " + out.string()), Outputs::kLeaveAlone);
  EXPECT_EQ(fs::file_size(out), size);
  built.open_outputs();
  for (PcapEndpoint* p : built.pcaps()) p->close();
  EXPECT_TRUE(read_pcap(out)->empty());
}

TEST_F(PcapHosts, WhoseFileCannotBeWrittenAreNamed) {
  EXPECT_THAT(
      error_of("out: " + (folder_ / "no/out.pcap").string()),
      testing::AllOf(HasSubstr("x.yaml:4:"), HasSubstr("cannot create"), HasSubstr("No such file or directory")));
}

TEST_F(PcapHosts, WhoseFileIsNotThereAreNamed) {
  EXPECT_THAT(error_of("in: " + (folder_ / "no.pcap").string()),
              testing::AllOf(HasSubstr("x.yaml:4:"), HasSubstr("cannot open"), HasSubstr("No such file or directory")));
}

TEST_F(PcapHosts, WhoseFileIsCutOffAreToldAfterWhichFrame) {
  const fs::path in = capture(3);
  fs::resize_file(in, fs::file_size(in) - 10);
  EXPECT_THAT(error_of("in: " + in.string()),
              testing::AllOf(HasSubstr("x.yaml:4:"), HasSubstr("in.pcap: frame 3: "), HasSubstr("truncated")));
}

TEST_F(PcapHosts, WhoseFileIsSomethingElseAreTold) {
  const fs::path in = folder_ / "in.pcap";
  std::ofstream(in) << "name: x\nnot a capture at all\n";
  EXPECT_THAT(error_of("in: " + in.string()), HasSubstr("not a capture file (pcap or pcapng expected)"));
}

}  // namespace
}  // namespace railyard::build
