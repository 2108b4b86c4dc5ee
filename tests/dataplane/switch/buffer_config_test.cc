#include "dataplane/switch/buffer_config.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace railyard {
namespace {

using namespace literals;

std::string error_of(const ClassBuffer& c) {
  const auto ok = validate(c, "port 1 class 3");
  return ok ? "" : ok.error();
}
std::string error_of(const BufferConfig& c) {
  const auto ok = validate(c, "buffer");
  return ok ? "" : ok.error();
}

TEST(BufferConfig, DefaultsAreValid) {
  EXPECT_EQ(error_of(ClassBuffer{}), "");
  EXPECT_EQ(error_of(BufferConfig{}), "");
  EXPECT_EQ(error_of(ClassBuffer{.lossless = true, .headroom = 100_KiB}), "");
}

TEST(BufferConfig, EachMistakeIsNamed) {
  struct Case {
    ClassBuffer config;
    const char* key;
  };
  for (const Case& c : {Case{{.alpha = {8}}, ".alpha"}, Case{{.alpha = {-9}}, ".alpha"},
                        Case{{.queue_alpha = {8}}, ".queue_alpha"}, Case{{.reserved = {-1}}, ".reserved"},
                        Case{{.lossless = true, .headroom = {-1}}, ".headroom"}, Case{{.xoff = {-1}}, ".xoff"},
                        Case{{.xon_offset = {-1}}, ".xon_offset"}, Case{{.queue_reserved = {-1}}, ".queue_reserved"},
                        Case{{.lossless = true, .xoff = {1000}, .xon_offset = {1000}}, ".xon_offset"},
                        Case{{.headroom = {1}}, ".headroom"}}) {
    const std::string error = error_of(c.config);
    EXPECT_EQ(error.find(std::string("port 1 class 3") + c.key + ":"), 0u) << c.key << ": " << error;
  }
}

TEST(BufferConfig, TheEndsOfTheRangesAreValid) {
  EXPECT_EQ(error_of(ClassBuffer{.alpha = {Alpha::kLeast}, .queue_alpha = {Alpha::kMost}}), "");
  EXPECT_EQ(error_of(ClassBuffer{.lossless = true, .xoff = {1001}, .xon_offset = {1000}}), "");
  EXPECT_EQ(error_of(ClassBuffer{.xoff = {1000}, .xon_offset = {1000}}), "") << "a lossy class sends no XON";
  for (const std::int64_t cell : {64, 4096}) EXPECT_EQ(error_of(BufferConfig{.cell = {cell}}), "");
}

TEST(BufferConfig, CellsAndSizeHaveTheirLimits) {
  for (const std::int64_t cell : {0, -256, 63, 4097})
    EXPECT_EQ(error_of(BufferConfig{.cell = {cell}}).find("buffer.cell: "), 0u) << cell;
  EXPECT_EQ(error_of(BufferConfig{.size = {64 * 256}}), "");
  EXPECT_EQ(error_of(BufferConfig{.size = {64 * 256 - 1}}).find("buffer.size: "), 0u);
  EXPECT_EQ(error_of(BufferConfig{.size = {(std::int64_t{1} << 40) + 1}}).find("buffer.size: "), 0u);
  // Cells are counted in 32 bits.
  EXPECT_EQ(error_of(BufferConfig{.size = {std::int64_t{1} << 40}, .cell = {1024}}), "");
  EXPECT_EQ(error_of(BufferConfig{.size = {std::int64_t{1} << 40}, .cell = {512}}).find("buffer.cell: "), 0u);
  EXPECT_EQ(error_of(BufferConfig{.size = {std::int64_t{1} << 38}, .cell = {64}}).find("buffer.cell: "), 0u);
}

}  // namespace
}  // namespace railyard
