// A live lab over several machines: where its parts run, and what joins them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/spec/attachment_spec.h"
#include "control/spec/place.h"
#include "dataplane/base/time.h"
#include "dataplane/wire/address.h"

namespace railyard::spec {

struct Lab;

// A machine that runs a part of the lab in a daemon of its own.
struct SiteSpec {
  static constexpr int kFirstPort = 4800;

  std::optional<wire::IpAddress> address;  // of trunks over UDP
  int port = kFirstPort;                   // the first UDP port; each trunk has one
  std::string ssh;                         // how it is reached: [USER@]HOST; empty: its address
  std::vector<std::string> nodes;          // patterns; nodes that fit none are placed automatically
  // Ports of this machine that lead to another site, by the site's name: the i-th trunk between the two uses the i-th
  // port of both. Those beyond use UDP.
  std::map<std::string, std::vector<Attachment>> ports;
  Place place;

  bool operator==(const SiteSpec&) const = default;
};

// Links between sites.
struct TrunksSpec {
  std::optional<Duration> delay;      // propagation of those that are shorter; nothing: they stay as they are
  Duration timeout{300'000'000'000};  // TrunkSpec::timeout

  bool operator==(const TrunksSpec&) const = default;
};

// At one of several sites: the whole lab, as routing has to see it. Its first nodes are those of the site's own lab, in
// the same order; then come those at other sites. No part of what a lab says.
struct WholeLab {
  std::shared_ptr<const Lab> lab;  // nullptr: the lab is whole

  bool operator==(const WholeLab&) const noexcept { return true; }
};

}  // namespace railyard::spec
