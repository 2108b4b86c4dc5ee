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

// For each class of destinations with several next hops, and each of these: when the best of the ports by which the
// switch there goes on to the destination will have sent all that waits in it. A report is some microseconds old when
// it is heard, and the next one comes later still: what was reported is taken to drain meanwhile, as it does if nobody
// adds to it. Believing it to stand until told otherwise would have all switches leave a path together, and return
// together. Which ports lead there is no matter of reports: routing knows the next-next hops
// (draft-ietf-idr-next-next-hop-nodes). Reading is one load per member.
class RemoteQuality {
 public:
  // Nothing can be sent on from there.
  static constexpr Instant kNoWay = Instant::never();
  // What is left of a queue at `now`, in 1/256 ns as PortLoad::drain(), less than half a percent more.
  static constexpr std::uint64_t drain(Instant gone, Instant now) noexcept {
    return gone > now ? static_cast<std::uint64_t>((gone - now).ps) * 263 >> 10 : 0;
  }

  // What the switch at each port's far end forwards by, nullptr: none, or none that reports. Of the same FecTable as
  // `own`, which has `fecs` classes. Forgets everything that was heard.
  void set_tables(const ForwardingTable& own, std::size_t fecs,
                  std::span<const std::shared_ptr<const ForwardingTable>> beyond);

  // By member of the group that leads to `fec`; nullptr: nobody reports at all.
  const Instant* to(Fec fec) const noexcept {
    return gone_.data() + (fec.index() < rows_.size() ? rows_[fec.index()] : 0);
  }

  bool listens(PortIndex port) const noexcept {
    return port.index() < neighbours_.size() && !neighbours_[port.index()].beyond.empty();
  }
  // A report that the switch at `port` sent at `said`, heard at `now`. Ports that it names and that lead nowhere are
  // ignored.
  void hear(Instant now, Instant said, PortIndex port, const wire::QualityReport& report);
  // The link of `port` is down: all that was heard there is void.
  void forget(PortIndex port);
  // Whether anything that was heard there still counts, or did until it had drained.
  bool believes(PortIndex port) const noexcept;

 private:
  // One group of next hops of a neighbour: its ports, and where in gone_ the best of them is kept.
  struct Beyond {
    std::uint32_t group;  // NextHops::first there
    std::vector<std::uint16_t> ports;
    std::vector<std::uint32_t> places;
  };
  struct Neighbour {
    std::vector<Beyond> beyond;
    std::vector<Instant> heard;  // by port there
  };

  void settle(Neighbour& neighbour);

  std::vector<std::uint32_t> rows_;    // by class: where its members begin in gone_
  std::vector<Instant> gone_;          // the first row is of those about whom nobody reports
  std::vector<Neighbour> neighbours_;  // by port
};

}  // namespace railyard
