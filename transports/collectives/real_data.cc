#include "transports/collectives/real_data.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "dataplane/base/hash.h"

namespace railyard {
namespace {

struct Terms {
  std::uint64_t a;
  std::uint64_t b;
};
Terms terms(std::uint64_t seed, std::uint64_t element) noexcept {
  const std::uint64_t m = mix64(seed + element);
  return {m | 1, std::rotl(m, 32)};
}

// Modulo 2^64; the low octets are the sum modulo 2^32, too.
void store(std::byte* to, std::uint64_t value, std::uint32_t octets) noexcept {
  if (octets == 4) {
    const auto low = static_cast<std::uint32_t>(value);
    std::memcpy(to, &low, 4);
  } else {
    std::memcpy(to, &value, 8);
  }
}

template <class T>
void add_elements(std::byte* to, const std::byte* from, std::uint32_t octets) noexcept {
  for (std::uint32_t i = 0; i + sizeof(T) <= octets; i += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, to + i, sizeof(T));
    std::memcpy(&b, from + i, sizeof(T));
    a = static_cast<T>(a + b);
    std::memcpy(to + i, &a, sizeof(T));
  }
}

}  // namespace

RealData::RealData(const RankProgram& program, const CollectiveConfig& config, std::uint32_t copies)
    : element_(config.element),
      copies_(copies),
      stride_(program.data_octets + program.staging_octets),
      seed_(mix64(config.seed ^ mix64(config.index + 1))),
      memory_(stride_ * copies) {}

std::uint64_t RealData::factor(std::uint32_t rank, std::uint32_t repeat) const noexcept {
  return mix64(seed_ + (std::uint64_t{repeat} << 32 | rank));
}

void RealData::begin(const RankProgram& program, std::uint32_t repeat) {
  std::byte* const data = memory_.data() + base(repeat);
  // What a reducer added two repeats ago. Of what it only passes on, some may be there already.
  if (program.reducer_latency)
    for (const CollectiveStep& s : program.steps)
      if (s.kind == CollectiveStep::Kind::kReduce) std::fill_n(data + s.offset, s.octets, std::byte{});
  for (const CollectiveExtent& e : program.inputs) {
    const std::uint64_t s = factor(e.rank, repeat);
    for (std::uint64_t o = 0; o < e.octets; o += element_) {
      const Terms t = terms(seed_, (e.source_offset + o) / element_);
      store(data + e.offset + o, s * t.a + t.b, element_);
    }
  }
}

void RealData::add(const CollectiveStep& receive, std::uint32_t repeat) noexcept {
  std::byte* const data = memory_.data() + base(repeat);
  if (element_ == 4)
    add_elements<std::uint32_t>(data + receive.offset, data + receive.place, receive.octets);
  else
    add_elements<std::uint64_t>(data + receive.offset, data + receive.place, receive.octets);
}

void RealData::verify(const RankProgram& program, std::uint32_t repeat, WrongData& wrong) const {
  const std::byte* const data = memory_.data() + base(repeat);
  for (const CollectiveExtent& e : program.results) {
    if (!program.goes(e.occasion, repeat)) continue;
    std::uint64_t s = 0;
    std::uint64_t times = 1;
    if (!e.is_sum()) {
      s = factor(e.rank, repeat);
    } else if (e.rank == CollectiveExtent::kSum) {
      times = program.ranks;
      for (std::uint32_t r = 0; r < program.ranks; ++r) s += factor(r, repeat);
    } else {
      const std::vector<std::uint32_t>& group = (*program.groups)[e.group()];
      times = group.size();
      for (const std::uint32_t r : group) s += factor(r, repeat);
    }
    for (std::uint64_t o = 0; o < e.octets; o += element_) {
      const Terms t = terms(seed_, (e.source_offset + o) / element_);
      std::byte expected[8];
      store(expected, s * t.a + times * t.b, element_);
      if (std::memcmp(data + e.offset + o, expected, element_) == 0) [[likely]]
        continue;
      if (wrong.octets == 0) wrong = {0, repeat, e.offset + o, 0, 0};
      for (std::uint32_t i = 0; i < element_; ++i) wrong.octets += data[e.offset + o + i] != expected[i] ? 1 : 0;
    }
  }
}

}  // namespace railyard
