#include "control/plan/switch_choice.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/shipped.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "control/spec/yaml/parse.h"

namespace railyard::plan {
namespace {

constexpr const char* kUsualAsic = "tomahawk4-64x400";

struct Chip {
  std::string name;
  spec::SwitchProfile profile;

  std::int64_t capacity() const { return profile.port_rate.bps * profile.ports; }
  // Deep buffers are no measure for other chips.
  bool is_deep() const { return profile.buffer > Bytes{1'000'000'000}; }
};

// The shipped ones, read once.
const std::vector<Chip>& chips() {
  static const std::vector<Chip> all = [] {
    std::vector<Chip> out;
    for (const spec::ShippedFile& f : spec::asic_profiles()) {
      Chip& c = out.emplace_back(Chip{std::string(f.name), {}});
      spec::switch_keys().read(spec::parse_yaml(std::string(f.text), std::string(f.name)), c.profile);
    }
    return out;
  }();
  return all;
}

[[noreturn]] void fail_switch(const char* option, const std::string& what) {
  throw spec::SpecError(spec::Place{.file = std::string("--") + option}, what);
}

}  // namespace

SwitchChoice choose_switch(const Request& r) {
  SwitchChoice out;
  const bool by_numbers = r.radix || r.capacity || r.port_rate;
  const std::string wanted = !r.asic.empty() ? r.asic : by_numbers ? "" : kUsualAsic;
  const Chip* nearest = nullptr;
  for (const Chip& c : chips())
    if (c.name == wanted) nearest = &c;
  if (nearest != nullptr) out.profile = nearest->profile;
  out.port_rate = r.port_rate.value_or(nearest != nullptr ? out.profile.port_rate : r.nic_rate());
  if (r.capacity) {
    out.radix = static_cast<int>(r.capacity->bps / out.port_rate.bps);
    if (out.radix < 4)
      fail_switch("capacity", fmt::format("{} are {} ports of {}; expected 4 ports or more", spec::format(*r.capacity),
                                          out.radix, spec::format(out.port_rate)));
  } else if (r.radix) {
    out.radix = *r.radix;
  } else if (nearest != nullptr) {
    // Its capacity, in ports of the rate that is wanted.
    out.radix = static_cast<int>(nearest->capacity() / out.port_rate.bps);
  } else {
    constexpr int kUsualRadix = 64;
    out.radix = kUsualRadix;
  }
  if (nearest == nullptr) {
    std::int64_t off = 0;
    for (const Chip& c : chips()) {
      const std::int64_t d = std::llabs(c.capacity() - out.capacity().bps);
      if (c.is_deep() || (nearest != nullptr && d >= off)) continue;
      nearest = &c;
      off = d;
    }
    // Of several with the same capacity the one with these ports.
    for (const Chip& c : chips())
      if (c.profile.ports == out.radix && c.profile.port_rate == out.port_rate) nearest = &c;
    out.profile = nearest->profile;
  }
  out.asic = nearest->name;
  out.is_asic = out.profile.ports == out.radix && out.profile.port_rate == out.port_rate;
  if (r.nic_rate().bps > out.port_rate.bps)
    fail_switch("nic-rate",
                fmt::format("NICs of {}, but switch ports of {}; expected {} or less, or a faster port-rate",
                            spec::format(r.nic_rate()), spec::format(out.port_rate), spec::format(out.port_rate)));
  return out;
}

BitRate largest_capacity(BitRate port_rate) {
  std::int64_t most = 0;
  for (const Chip& c : chips())
    if (c.profile.port_rate >= port_rate && !c.is_deep()) most = std::max(most, c.capacity());
  return {most};
}

}  // namespace railyard::plan
