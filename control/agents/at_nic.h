// Changes to what is behind a NIC of a lab that runs.
#pragma once

#include <functional>
#include <utility>

#include "control/build/built_lab.h"
#include "dataplane/base/time.h"

namespace railyard::agents {

// By the NIC's own host, at that instant; the NIC is told. By the engine's thread.
inline void change_at_nic(build::BuiltLab& lab, Instant at, const spec::PortName& nic,
                          std::function<void(Instant)> what) {
  railyard::Host& host = lab.host(nic.node);
  host.change_at(at, [&host, port = lab.port(nic).port, what = std::move(what)](Instant now) {
    what(now);
    host.endpoint_changed(now, port);
  });
}

}  // namespace railyard::agents
