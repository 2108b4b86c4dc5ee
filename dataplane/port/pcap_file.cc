#include "dataplane/port/pcap_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

#include <pcap/pcap.h>
#include <unistd.h>

#include "dataplane/base/assert.h"
#include "dataplane/base/units.h"

namespace railyard {
namespace {

// The longest frame that libpcap reads back (its MAXIMUM_SNAPLEN).
constexpr int kMaxFrameOctets = 262'144;

// As read(2) of standard input does.
ssize_t read_some(std::span<std::byte> octets) {
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, octets.data(), octets.size());
    if (got >= 0 || errno != EINTR) return got;
  }
}

// Standard input as a FILE, after what was taken out of it before. Not of `stdin`: what this has read ahead is its own.
struct StandardInput {
  std::vector<std::byte> begun;
  std::size_t given = 0;  // of them

  static ssize_t read(void* cookie, char* to, std::size_t octets) {
    auto& self = *static_cast<StandardInput*>(cookie);
    const std::span<std::byte> wanted = std::as_writable_bytes(std::span(to, octets));
    if (self.given == self.begun.size()) return read_some(wanted);
    const std::size_t now = std::min(octets, self.begun.size() - self.given);
    std::copy_n(self.begun.data() + self.given, now, wanted.data());
    self.given += now;
    return static_cast<ssize_t>(now);
  }
  static int close(void* cookie) {
    delete static_cast<StandardInput*>(cookie);
    return 0;
  }
};

}  // namespace

void PcapReader::ClosePcap::operator()(pcap* file) const noexcept { pcap_close(file); }

PcapReader::PcapReader(std::unique_ptr<pcap, ClosePcap> file, std::string name)
    : file_(std::move(file)), name_(std::move(name)) {}

std::expected<PcapReader, std::string> PcapReader::from(std::FILE* file, std::string name) {
  std::array<char, PCAP_ERRBUF_SIZE> why{};
  std::unique_ptr<pcap, ClosePcap> opened(
      pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why.data()));
  if (opened == nullptr) {
    std::fclose(file);
    return std::unexpected(name + ": not a capture file (pcap or pcapng expected): " + why.data());
  }
  if (const int link_type = pcap_datalink(opened.get()); link_type != DLT_EN10MB) {
    const char* known = pcap_datalink_val_to_name(link_type);
    return std::unexpected(name + ": frames of link type " +
                           (known != nullptr ? std::string(known) : std::to_string(link_type)) +
                           ", Ethernet (EN10MB) expected");
  }
  return PcapReader(std::move(opened), std::move(name));
}

std::expected<PcapReader, std::string> PcapReader::open(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return std::unexpected("cannot open " + path.string() + ": " + std::generic_category().message(errno));
  return from(file, path.string());
}

std::expected<PcapReader, std::string> PcapReader::standard_input(std::vector<std::byte> begun) {
  auto* const input = new StandardInput{.begun = std::move(begun)};
  std::FILE* const file = fopencookie(
      input, "rb", {.read = StandardInput::read, .write = nullptr, .seek = nullptr, .close = StandardInput::close});
  if (file == nullptr) {
    delete input;
    return std::unexpected("cannot read standard input: " + std::generic_category().message(errno));
  }
  return from(file, "standard input");
}

std::size_t PcapReader::read_standard_input(std::span<std::byte> octets) {
  std::size_t there = 0;
  while (there < octets.size()) {
    const ssize_t more = read_some(octets.subspan(there));
    if (more <= 0) break;
    there += static_cast<std::size_t>(more);
  }
  return there;
}

std::string PcapReader::complaint(const std::string& what) const {
  return name_ + ": frame " + std::to_string(frames_) + ": " + what;
}

int PcapReader::snap_octets() const noexcept { return pcap_snapshot(file_.get()); }

