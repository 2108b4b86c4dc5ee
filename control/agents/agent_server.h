// Where agents come to: a UNIX socket and, if wanted, a TCP port, on a thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "control/agents/agent_hosts.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard::agents {

struct AgentServerConfig {
  std::string socket;                         // path, made with mode 0600; at most 107 octets
  std::optional<wire::UdpEndpoint> listen{};  // TCP
  std::size_t most_clients = 64;              // more are turned away
  std::chrono::milliseconds greeting{5'000};  // in which a client must say who it is
  std::chrono::milliseconds patience = kPatience;
  std::chrono::milliseconds tick{500};
};

// What a client does wrong, or slowly, costs its own connection only.
class AgentServer {
 public:
  // Listens at once. Throws std::runtime_error with the address and why. `hosts` outlives it.
  AgentServer(const AgentServerConfig& config, AgentHosts& hosts);
  // Ends all connections and removes the socket.
  ~AgentServer();
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace railyard::agents
