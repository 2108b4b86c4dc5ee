#include "control/plan/switch_choice.h"

#include <cstdlib>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/shipped.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"
#include "control/spec/yaml/parse.h"

namespace railyard::plan {
namespace {

constexpr const char* kUsualAsic = "tomahawk4-64x400";

spec::SwitchProfile profile_of(const spec::ShippedFile& file) {
  spec::SwitchProfile profile;
  spec::switch_keys().read(spec::parse_yaml(std::string(file.text), std::string(file.name)), profile);
  return profile;
}

std::int64_t capacity_of(const spec::SwitchProfile& p) { return p.port_rate.bps * p.ports; }

[[noreturn]] void fail_switch(const char* option, const std::string& what) {
  throw spec::SpecError(spec::Place{.file = std::string("--") + option}, what);
}

// Deep buffers are no measure for other chips.
bool is_deep(const spec::SwitchProfile& p) { return p.buffer > Bytes{1'000'000'000}; }

}  // namespace

SwitchChoice choose_switch(const Request& r) {
  SwitchChoice out;
  const bool by_numbers = r.radix || r.capacity || r.port_rate;
  const std::string wanted = !r.asic.empty() ? r.asic : by_numbers ? "" : kUsualAsic;
  const spec::ShippedFile* nearest = nullptr;
  for (const spec::ShippedFile& f : spec::asic_profiles())
    if (f.name == wanted) nearest = &f;
  if (nearest != nullptr) out.profile = profile_of(*nearest);
  out.port_rate = r.port_rate.value_or(nearest != nullptr ? out.profile.port_rate : r.nic_rate);
  if (r.capacity) {
    out.radix = static_cast<int>(r.capacity->bps / out.port_rate.bps);
    if (out.radix < 4)
      fail_switch("capacity", fmt::format("{} are {} ports of {}; expected 4 ports or more", spec::format(*r.capacity),
                                          out.radix, spec::format(out.port_rate)));
  } else if (r.radix) {
    out.radix = *r.radix;
  } else if (nearest != nullptr) {
    // Its capacity, in ports of the rate that is wanted.
    out.radix = static_cast<int>(capacity_of(out.profile) / out.port_rate.bps);
  } else {
    constexpr int kUsualRadix = 64;
    out.radix = kUsualRadix;
  }
  if (nearest == nullptr) {
    std::int64_t off = 0;
    for (const spec::ShippedFile& f : spec::asic_profiles()) {
      const spec::SwitchProfile p = profile_of(f);
      const std::int64_t d = std::llabs(capacity_of(p) - out.capacity().bps);
      if (is_deep(p) || (nearest != nullptr && d >= off)) continue;
      // Of several with the same capacity the one with these ports.
      nearest = &f;
      off = d;
      out.profile = p;
    }
    for (const spec::ShippedFile& f : spec::asic_profiles()) {
      const spec::SwitchProfile p = profile_of(f);
      if (p.ports != out.radix || p.port_rate != out.port_rate) continue;
      nearest = &f;
      out.profile = p;
    }
  }
  out.asic = nearest->name;
  out.is_asic = out.profile.ports == out.radix && out.profile.port_rate == out.port_rate;
  if (r.nic_rate.bps > out.port_rate.bps)
    fail_switch("nic-rate",
                fmt::format("NICs of {}, but switch ports of {}; expected {} or less, or a faster port-rate",
                            spec::format(r.nic_rate), spec::format(out.port_rate), spec::format(out.port_rate)));
  return out;
}

}  // namespace railyard::plan
