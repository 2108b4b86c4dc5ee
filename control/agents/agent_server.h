// Where agents come to: a UNIX socket and, if wanted, a TCP port, on a thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "control/agents/agent_hosts.h"
#include "dataplane/wire/udp_endpoint.h"

namespace railyard::agents {

struct AgentServerConfig {
  std::string socket;                         // path, made with mode 0600; at most 107 octets
  std::optional<wire::UdpEndpoint> listen{};  // TCP
  std::size_t most_clients = 64;              // agents; more are turned away
  std::size_t most_strangers = 64;            // clients that have not joined; for a new one the oldest must go
  std::size_t most_of_address = 8;            // of those from one address
  std::chrono::milliseconds greeting{5'000};  // in which a client must say who it is
  // After a wrong token the next client of that address has its token looked at this much later; each further wrong one
  // doubles that, up to `slowest_guess`. A minute without a wrong one is forgiven.
  std::chrono::milliseconds first_guess{100};
  std::chrono::milliseconds slowest_guess{1'000};
  std::chrono::milliseconds patience = kPatience;
  std::chrono::milliseconds tick{500};
  // Told of refused clients, in one line a second at most.
  std::function<void(const std::string&)> log{};
};

// What a client does wrong, or slowly, costs its own connection only. Whoever has no token can neither keep agents out
// nor try many tokens: clients that have not joined are limited apart from agents and by address (IPv4, or the first 64
// bits of IPv6; the UNIX socket is one).
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
