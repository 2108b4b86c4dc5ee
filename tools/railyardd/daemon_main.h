// railyardd: holds one lab that stays up. `railyard up` starts it. It is the same program as railyard under another name:
// both hold a whole dataplane, which is optimised when it is linked, for a minute.
#pragma once

namespace railyard::tools {

// The exit code, as railyard's (tools/README.md).
int daemon_main(int argc, char** argv);

}  // namespace railyard::tools
