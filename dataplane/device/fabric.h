// Devices and the channels between them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/base/device_wake.h"
#include "dataplane/base/framing.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/base/units.h"
#include "dataplane/device/channel.h"
#include "dataplane/device/device.h"

namespace railyard {

// One end of a link.
struct PortRef {
  DeviceId device;
  PortIndex port;

  auto operator<=>(const PortRef&) const = default;
};

// A full-duplex link.
struct Link {
  PortRef a;
  PortRef b;
  BitRate rate{};
  Duration propagation{};  // one way
  Framing framing = {};
  std::optional<LinkRetryConfig> retry = {};  // LLR, in both directions
  // CBFC: what each end has set aside for what comes in there, of the same classes; both or none.
  std::optional<CreditConfig> credits_at_a = {};
  std::optional<CreditConfig> credits_at_b = {};
};

// What a device has another one do, which they share besides links (SharedWork): `lookahead` later at the earliest.
struct SideLink {
  DeviceId from;
  DeviceId to;
  Duration lookahead{};
  std::shared_ptr<DeviceWake> wake;
};

class Fabric {
 public:
  // Makes a device of type D from its id, `name` and `args`.
  template <class D, class... Args>
  D& add(std::string name, Args&&... args) {
    auto device = std::make_unique<D>(next_id(), std::move(name), std::forward<Args>(args)...);
    D& added = *device;
    devices_.push_back(std::move(device));
    return added;
  }
  // The id that the next device will get.
  DeviceId next_id() const noexcept { return {static_cast<std::uint32_t>(devices_.size())}; }

  // Connects two ports that are not connected yet. `link.rate` > 0.
  void connect(const Link& link);
  // `link.lookahead` > 0.
  void add_side_link(SideLink link) { side_links_.push_back(std::move(link)); }

  std::size_t size() const noexcept { return devices_.size(); }
  Device& operator[](DeviceId id) noexcept { return *devices_[id.index()]; }
  const Device& operator[](DeviceId id) const noexcept { return *devices_[id.index()]; }
  std::span<const std::unique_ptr<Device>> devices() const noexcept { return devices_; }
  const std::vector<Link>& links() const noexcept { return links_; }
  const std::vector<SideLink>& side_links() const noexcept { return side_links_; }
  std::deque<Channel>& channels() noexcept { return channels_; }
  // The sender of channel i.
  PortRef sender(std::size_t channel) const noexcept { return senders_[channel]; }

  // The window that all devices may run ahead: the least lookahead of any channel or side link, and the channel that has
  // the least of channels, or the side link if that has less.
  struct Window {
    Duration size = Duration{Instant::never().ps};
    std::size_t channel = 0;
    const SideLink* side = nullptr;
  };
  Window window() const noexcept;

  // Has `act` called after each window of whatever engine runs the fabric, when all devices rest: it may give devices
  // changes, a window and more after what they follow from, and says whether it has.
  void between_windows(std::function<bool()> act) { between_windows_.push_back(std::move(act)); }
  // Calls them. Returns whether any has given changes.
  bool act_between_windows() {
    bool any = false;
    for (const std::function<bool()>& act : between_windows_) any = act() || any;
    return any;
  }

  // What acts between windows and rests on what devices have noted, where several processes run the fabric: each gives
  // what its own devices have noted since the last window, and takes what all others have, before any acts.
  struct Shared {
    std::function<void(StateArchive&)> give;
    std::function<void(StateArchive&)> take;
  };
  // `owner` has one at most: another takes its place.
  void share_between_windows(const void* owner, Shared shared);
  void share_no_more(const void* owner);
  struct SharedBy {
    const void* owner;
    Shared shared;
  };
  const std::vector<SharedBy>& shared() const noexcept { return shared_; }

  // Calls `see` for every packet in the fabric: held by a device or on the wire. Only while the engine rests. Of packets
  // in other processes it sees no headers, and only what exchange_packets() has taken.
  void for_each_packet(const std::function<void(const Packet&)>& see) const;
  // The packets of this process, without headers, to the others; and theirs from them, when each has been forgotten.
  void exchange_packets(StateArchive& archive);
  void forget_packets_elsewhere() { elsewhere_.clear(); }

  // The link of `port`, at both its ends, goes down or up at `at`.
  void link_down_at(Instant at, PortRef port);
  void link_up_at(Instant at, PortRef port);
  // The link of `port` has another rate from `at` on, in both directions: for frames whose transmission begins then or
  // later. Its lookahead() must stay as large as the window that an engine runs this fabric in. Only while it rests.
  void set_rate_at(Instant at, PortRef port, BitRate rate);
  PortRef peer(PortRef port) const;

 private:
  Channel& add_channel(PortRef from, PortRef to, const Link& link);

  std::vector<std::unique_ptr<Device>> devices_;
  std::deque<Channel> channels_;  // addresses stay
  std::vector<PortRef> senders_;
  std::vector<Link> links_;
  std::vector<SideLink> side_links_;
  std::vector<std::function<bool()>> between_windows_;
  std::vector<SharedBy> shared_;
  std::vector<Packet> elsewhere_;
};

}  // namespace railyard
