#include "dataplane/port/pcap_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>
#include <utility>

#include <pcap/pcap.h>

#include "dataplane/base/assert.h"
#include "dataplane/base/units.h"

namespace railyard {
namespace {

// The longest frame that libpcap reads back (its MAXIMUM_SNAPLEN).
constexpr int kMaxFrameOctets = 262'144;

struct ClosePcap {
  void operator()(pcap_t* pcap) const noexcept { pcap_close(pcap); }
};
using Pcap = std::unique_ptr<pcap_t, ClosePcap>;

std::string reason(int error) { return std::generic_category().message(error); }

std::expected<Pcap, std::string> open_capture(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return std::unexpected("cannot open " + path.string() + ": " + reason(errno));
  std::array<char, PCAP_ERRBUF_SIZE> why{};
  Pcap pcap(pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why.data()));
  if (pcap == nullptr) {
    std::fclose(file);
    return std::unexpected(path.string() + ": not a capture file (pcap or pcapng expected): " + why.data());
  }
  if (const int link_type = pcap_datalink(pcap.get()); link_type != DLT_EN10MB) {
    const char* known = pcap_datalink_val_to_name(link_type);
    return std::unexpected(path.string() + ": frames of link type " +
                           (known != nullptr ? std::string(known) : std::to_string(link_type)) +
                           ", Ethernet (EN10MB) expected");
  }
  return pcap;
}

// The time from `a` to `b`, whose tv_usec are nanoseconds here; picoseconds that may not fit a Duration.
Int128 picoseconds(const timeval& a, const timeval& b) noexcept {
  const Int128 seconds = static_cast<Int128>(b.tv_sec) - a.tv_sec;
  const Int128 nanoseconds = static_cast<Int128>(b.tv_usec) - a.tv_usec;
  return seconds * kPicosecondsPerSecond + nanoseconds * 1000;
}

}  // namespace

std::expected<std::vector<CapturedFrame>, std::string> read_pcap(const std::filesystem::path& path) {
  const std::expected<Pcap, std::string> pcap = open_capture(path);
  if (!pcap) return std::unexpected(pcap.error());

  std::vector<CapturedFrame> frames;
  const auto wrong = [&](const std::string& what) {
    return std::unexpected(path.string() + ": frame " + std::to_string(frames.size() + 1) + ": " + what);
  };
  timeval first{};
  for (;;) {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int result = pcap_next_ex(pcap->get(), &header, &data);
    if (result == PCAP_ERROR_BREAK) return frames;  // the end of the file
    if (result != 1) return wrong(pcap_geterr(pcap->get()));
    if (header->caplen != header->len) {
      return wrong("holds " + std::to_string(header->caplen) + " of its " + std::to_string(header->len) +
                   " octets (snap length " + std::to_string(pcap_snapshot(pcap->get())) + "), whole frames expected");
    }
    if (frames.empty()) first = header->ts;
    const Int128 since_first = picoseconds(first, header->ts);
    constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
    if (since_first >= kLongest || since_first <= -kLongest)
      return wrong("more than 106 days from the first frame, a shorter capture expected");
    const auto octets = std::as_bytes(std::span(data, header->caplen));
    frames.push_back({Instant{static_cast<std::int64_t>(since_first)}, {octets.begin(), octets.end()}});
  }
}

void PcapWriter::CloseDump::operator()(pcap_dumper* dump) const noexcept { pcap_dump_close(dump); }

PcapWriter::PcapWriter(std::unique_ptr<pcap_dumper, CloseDump> dump, std::filesystem::path path)
    : dump_(std::move(dump)), path_(std::move(path)) {}

std::expected<PcapWriter, std::string> PcapWriter::open(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return std::unexpected("cannot create " + path.string() + ": " + reason(errno));
  // Tells the link type and the resolution to the dump, which does not keep it.
  const Pcap kind(pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kMaxFrameOctets, PCAP_TSTAMP_PRECISION_NANO));
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
  if (error_ != 0) return std::unexpected("cannot write " + path_.string() + ": " + reason(error_));
  return {};
}

}  // namespace railyard
