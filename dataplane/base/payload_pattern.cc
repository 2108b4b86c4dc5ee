#include "dataplane/base/payload_pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dataplane/base/hash.h"

namespace railyard {
namespace {

// One period of the table plus the longest run copied from it at once, so that a run never wraps.
constexpr std::size_t kPeriod = 4096;
constexpr std::size_t kStamp = 8;

struct Table {
  alignas(64) std::array<std::byte, 2 * kPeriod> octets;
  Table() {
    for (std::size_t i = 0; i < octets.size(); i += 8) {
      const std::uint64_t word = mix64(0x7261696C79617264ull + (i % kPeriod));
      std::memcpy(octets.data() + i, &word, 8);
    }
  }
};
const Table kTable;

using Stamp = std::array<std::byte, kStamp>;

Stamp stamp_at(std::uint64_t stream, std::uint64_t offset) noexcept {
  const std::uint64_t word = mix64(mix64(stream) + offset);
  Stamp stamp;
  std::memcpy(stamp.data(), &word, kStamp);
  return stamp;
}

// The part of a stamp that begins at `at` which lies in [from, to): where in the stamp, and how long.
struct Overlap {
  std::size_t skip;
  std::size_t length;
};
Overlap overlap(std::uint64_t at, std::uint64_t from, std::uint64_t to) noexcept {
  const std::uint64_t begin = std::max(at, from);
  const std::uint64_t end = std::min(at + kStamp, to);
  return {static_cast<std::size_t>(begin - at), begin < end ? static_cast<std::size_t>(end - begin) : 0};
}

// Calls f(table octets, place in the range, length) for runs of the table, then g(stamp octets, place, length).
template <class Runs, class Stamps>
bool walk(std::uint64_t stream, std::uint64_t offset, std::size_t n, Runs runs, Stamps stamps) {
  for (std::size_t done = 0; done < n;) {
    const std::size_t in_table = static_cast<std::size_t>((offset + done) % kPeriod);
    const std::size_t run = std::min(n - done, kPeriod);
    if (!runs(kTable.octets.data() + in_table, done, run)) return false;
    done += run;
  }
  const std::uint64_t end = offset + n;
  std::uint64_t at = offset - offset % kPayloadStampEvery;
  // Counted in blocks: `at` wraps after the last block before 2^64.
  for (std::uint64_t left = (offset - at + n + kPayloadStampEvery - 1) / kPayloadStampEvery; left > 0;
       --left, at += kPayloadStampEvery) {
    const Overlap o = overlap(at, offset, end);
    if (o.length == 0) continue;
    const Stamp stamp = stamp_at(stream, at);
    if (!stamps(stamp.data() + o.skip, static_cast<std::size_t>(at + o.skip - offset), o.length)) return false;
  }
  return true;
}

}  // namespace

void fill_payload(std::uint64_t stream, std::uint64_t offset, std::span<std::byte> out) noexcept {
  const auto copy = [&](const std::byte* from, std::size_t place, std::size_t n) {
    std::memcpy(out.data() + place, from, n);
    return true;
  };
  walk(stream, offset, out.size(), copy, copy);
}

bool payload_matches(std::uint64_t stream, std::uint64_t offset, std::span<const std::byte> octets) noexcept {
  // Between two stamps the table's octets must stand; a stamp's octets are compared with the stamp alone.
  const std::uint64_t end = offset + octets.size();
  std::uint64_t at = offset;
  while (at < end) {
    const std::uint64_t block = at - at % kPayloadStampEvery;
    const Overlap o = overlap(block, at, end);
    if (o.length > 0) {
      const Stamp stamp = stamp_at(stream, block);
      if (std::memcmp(octets.data() + (at - offset), stamp.data() + o.skip, o.length) != 0) return false;
      at += o.length;
      if (at >= end) return true;
    }
    const std::size_t n = static_cast<std::size_t>(std::min(kPayloadStampEvery - (at - block), end - at));
    if (std::memcmp(octets.data() + (at - offset), kTable.octets.data() + at % kPeriod, n) != 0) return false;
    at += n;
  }
  return true;
}

}  // namespace railyard
