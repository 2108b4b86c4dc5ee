#include "dataplane/capture/pcapng_writer.h"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "dataplane/base/assert.h"

namespace railyard {
namespace {

constexpr std::size_t kFileBuffer = 256 * 1024;

}  // namespace

struct PcapngWriter::File {
  std::FILE* stream = nullptr;     // nullptr once closed
  std::unique_ptr<char[]> buffer;  // the stream's; outlives it
};

void PcapngWriter::CloseFile::operator()(File* file) const noexcept {
  if (file->stream != nullptr) std::fclose(file->stream);
  delete file;
}

PcapngWriter::PcapngWriter(std::unique_ptr<File, CloseFile> file, std::filesystem::path path, PcapngBlocks blocks)
    : file_(std::move(file)), path_(std::move(path)), blocks_(std::move(blocks)) {}

std::expected<PcapngWriter, std::string> PcapngWriter::open(const std::filesystem::path& path,
                                                            std::uint32_t snap_octets, std::string_view comment) {
  std::unique_ptr<File, CloseFile> file(new File);
  file->stream = std::fopen(path.c_str(), "wbe");
  if (file->stream == nullptr)
    return std::unexpected("cannot create " + path.string() + ": " + std::generic_category().message(errno));
  file->buffer = std::make_unique<char[]>(kFileBuffer);
  std::setvbuf(file->stream, file->buffer.get(), _IOFBF, kFileBuffer);
  PcapngWriter writer(std::move(file), path, PcapngBlocks(snap_octets, comment));
  writer.write_blocks();
  return writer;
}

PcapngWriter::InterfaceId PcapngWriter::add_interface(std::string_view name, std::string_view description,
                                                      BitRate speed) {
  const InterfaceId id = blocks_.add_interface(name, description, speed);
  write_blocks();
  return id;
}

void PcapngWriter::write(InterfaceId interface, Instant at, Direction direction,
                         std::span<const std::span<const std::byte>> pieces, std::uint32_t original_octets,
                         std::span<const std::string_view> comments) {
  blocks_.add_frame(interface, at, direction, pieces, original_octets, comments);
  write_blocks();
}

void PcapngWriter::write_blocks() {
  RAILYARD_ASSERT(file_ != nullptr && file_->stream != nullptr, "written after close()");
  const auto octets = blocks_.octets();
  if (error_ == 0 && std::fwrite(octets.data(), 1, octets.size(), file_->stream) != octets.size()) error_ = errno;
  blocks_.clear();
}

std::expected<void, std::string> PcapngWriter::close() {
  if (file_ != nullptr && file_->stream != nullptr) {
    // The stream is gone after fclose, even when it fails.
    if (std::fclose(std::exchange(file_->stream, nullptr)) != 0 && error_ == 0) error_ = errno;
  }
  if (error_ != 0)
    return std::unexpected("cannot write " + path_.string() + ": " + std::generic_category().message(error_));
  return {};
}

}  // namespace railyard
