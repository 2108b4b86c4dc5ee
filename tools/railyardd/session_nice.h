// The daemon's priority among the sessions of this machine.
#pragma once

namespace railyard::tools {

// Gives the session that the daemon leads the daemon's own nice value. Linux shares the processors among sessions first
// (sched(7), "The autogroup feature"), so `nice railyard up` alone would change nothing. Does nothing in another's session, at
// nice value 0, or where there are no autogroups.
void share_nice_with_session() noexcept;

}  // namespace railyard::tools