std::expected<std::optional<PcapReader::Frame>, std::string> PcapReader::next() {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int result = pcap_next_ex(file_.get(), &header, &data);
  if (result == PCAP_ERROR_BREAK) return std::nullopt;  // the end of the file
  ++frames_;
  if (result != 1) return std::unexpected(complaint(pcap_geterr(file_.get())));
  const std::int64_t seconds = header->ts.tv_sec;
  const std::int64_t nanoseconds = header->ts.tv_usec;  // as the file was opened
  if (frames_ == 1) {
    first_seconds_ = seconds;
    first_nanoseconds_ = nanoseconds;
  }
  // Picoseconds that may not fit an Instant.
  const Int128 since_first = (static_cast<Int128>(seconds) - first_seconds_) * kPicosecondsPerSecond +
                             (static_cast<Int128>(nanoseconds) - first_nanoseconds_) * 1000;
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  if (since_first >= kLongest || since_first <= -kLongest)
    return std::unexpected(complaint("more than 106 days after the first frame; expected a shorter capture"));
  return Frame{.at = Instant{static_cast<std::int64_t>(since_first)},
               .octets = std::as_bytes(std::span(data, header->caplen)),
               .frame_octets = header->len};
}

std::expected<std::vector<CapturedFrame>, std::string> read_pcap(const std::filesystem::path& path) {
  std::expected<PcapReader, std::string> reader = PcapReader::open(path);
  if (!reader) return std::unexpected(reader.error());
  std::vector<CapturedFrame> frames;
  for (;;) {
    const auto frame = reader->next();
    if (!frame) return std::unexpected(frame.error());
    if (!*frame) return frames;
    const auto& [at, octets, frame_octets] = **frame;
    if (octets.size() != frame_octets) {
      return std::unexpected(reader->complaint("holds " + std::to_string(octets.size()) + " of its " +
                                               std::to_string(frame_octets) + " octets (snap length " +
                                               std::to_string(reader->snap_octets()) + "), whole frames expected"));
    }
    frames.push_back({at, {octets.begin(), octets.end()}});
  }
}

void PcapWriter::CloseDump::operator()(pcap_dumper* dump) const noexcept { pcap_dump_close(dump); }

PcapWriter::PcapWriter(std::unique_ptr<pcap_dumper, CloseDump> dump, std::filesystem::path path)
    : dump_(std::move(dump)), path_(std::move(path)) {}

std::expected<PcapWriter, std::string> PcapWriter::open(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return std::unexpected("cannot create " + path.string() + ": " + std::generic_category().message(errno));
  // Tells the link type and the resolution to the dump, which does not keep it.
  const std::unique_ptr<pcap_t, decltype([](pcap_t* p) { pcap_close(p); })> kind(
      pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kMaxFrameOctets, PCAP_TSTAMP_PRECISION_NANO));
  RAILYARD_ASSERT(kind != nullptr, "out of memory for a capture file");
  std::unique_ptr<pcap_dumper, CloseDump> dump(pcap_dump_fopen(kind.get(), file));
  if (dump == nullptr)  // `file` is closed
    return std::unexpected("cannot write " + path.string() + ": " + pcap_geterr(kind.get()));
  return PcapWriter(std::move(dump), path);
}

void PcapWriter::write(Instant at, std::span<const std::span<const std::byte>> pieces) {
  RAILYARD_ASSERT(dump_ != nullptr, "written after close()");
  RAILYARD_ASSERT(at >= Instant{}, "a frame from before the run began");
  if (error_ != 0) return;
  frame_.clear();
  for (const auto piece : pieces) frame_.insert(frame_.end(), piece.begin(), piece.end());
  RAILYARD_ASSERT(frame_.size() <= kMaxFrameOctets, "a frame longer than a pcap file holds");

  pcap_pkthdr header{};
  header.ts.tv_sec = at.ps / kPicosecondsPerSecond;
  header.ts.tv_usec = at.ps % kPicosecondsPerSecond / 1000;  // nanoseconds, as the dump was told
  header.caplen = header.len = static_cast<bpf_u_int32>(frame_.size());
  // pcap_dump takes its FILE as u_char, and octets as u_char too.
  pcap_dump(reinterpret_cast<u_char*>(dump_.get()), &header, reinterpret_cast<const u_char*>(frame_.data()));
  if (std::ferror(pcap_dump_file(dump_.get())) != 0) error_ = errno;
}

std::expected<void, std::string> PcapWriter::close() {
  if (dump_ != nullptr) {
    if (pcap_dump_flush(dump_.get()) != 0 && error_ == 0) error_ = errno;
    dump_.reset();
  }
  if (error_ != 0) return std::unexpected("cannot write " + path_.string() + ": " + std::generic_category().message(error_));
  return {};
}

}  // namespace railyard
