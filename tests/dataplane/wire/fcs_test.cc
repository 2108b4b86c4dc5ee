#include "dataplane/wire/fcs.h"

#include <gtest/gtest.h>

#include "tests/dataplane/wire/corpus.h"

namespace railyard::wire {
namespace {

std::string fcs_on_the_wire(std::string_view frame) {
  Octets octets(kCrc32Octets);
  write_crc32(octets.data(), fcs(corpus_frame(frame)));
  return to_hex(octets);
}

// roce-and-lossless.md §10.1.
TEST(Fcs, OfMacControlFrames) {
  EXPECT_EQ(fcs_on_the_wire("pfc_xoff"), "b0b229c3");
  EXPECT_EQ(fcs_on_the_wire("pfc_xon"), "d13178ac");
  EXPECT_EQ(fcs_on_the_wire("pfc_two_priorities"), "7013313e");
  EXPECT_EQ(fcs_on_the_wire("pause_802_3x"), "c2da360b");
}

}  // namespace
}  // namespace railyard::wire
