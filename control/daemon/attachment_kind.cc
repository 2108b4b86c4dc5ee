#include "control/daemon/attachment_kind.h"

#include <variant>

namespace railyard::daemon {

std::string kind_of(const spec::Attachment& attach) {
  struct Kind {
    std::string operator()(std::monostate) const { return "built-in"; }
    std::string operator()(const spec::AttachPcap&) const { return "pcap"; }
    std::string operator()(const spec::AttachVhostUser& a) const {
      return a.is_client ? "vhost-user-client" : "vhost-user";
    }
    std::string operator()(const spec::AttachMemif&) const { return "memif"; }
    std::string operator()(const spec::AttachDpdk&) const { return "dpdk"; }
    std::string operator()(const spec::AttachNamespace&) const { return "namespace"; }
    std::string operator()(const spec::AttachVm&) const { return "vm"; }
    std::string operator()(const spec::AttachApplication&) const { return "application"; }
    std::string operator()(const spec::AttachTap&) const { return "tap"; }
    std::string operator()(const spec::AttachNetdev&) const { return "netdev"; }
  };
  return std::visit(Kind{}, attach);
}

}  // namespace railyard::daemon
