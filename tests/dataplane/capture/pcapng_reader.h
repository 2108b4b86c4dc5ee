// A reader of pcapng files, after the draft and not after the writer. It checks what every block and option must
// observe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace railyard::test {

template <class T>
T number(std::string_view octets, std::size_t at) {
  T value{};
  EXPECT_LE(at + sizeof value, octets.size());
  if (at + sizeof value <= octets.size()) std::memcpy(&value, octets.data() + at, sizeof value);
  return value;
}

struct Block {
  std::uint32_t type;
  std::string body;
};

inline std::vector<Block> blocks_of(const std::string& file) {
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < file.size();) {
    const auto total = number<std::uint32_t>(file, at + 4);
    EXPECT_EQ(total % 4, 0u);
    EXPECT_GE(total, 12u);
    if (total < 12 || at + total > file.size()) {
      ADD_FAILURE() << "block at " << at << " has length " << total;
      break;
    }
    EXPECT_EQ(number<std::uint32_t>(file, at + total - 4), total) << "the trailing length of the block at " << at;
    blocks.push_back({number<std::uint32_t>(file, at), file.substr(at + 8, total - 12)});
    at += total;
  }
  return blocks;
}

using Options = std::vector<std::pair<std::uint16_t, std::string>>;

// The options from octet `at` of a block's body on, without opt_endofopt, which must be the last.
inline Options options_of(const Block& block, std::size_t at) {
  Options options;
  for (;;) {
    const auto code = number<std::uint16_t>(block.body, at);
    const auto length = number<std::uint16_t>(block.body, at + 2);
    const std::size_t padded = (std::size_t{length} + 3) / 4 * 4;
    if (at + 4 + padded > block.body.size()) {
      ADD_FAILURE() << "option " << code << " ends beyond its block";
      return options;
    }
    if (code == 0) {
      EXPECT_EQ(length, 0u);
      EXPECT_EQ(at + 4, block.body.size()) << "something follows opt_endofopt";
      return options;
    }
    for (std::size_t i = length; i < padded; ++i) EXPECT_EQ(block.body[at + 4 + i], '\0') << "padding";
    options.emplace_back(code, block.body.substr(at + 4, length));
    at += 4 + padded;
  }
}

inline std::vector<std::uint16_t> codes(const Options& options) {
  std::vector<std::uint16_t> out;
  for (const auto& [code, value] : options) out.push_back(code);
  return out;
}

struct Frame {
  std::uint32_t interface;
  std::uint64_t ticks;
  std::uint32_t original;
  std::string octets;
  Options options;
};

inline Frame frame_of(const Block& block) {
  EXPECT_EQ(block.type, 6u);
  const auto captured = number<std::uint32_t>(block.body, 12);
  const std::size_t padded = (std::size_t{captured} + 3) / 4 * 4;
  for (std::size_t i = captured; i < padded; ++i) EXPECT_EQ(block.body.at(20 + i), '\0') << "padding";
  return {number<std::uint32_t>(block.body, 0),
          std::uint64_t{number<std::uint32_t>(block.body, 4)} << 32 | number<std::uint32_t>(block.body, 8),
          number<std::uint32_t>(block.body, 16), block.body.substr(20, captured), options_of(block, 20 + padded)};
}

// The frames of a file: its enhanced packet blocks.
inline std::vector<Frame> frames_of(const std::string& file) {
  std::vector<Frame> frames;
  for (const Block& b : blocks_of(file))
    if (b.type == 6) frames.push_back(frame_of(b));
  return frames;
}

}  // namespace railyard::test
