// Captures in the pcapng format as files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/capture/pcapng_blocks.h"

namespace railyard {

// One section of one file. Every block is written as it comes, so a run that ends early leaves a readable file up to
// the last block on disk. A write that fails ends the file there; close() says so. The rest is as in PcapngBlocks.
class PcapngWriter {
 public:
  using InterfaceId = PcapngBlocks::InterfaceId;
  using Direction = PcapngBlocks::Direction;

  // Creates the file. Of every frame at most `snap_octets` are kept, 0: all. `comment`: of the section; empty: none.
  static std::expected<PcapngWriter, std::string> open(const std::filesystem::path& path, std::uint32_t snap_octets = 0,
                                                       std::string_view comment = {});

  InterfaceId add_interface(std::string_view name, std::string_view description, BitRate speed);
  void write(InterfaceId interface, Instant at, Direction direction, std::span<const std::span<const std::byte>> pieces,
             std::uint32_t original_octets, std::span<const std::string_view> comments);

  // Writes what is buffered and closes the file. The error is the first one since open(), with the file's name. Further
  // calls give the same answer; the destructor closes silently.
  std::expected<void, std::string> close();

 private:
  struct File;
  struct CloseFile {
    void operator()(File* file) const noexcept;
  };

  PcapngWriter(std::unique_ptr<File, CloseFile> file, std::filesystem::path path, PcapngBlocks blocks);
  void write_blocks();

  std::unique_ptr<File, CloseFile> file_;
  std::filesystem::path path_;
  int error_ = 0;  // errno of the first failure
  PcapngBlocks blocks_;
};

}  // namespace railyard
