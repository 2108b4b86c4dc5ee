// What makes one lab of another while it runs.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "control/spec/difference.h"
#include "control/spec/spec.h"
#include "dataplane/switch/switch_settings.h"

namespace railyard::build {

// Something that cannot become something else while a lab is up. The message names it.
class NotLive : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Made beside the running lab, of which it reads the spec only; then given to its devices, all at one instant.
class Changes {
 public:
  // From what `running` is, to `to`; `window` is that in which its engine runs it. Throws NotLive, or spec::SpecError
  // where the parts of `to` do not fit together, as BuiltLab does.
  Changes(const BuiltLab& running, spec::Lab to, Duration window);

  // What is different; nothing: give_to() does nothing.
  const std::vector<spec::Difference>& differences() const noexcept { return differences_; }

  // NICs that get another host. What stands behind them is the caller's to exchange, at the instant of give_to().
  struct Attached {
    spec::PortName nic;
    spec::Attachment from;
    spec::Attachment to;
  };
  const std::vector<Attached>& attachments() const noexcept { return attachments_; }

  // The devices of `running` change at `at`, before all other events of that instant, and its spec is `to` from now on.
  // Only while its engine rests; Engine::wake_all() must follow. Once.
  void give_to(BuiltLab& running, Instant at);

 private:
  struct LinkRate {
    PortRef port;
    BitRate rate;
  };
  struct OfSwitch {
    DeviceId device;
    SwitchSettings settings;
  };
  struct OfHost {
    DeviceId device;
    struct Nic {
      std::array<ClassScheduling, kPriorities> scheduling;
      PfcEnable pfc;
    };
    std::vector<Nic> nics;
  };
  struct FlowRate {
    std::size_t flow;
    BitRate rate;
  };

  void find_attachments(const BuiltLab& running, const spec::Lab& to);
  void refuse_what_is_not_live() const;
  void refuse_other_flows(const BuiltLab& running, const BuiltLab& fresh) const;
  void find_peers(const BuiltLab& running, BuiltLab& fresh);
  void find_link_rates(const BuiltLab& running, const BuiltLab& fresh, Duration window);
  void find_settings(const BuiltLab& running, BuiltLab& fresh);
  void find_transition(const BuiltLab& running, const BuiltLab& fresh);
  void find_flow_rates(const BuiltLab& running, const BuiltLab& fresh);

  // Who is behind a NIC, for itself and for the switch that it is connected to.
  struct Peer {
    PortRef nic;
    wire::MacAddress mac;
    std::optional<PortRef> of_switch;
    std::optional<wire::MacAddress> known;  // by the switch
  };

  std::vector<spec::Difference> differences_;
  std::vector<Attached> attachments_;
  std::vector<Peer> peers_;
  std::vector<LinkRate> link_rates_;
  std::vector<OfSwitch> switches_;
  std::vector<OfHost> hosts_;
  std::vector<FlowRate> flow_rates_;
  std::vector<FlowRate> agent_flow_rates_;  // of built-in sources; indexes into agent_flows()
  spec::Lab to_;
  std::vector<Headroom> headrooms_;
};

}  // namespace railyard::build
