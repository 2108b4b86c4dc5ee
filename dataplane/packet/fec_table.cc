#include "dataplane/packet/fec_table.h"

#include <algorithm>

namespace railyard {
namespace {

// The last address of a prefix, and the one after an address; wraps to the all-zero address at the end of the space.
wire::IpAddress last_of(const wire::IpPrefix& prefix) {
  wire::IpAddress a = prefix.address;
  for (std::size_t bit = prefix.length; bit < 128; ++bit)
    a.octets[bit / 8] = static_cast<std::uint8_t>(a.octets[bit / 8] | (0x80u >> (bit % 8)));
  return a;
}

wire::IpAddress after(wire::IpAddress a) {
  for (std::size_t i = a.octets.size(); i-- > 0;)
    if (++a.octets[i] != 0) break;
  return a;
}

}  // namespace

FecTable::FecTable(std::vector<wire::IpPrefix> prefixes) : prefixes_(std::move(prefixes)) {
  // Sorted by address, then by length: a prefix comes after those that contain it and before those it contains.
  std::sort(prefixes_.begin(), prefixes_.end());
  prefixes_.erase(std::unique(prefixes_.begin(), prefixes_.end()), prefixes_.end());

  const auto open_range = [&](const wire::IpAddress& first, Fec fec) {
    if (!ranges_.empty() && ranges_.back().first == first)
      ranges_.back().fec = fec;
    else
      ranges_.push_back({first, fec});
  };
  std::vector<std::uint32_t> open;  // prefixes that contain the place reached, the longest last
  const auto close_before = [&](const wire::IpAddress* next) {
    while (!open.empty()) {
      const wire::IpAddress last = last_of(prefixes_[open.back()]);
      if (next != nullptr && last >= *next) return;
      open.pop_back();
      const wire::IpAddress rest = after(last);
      if (rest != wire::IpAddress{}) open_range(rest, open.empty() ? kNoFec : Fec{open.back()});
    }
  };
  open_range(wire::IpAddress{}, kNoFec);
  parents_.reserve(prefixes_.size());
  for (std::uint32_t i = 0; i < prefixes_.size(); ++i) {
    close_before(&prefixes_[i].address);
    open_range(prefixes_[i].address, Fec{i});
    parents_.push_back(open.empty() ? kNoFec : Fec{open.back()});
    open.push_back(i);
  }
  close_before(nullptr);
}

Fec FecTable::lookup(const wire::IpAddress& address) const noexcept {
  const auto above = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](const wire::IpAddress& a, const Range& r) { return a < r.first; });
  return std::prev(above)->fec;  // the first range begins at ::
}

Fec FecTable::find(const wire::IpPrefix& prefix) const noexcept {
  const auto at = std::lower_bound(prefixes_.begin(), prefixes_.end(), prefix);
  if (at == prefixes_.end() || *at != prefix) return kNoFec;
  return Fec{static_cast<std::uint32_t>(at - prefixes_.begin())};
}

}  // namespace railyard
