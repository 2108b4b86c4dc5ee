// All destinations of the fabric as forwarding equivalence classes: longest prefix match once per packet, at the edge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/wire/address.h"

namespace railyard {

// The union of the prefixes of all switches, numbered. The longest of them that covers an address, P, decides how every
// switch forwards it: each prefix of a switch that covers the address is in the union, so it covers P as well, and the
// switch's longest match for the address is its longest match for P. A packet is therefore looked up once, where it
// enters the fabric, and each switch reads its table at the class's number.
//
// Immutable once built; shared by all devices. Lookup is a binary search over the disjoint ranges that the prefixes
// flatten to (Lampson, Srinivasan, Varghese, INFOCOM 1998).
class FecTable {
 public:
  FecTable() : FecTable(std::vector<wire::IpPrefix>{}) {}
  // Duplicates count once.
  explicit FecTable(std::vector<wire::IpPrefix> prefixes);

  // The class of `address`, kNoFec if no prefix covers it.
  Fec lookup(const wire::IpAddress& address) const noexcept;

  std::size_t size() const noexcept { return prefixes_.size(); }
  // The class that stands for `prefix` itself, kNoFec if none does.
  Fec find(const wire::IpPrefix& prefix) const noexcept;
  // The class of the longest prefix that contains that of `fec`, kNoFec if none does; its number is the lower one.
  Fec parent(Fec fec) const noexcept { return parents_[fec.index()]; }
  // The prefix that class `fec` stands for; `fec` < size().
  const wire::IpPrefix& prefix(Fec fec) const noexcept { return prefixes_[fec.index()]; }

 private:
  struct Range {
    wire::IpAddress first;  // ends before the next one's first
    Fec fec;
  };
  std::vector<wire::IpPrefix> prefixes_;  // sorted: one comes after those that contain it
  std::vector<Fec> parents_;
  std::vector<Range> ranges_;
};

}  // namespace railyard
