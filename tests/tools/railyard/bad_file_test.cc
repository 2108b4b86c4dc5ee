// Bad fabric files: each one clear line with the place and what to do, exit code 3, from every command alike.
#include <cstdint>
#include <filesystem>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/tools/railyard/command_line.h"

namespace railyard::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class BadFile : public CommandLine {
 protected:
  // What is said of a lab of two hosts at a switch whose lines 3 to 6 are `nodes` and `links`, with `more` behind.
  std::string error_of(const std::string& more) const {
    write("bad.yaml",
          "name: bad\nnodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\n"
          "links: [[h1:1, leaf1:1], [h2:1, leaf1:2]]\n" +
              more);
    const std::string said = error(kInput, {"run", "bad.yaml"});
    EXPECT_EQ(error(kInput, {"check", "bad.yaml"}), said);
    return said;
  }
  // The same of links alone.
  std::string error_of_links(const std::string& links) const {
    write("bad.yaml", "name: bad\nnodes: { leaf1: { kind: switch }, h1: { kind: host }, h2: { kind: host } }\nlinks: " +
                          links + "\n");
    return error(kInput, {"run", "bad.yaml"});
  }
};

TEST_F(BadFile, ThatCannotBeRead) {
  EXPECT_EQ(error(kInput, {"run", "none.yaml"}), "railyard: none.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(error(kInput, {"show", "."}), "railyard: .: cannot be read: Is a directory");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const char* command : {"check", "show", "run", "graph", "hosts", "sweep", "decode"}) {
    EXPECT_EQ(error(kInput, {command, "fifo"}), "railyard: fifo: cannot be read: it is a FIFO; expected a file");
    EXPECT_EQ(error(kInput, {command, "/dev/zero"}),
              "railyard: /dev/zero: cannot be read: it is a device; expected a file");
  }
  std::filesystem::resize_file(write("huge.yaml", ""), std::uintmax_t{1} << 40);
  EXPECT_EQ(error(kInput, {"check", "huge.yaml"}), "railyard: huge.yaml: cannot be read: it is larger than 64 MiB");
}

