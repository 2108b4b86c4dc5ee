// What cannot be run is refused with one clear message, and leaves nothing behind.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/lab/session.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"

namespace railyard::lab {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

class SessionErrors : public testing::Test {
 protected:
  SessionErrors() { fs::create_directories(folder_); }
  ~SessionErrors() override { fs::remove_all(folder_); }

  static spec::Lab lab(const std::vector<std::string>& overrides = {}) {
    return spec::parse(R"(name: x
nodes:
  leaf1: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]
run: { clock: wall, duration: 10us, memory: 256MiB }
)",
                       "x.yaml", overrides);
  }
  // What a session with these says instead of beginning; what kind of error must be E.
  template <class E>
  std::string error(const std::vector<std::string>& overrides, std::vector<CaptureRequest> captures = {}) {
    SessionOptions options;
    options.captures = std::move(captures);
    try {
      Session session(lab(overrides), std::move(options));
    } catch (const E& e) {
      return e.what();
    }
    return "(no error)";
  }
  std::vector<std::string> left_behind() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }
  CaptureRequest capture(const std::string& node, int port, const std::string& file) const {
    return {{node, port}, folder_ / file, CaptureDirection::kBoth};
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("session_error_test." + std::to_string(getpid()));
};

TEST_F(SessionErrors, ACaptureOfAPortThatIsNotThere) {
  EXPECT_EQ(error<CaptureError>({}, {capture("leaf2", 1, "a")}),
            "leaf2:1: there is no node 'leaf2'; did you mean 'leaf1'?");
  EXPECT_EQ(error<CaptureError>({}, {capture("leaf1", 3, "a")}), "leaf1:3: leaf1 has no port 3; expected 1..2");
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(SessionErrors, TwoCapturesOfOnePortOrIntoOneFile) {
  EXPECT_EQ(error<CaptureError>({}, {capture("leaf1", 1, "a"), capture("leaf1", 1, "b")}),
            "leaf1:1 is captured twice; expected one file per port");
  EXPECT_THAT(
      error<CaptureError>({}, {capture("leaf1", 1, "a"), capture("h1", 1, "../" + folder_.filename().string() + "/a")}),
      AllOf(HasSubstr("h1:1: "), HasSubstr("is already the file of another capture")));
  EXPECT_THAT(left_behind(), IsEmpty());
}

TEST_F(SessionErrors, ACaptureFileThatCannotBeWritten) {
  EXPECT_THAT(error<std::runtime_error>({}, {capture("leaf1", 1, "no/a.pcapng")}),
              AllOf(HasSubstr("--capture: leaf1:1: cannot create"), EndsWith("No such file or directory")));
}

TEST_F(SessionErrors, ASocketPathThatIsTaken) {
  const fs::path path = folder_ / "vm.sock";
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(error<spec::SpecError>({"nodes.h1.attach.vhost-user=" + path.string()}),
              AllOf(HasSubstr("x.yaml:4:3: vhost-user: "),
                    HasSubstr("exists already. Choose another path, or remove it if no process uses it")));
  EXPECT_TRUE(fs::exists(path)) << "somebody else's socket is not ours to remove";
  close(listener);
}

TEST_F(SessionErrors, ASocketInAFolderThatIsNotThere) {
  EXPECT_THAT(error<spec::SpecError>({"nodes.h1.attach.vhost-user=" + (folder_ / "no/vm.sock").string()}),
              AllOf(HasSubstr("x.yaml:4:3: vhost-user: there is no directory "), EndsWith("/no")));
}

TEST_F(SessionErrors, ANicThatIsNotThere) {
  EXPECT_THAT(error<spec::SpecError>({"nodes.h1.attach.dpdk=net_nosuchdriver0"}),
              AllOf(HasSubstr("x.yaml:4:3: port 'net_nosuchdriver0': DPDK cannot create it: "),
                    HasSubstr("Check the driver's name and arguments")));
  EXPECT_THAT(error<spec::SpecError>({"nodes.h1.attach.dpdk=0000:fe:1f.7"}),
              AllOf(HasSubstr("x.yaml:4:3: port '0000:fe:1f.7': DPDK cannot use it: "),
                    HasSubstr("that the NIC is bound to vfio-pci")));
}

TEST_F(SessionErrors, WhatWasOpenedBeforeTheErrorIsClosedAgain) {
  const fs::path sock = folder_ / "vm.sock";
  EXPECT_THAT(
      error<spec::SpecError>({"nodes.h1.attach.vhost-user=" + sock.string(), "nodes.h2.attach.dpdk=net_nosuchdriver0"},
                             {capture("leaf1", 1, "a.pcapng")}),
      HasSubstr("net_nosuchdriver0"));
  EXPECT_THAT(left_behind(), IsEmpty()) << "neither the socket nor a capture";
  EXPECT_THAT(
      error<spec::SpecError>({"nodes.h1.attach.vhost-user=" + sock.string(), "nodes.h2.attach.dpdk=net_nosuchdriver0"}),
      HasSubstr("net_nosuchdriver0"))
      << "and the next one can have the path";
}

TEST_F(SessionErrors, AFileOfAPcapHostIsNotTouchedByAnEarlierError) {
  const fs::path out = folder_ / "out.pcap";
  std::ofstream(out) << "last week's results";
  EXPECT_THAT(error<CaptureError>({"nodes.h1.attach.pcap.out=" + out.string()}, {capture("leaf9", 1, "a")}),
              HasSubstr("leaf9"));
  EXPECT_EQ(fs::file_size(out), 19u);
}

TEST_F(SessionErrors, PacketMemoryThatRunsOutSaysWhatWouldHelp) {
  const std::atomic<bool> stop{false};
  // A few thousand packets of room, and more on the way.
  Session session(spec::parse(R"(name: x
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 9 }
switches: { default: { buffer: 1GiB } }
traffic: [ { name: t, pattern: incast, from: h*, to: h1, payload: 64B } ]
run: { duration: 10ms, memory: 1MiB }
)",
                              "x.yaml"),
                  {});
  try {
    session.run(stop);
    FAIL() << "4096 packets were enough";
  } catch (const RunError& e) {
    EXPECT_STREQ(e.what(), "out of packet memory; raise run.memory (railyard check prints the need)");
  }
}

}  // namespace
}  // namespace railyard::lab
