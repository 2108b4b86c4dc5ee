// --capture: what a port saw, for Wireshark.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::HasSubstr;

class Capture : public CommandLine {};

TEST_F(Capture, OfAPortThatIsNotThere) {
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--capture", "leaf2:1=x.pcapng"}),
            "railyard: --capture: leaf2:1: there is no node 'leaf2'; did you mean 'leaf1'?");
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--capture", "leaf1:3=x.pcapng"}),
            "railyard: --capture: leaf1:3: leaf1 has no port 3; expected 1..2");
}

TEST_F(Capture, TwiceOfOnePort) {
  EXPECT_EQ(error(kUsage, {"run", "lab.yaml", "--capture", "leaf1:1:in=a.pcapng", "--capture", "leaf1:1:out=b.pcapng"}),
            "railyard: --capture: leaf1:1 is captured twice; expected one file per port");
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

// Of a lab whose UET is not the standard's in any of this: its captures say so, and whoever decodes them need not.
TEST_F(Capture, OfUetByTheLabsOwnPortsAndProtocols) {
  const char* const nodes =
      "nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\n"
      "links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]\n"
      "traffic: [{ name: t, from: h1, to: h2, transport: uet, bytes: 20KB, path-mtu: 1024 }]\n";
  for (const std::string uet :
       {"udp-port: 5555, crc: false", "encapsulation: ip, ip-protocol: 250", "crc: false", "profile: ref-prov", ""}) {
    write("uet.yaml", "name: x\nhosts: { default: { uet: { " + uet + " } } }\n" + nodes);
    ASSERT_EQ(railyard({"run", "uet.yaml", "--capture", "leaf1:1=uet.pcapng"}).exit_code, kOk) << uet;
    const Outcome o = railyard({"decode", "uet.pcapng", "--json"});
    ASSERT_EQ(o.exit_code, kOk) << o.err;
    std::size_t packets = 0, of_uet = 0;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line); ++packets) {
      of_uet += line.find("\"proto\":\"uet\"") != std::string::npos;
      EXPECT_EQ(line.find("\"error\""), std::string::npos) << uet << ": " << line;
      EXPECT_EQ(line.find("\"crc_ok\":false"), std::string::npos) << uet << ": " << line;
    }
    EXPECT_GE(packets, 21u);
    EXPECT_EQ(of_uet, packets) << uet;
    EXPECT_EQ(read("uet.pcapng").find("UET: ") != std::string::npos, uet != "" && uet != "profile: standard") << uet;
  }
  // Who says how, knows better.
  write("uet.yaml", std::string("name: x\nhosts: { default: { uet: { udp-port: 5555 } } }\n") + nodes);
  ASSERT_EQ(railyard({"run", "uet.yaml", "--capture", "leaf1:1=uet.pcapng"}).exit_code, kOk);
  EXPECT_EQ(railyard({"decode", "uet.pcapng", "--json", "--uet-port", "5556"}).out.find("\"proto\":\"uet\""),
            std::string::npos);
}

// By a pipe, octet for octet at first: what the capture says of itself is said by what cannot be read twice, too.
TEST_F(Capture, OfUetByAPipe) {
  write("uet.yaml",
        "name: x\nhosts: { default: { uet: { udp-port: 5555, crc: false } } }\n"
        "nodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\n"
        "links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]\n"
        "traffic: [{ name: t, from: h1, to: h2, transport: uet, bytes: 20KB, path-mtu: 1024 }]\n");
  ASSERT_EQ(railyard({"run", "uet.yaml", "--capture", "leaf1:1=uet.pcapng"}).exit_code, kOk);
  const Outcome of_file = railyard({"decode", "uet.pcapng", "--json"});
  ASSERT_NE(of_file.out.find("\"proto\":\"uet\""), std::string::npos);
  const std::string octets = read("uet.pcapng");
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  take_input_from("pipe");
  const auto piped = [&](const std::string& text, const std::vector<std::string>& options = {}) {
    const std::jthread writer([&] {
      std::ofstream out(pipe, std::ios::binary);
      for (std::size_t i = 0; i < std::min<std::size_t>(text.size(), 200); ++i) out << text[i] << std::flush;
      if (text.size() > 200) out << text.substr(200);
    });
    std::vector<std::string> arguments{"decode", "-", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return railyard(arguments);
  };
  const Outcome o = piped(octets);
  EXPECT_EQ(o.exit_code, kOk) << o.err;
  EXPECT_EQ(o.out, of_file.out);
  EXPECT_EQ(piped(octets, {"--uet-port", "5556"}).out.find("\"proto\":\"uet\""), std::string::npos);
  EXPECT_THAT(piped("24 octets of no capture.").err,
              HasSubstr("standard input: not a capture file (pcap or pcapng expected)"));
  EXPECT_THAT(piped("short").err, HasSubstr("standard input: not a capture file (pcap or pcapng expected)"));
}

}  // namespace
}  // namespace railyard::tools