TEST_F(BadFile, HugeValuesAreQuotedShort) {
  for (const std::string& value : {std::string(1'000'000, '7'), "'" + std::string(500'000, 'x') + " y'"})
    for (const char* key : {"seed", "workers", "duration", "clock", "memory", "payload"}) {
      write("huge.yaml", "name: x\nrun: { " + std::string(key) + ": " + value + " }\n");
      EXPECT_LT(error(kInput, {"check", "huge.yaml"}).size(), 1000u);
    }
  write("huge.yaml", std::string(100'000, 'k') + ": 1\n");
  EXPECT_LT(error(kInput, {"check", "huge.yaml"}).size(), 1000u);
  EXPECT_LT(error(kInput, {"check", "lab.yaml", "--set", "run.seed=" + std::string(100'000, '9')}).size(), 1000u);
}

TEST_F(BadFile, ThatIsNotYaml) { EXPECT_THAT(error_of("run: { seed: 1\n"), StartsWith("railyard: bad.yaml:")); }

TEST_F(BadFile, WithAnUnknownKey) {
  EXPECT_THAT(
      error_of("run: { durration: 1ms }\n"),
      StartsWith("railyard: bad.yaml:4:8: run: unknown key 'durration'; did you mean 'duration'? Known here: "));
}

TEST_F(BadFile, WithoutAUnit) {
  EXPECT_THAT(error_of("run: { duration: 5 }\n"),
              StartsWith("railyard: bad.yaml:4:18: run.duration: 5 has no unit; expected a duration such as 500ns"));
}

TEST_F(BadFile, WithTheWrongType) {
  EXPECT_THAT(error_of("run: { seed: [1] }\n"),
              StartsWith("railyard: bad.yaml:4:14: run.seed: found a list; expected"));
  EXPECT_THAT(error_of("run: fast\n"), StartsWith("railyard: bad.yaml:4:6: run: found 'fast'; expected"));
}

TEST_F(BadFile, WithAKeyTwice) {
  EXPECT_THAT(error_of("run: { seed: 1, seed: 2 }\n"),
              HasSubstr("key 'seed' is defined twice; the first is at bad.yaml:4:8"));
}

TEST_F(BadFile, WithANameTwice) {
  EXPECT_THAT(
      error_of(
          "traffic:\n  - { name: t, from: h1, to: h2, bytes: 1KB }\n  - { name: t, from: h2, to: h1, bytes: 1KB }\n"),
      AllOf(StartsWith("railyard: bad.yaml:6:"), HasSubstr("traffic 't' exists already")));
}

TEST_F(BadFile, WithALinkToNowhere) {
  EXPECT_THAT(error_of_links("[[h1:1, leaf1:1], [h2:1, leaf2:2]]"),
              AllOf(StartsWith("railyard: bad.yaml:3:"), HasSubstr("'leaf2'"), HasSubstr("did you mean 'leaf1'?")));
}

TEST_F(BadFile, WithAPortUsedTwice) {
  EXPECT_THAT(error_of_links("[[h1:1, leaf1:1], [h2:1, leaf1:1]]"),
              AllOf(StartsWith("railyard: bad.yaml:3:"), HasSubstr("leaf1:1 is already linked")));
}

TEST_F(BadFile, WithAddressesTwice) {
  write("bad.yaml",
        "name: bad\nnodes:\n  leaf1: { kind: switch }\n  h1: { kind: host, address: 10.1.0.1 }\n"
        "  h2: { kind: host, address: 10.1.0.1 }\nlinks: [[h1:1, leaf1:1], [h2:1, leaf1:2]]\n");
  EXPECT_THAT(error(kInput, {"run", "bad.yaml"}),
              AllOf(StartsWith("railyard: bad.yaml:5:"), HasSubstr("10.1.0.1"), HasSubstr("bad.yaml:4:")));
}

TEST_F(BadFile, WithAnMtuThatIsTooSmall) {
  EXPECT_THAT(error_of("defaults: { link: { mtu: 60 } }\n"),
              AllOf(StartsWith("railyard: bad.yaml:4:"), HasSubstr("mtu"), HasSubstr("out of range; expected")));
  EXPECT_THAT(error_of("defaults: { link: { mtu: 1500 } }\ntraffic: [ { name: t, from: h1, to: h2, bytes: 1KB } ]\n"),
              HasSubstr("make packets of 4140; the MTU from h1:1 to h2:1 is 1500"));
}

TEST_F(BadFile, WithThresholdsOutOfRange) {
  const auto class3 = [&](const std::string& keys) {
    return error_of("qos: { default: { classes: { 3: { " + keys + " } } } }\n");
  };
  EXPECT_THAT(class3("alpha: 1/1000"), HasSubstr("alpha: 1/1000 is"));
  EXPECT_THAT(class3("alpha: 3"), HasSubstr("alpha: 3 is not a power of two; expected"));
  EXPECT_THAT(class3("ecn: { kmin: 2MB, kmax: 1MB }"),
              HasSubstr("kmin: 2MB is above kmax (1MB); expected kmin <= kmax"));
  EXPECT_THAT(class3("lossless: true, xoff: 16KiB"), HasSubstr("xon-offset (18KiB) is not below xoff (16KiB)"));
  EXPECT_THAT(class3("headroom: 10KiB"), HasSubstr("expected lossless: true with it"));
  EXPECT_THAT(class3("lossless: true, headroom: 1KiB"),
              AllOf(HasSubstr("headroom of lossless class 3 is 1KiB"), HasSubstr("expected `headroom: auto`")));
}

TEST_F(BadFile, WithARateOfZero) {
  EXPECT_THAT(error_of("defaults: { link: { rate: 0Gbps } }\n"),
              AllOf(StartsWith("railyard: bad.yaml:4:"), HasSubstr("rate: 0 is out of range; expected")));
  EXPECT_THAT(error_of("traffic: [ { name: t, from: h1, to: h2, bytes: 1KB, rate: 0bps } ]\n"),
              HasSubstr("rate: 0 is out of range; expected"));
}

TEST_F(BadFile, WithABufferThatIsTooSmall) {
  EXPECT_THAT(error_of("switches: { default: { buffer: 128KiB } }\n"),
              AllOf(StartsWith("railyard: bad.yaml:2:"), HasSubstr("the buffer of 131072 octets is too small")));
}

TEST_F(BadFile, WithTrafficThatNeverEnds) {
  EXPECT_THAT(error_of("traffic: [ { name: t, from: h1, to: h2 } ]\n"),
              HasSubstr("never ends, nor does the run; expected bytes or stop here, or run.duration"));
}

TEST_F(BadFile, WithAnAttachmentThatTheVirtualClockCannotHave) {
  write("bad.yaml",
        "name: bad\nnodes:\n  leaf1: { kind: switch }\n  h1: { kind: host, attach: { vhost-user: /tmp/x.sock } "
        "}\nlinks: [[h1:1, leaf1:1]]\n");
  EXPECT_THAT(error(kInput, {"run", "bad.yaml"}),
              AllOf(StartsWith("railyard: bad.yaml:4:"), HasSubstr("need the wall clock: set run.clock: wall")));
}

}  // namespace
}  // namespace railyard::tools
