// Which request of the API is what of a lab.
#pragma once

#include <functional>

#include "control/api/message.h"
#include "control/daemon/live_lab.h"

namespace railyard::daemon {

//   GET  /lab                  what it is
//   GET  /status               everything that is counted
//   GET  /audit                whether the books balance, at one instant
//   GET  /pauses               who pauses whom: now, and since the lab came up; deadlocks
//   GET  /collectives          collective operations as in a report, with their agents; who has joined
//   GET  /flows                flows as in a report, with those of agents
//   GET  /report               the files of a report of what was counted so far: report.json, report.html, ...
//   GET  /agents/HOST          where the agent of a host gets in, and with which token
//   GET  /series               the time series of all queues that is being written, if any
//   POST /series {file, every} writes one: {"file": "/tmp/queues.csv", "every": "100us"}
//   DELETE /series             ends it
//   GET  /int                  in-band telemetry, if it is or was recorded: as in a report, and as text
//   POST /int    {what, file}  records it: {"what": "{ one-in: 100, classes: 3 }"} as in run.int; {"file": ...} if
//   wanted DELETE /int                ends it GET  /hosts/NAME           how a host is reached POST /restart {host} has
//   a virtual machine booted anew; GET /hosts/NAME tells when it is up POST /links {link, up}     takes a link down or
//   up: {"link": "leaf1:3", "up": false} POST /hold {on}            simulated time stands still, or goes on GET
//   /captures             those that run POST /captures {port, ...} captures a port: answers with the socket that gives
//   the pcapng; see captures.h DELETE /captures/ID        ends one GET  /settings             what can be set while it
//   is up, with present values GET  /settings/PATH        one of them, or all below a path POST /settings {set} sets:
//   {"set": ["qos.default.classes.3.ecn.kmin=100KB", ...]}, all at one instant GET  /replays, /replays/ID those that
//   run, or have sent all; one of them POST /replays {file, at, ...} has a host's NIC send the frames of a capture
//   file; see replays.h DELETE /replays/ID         stops one, forgets it POST /down                 ends the lab
// Throws api::ApiError.
api::Response route(LiveLab& lab, const std::function<void()>& down, const api::Request& request);

// What anybody on this machine may ask without a token: GET /metrics, for Prometheus. Throws api::ApiError.
api::Response public_route(const LiveLab& lab, const api::Request& request);

}  // namespace railyard::daemon
