#include "control/decode/capture_note.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/capture/pcapng_writer.h"
#include "tests/support/temporary_file.h"

namespace railyard::decode {
namespace {

std::string note_of(const std::string& octets) {
  const test::TemporaryFile file("note.pcapng");
  std::ofstream(file.path(), std::ios::binary) << octets;
  return capture_note(file.path());
}

std::string octets_of(const PcapngBlocks& blocks) {
  const auto octets = blocks.octets();
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

TEST(CaptureNote, IsTheCommentOfTheSection) {
  for (const std::string text : {"x", "UET: udp 5555", "eight by", ""}) {
    PcapngBlocks blocks(0, text);
    EXPECT_EQ(note_of(octets_of(blocks)), text);
    blocks.add_interface("leaf1:1", "to h1", BitRate{1000});
    EXPECT_EQ(note_of(octets_of(blocks)), text);
  }
}

TEST(CaptureNote, OfWhatIsNoSuchFileIsNone) {
  EXPECT_EQ(capture_note("/nowhere/x.pcapng"), "");
  EXPECT_EQ(note_of(""), "");
  EXPECT_EQ(note_of(std::string(24, '\xD4')), "");
  const std::string whole = octets_of(PcapngBlocks(0, "a comment of some length"));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const std::string cut = note_of(whole.substr(0, n));
    EXPECT_TRUE(cut.empty() || cut == "a comment of some length") << n;
  }
  // Lengths that cannot be.
  for (const std::size_t at : {4u, 26u})
    for (const char c : {'\0', '\x03', '\xFF'}) {
      std::string broken = whole;
      broken[at] = c;
      broken[at + 1] = c;
      EXPECT_NO_THROW(note_of(broken));
    }
}

}  // namespace
}  // namespace railyard::decode
