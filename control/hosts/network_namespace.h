// Network namespaces by name, as `ip netns` knows them: a name is a file in /var/run/netns.
#pragma once

#include <functional>
#include <string>

namespace railyard::hosts {

// "/var/run/netns/NAME".
std::string namespace_path(const std::string& name);

bool namespace_exists(const std::string& name);

// Calls `action` in a thread of its own that is in the namespace `name`, and returns when it has returned: sockets that
// it opens stay there, /proc/sys/net is that of the namespace. What `action` throws is thrown here. Throws HostsError
// if there is no such namespace, or for want of privileges (CAP_SYS_ADMIN).
void in_namespace(const std::string& name, const std::function<void()>& action);

// Removes the name. The namespace goes, with all its interfaces, when no process or socket is in it any more. Nothing
// happens if there is none. Throws HostsError.
void remove_namespace(const std::string& name);

}  // namespace railyard::hosts
