// What lies behind the next switches, as they have reported it: the remote half of global load balancing, known from
// Broadcom's GLB ("Global Load Balancing") and Juniper's Junos of the same name. A local queue says nothing of a link
// that is slow or collided upon one hop further.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/switch/forwarding_table.h"
#include "dataplane/wire/quality_report.h"

namespace railyard {

// For each class of destinations with several next hops, and each of these: how long the best of the ports by which the
// switch there goes on to the destination takes to drain. Which ports these are is no matter of reports: routing knows
// the next-next hops (draft-ietf-idr-next-next-hop-nodes). Reading is one load per member.
class RemoteQuality {
 public:
  // Nothing can be sent on from there. Otherwise a drain time in 1/256 ns, as PortLoad::drain().
  static constexpr std::uint32_t kNoWay = ~std::uint32_t{0};

  // What the switch at each port's far end forwards by, nullptr: none, or none that reports. Of the same FecTable as
  // `own`, which has `fecs` classes. Forgets everything that was heard.
  void set_tables(const ForwardingTable& own, std::size_t fecs,
                  std::span<const std::shared_ptr<const ForwardingTable>> beyond);

  // By member of the group that leads to `fec`.
  const std::uint32_t* to(Fec fec) const noexcept {
    return drains_.data() + (fec.index() < rows_.size() ? rows_[fec.index()] : 0);
  }

  bool listens(PortIndex port) const noexcept {
    return port.index() < neighbours_.size() && !neighbours_[port.index()].beyond.empty();
  }
  // A report of the switch at `port`. Ports that it names and that lead nowhere are ignored.
  void hear(Instant now, PortIndex port, const wire::QualityReport& report);
  // The link of `port` is down: all that was heard there is void.
  void forget(PortIndex port);
  // Forgets bands that have outlived their lifetime; that a link is down holds until something else is said.
  void expire(Instant now);
  // When expire() is called next; Instant::never() if nothing can expire.
  Instant expires() const noexcept { return expires_; }

 private:
  // One group of next hops of a neighbour: its ports, and where in drains_ the best of them is kept.
  struct Beyond {
    std::uint32_t group;  // NextHops::first there
    std::vector<std::uint16_t> ports;
    std::vector<std::uint32_t> places;
  };
  struct Neighbour {
    std::vector<Beyond> beyond;
    std::vector<std::uint32_t> heard;  // by port there
    Instant until = Instant::never();  // bands in `heard` are valid; never: there are none
  };

  void settle(Neighbour& neighbour);
  void find_next_expiry() noexcept;

  std::vector<std::uint32_t> rows_;    // by class: where its members begin in drains_
  std::vector<std::uint32_t> drains_;  // the first row is of those about whom nobody reports: zeros
  std::vector<Neighbour> neighbours_;  // by port
  Instant expires_ = Instant::never();
};

}  // namespace railyard
