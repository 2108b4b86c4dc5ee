// railyard-agent: this host's RDMA devices as ranks of a lab.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "control/agent_protocol/frames.h"
#include "tools/agent/agent.h"
#include "tools/agent/rdma_verbs.h"
#include "tools/agent/serve.h"

namespace railyard::agent {
namespace {

std::atomic<bool> stop{false};

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

int run(int argc, char** argv) {
  CLI::App app(
      "Joins a Railyard lab that is up: this host's RDMA devices, hardware or SoftRoCE, are ranks of its collectives",
      "railyard-agent");
  std::string lab;
  std::string token;
  std::string device;
  std::string name = host_name();
  bool list = false;
  app.add_option("--lab", lab, "The lab: HOST:PORT, unix:PATH, serial:PATH, or stdio for the standard streams");
  app.add_option("--token", token, "What the host's `agent: { token: ... }` says; better: $RAILYARD_AGENT_TOKEN")
      ->envname("RAILYARD_AGENT_TOKEN")
      ->take_last();
  app.add_option("--device", device, "This RDMA device only; without it all")->take_last();
  app.add_option("--name", name, "The host of the lab that this one is")->capture_default_str()->take_last();
  app.add_flag("--list", list, "Say what RDMA devices there are, and end");
  app.set_version_flag("--version", std::string(RAILYARD_VERSION));
  app.footer(
      "Ends when the lab does. `railyard agent HOST` starts it in a virtual machine of a lab.\n"
      "Exit codes: 0 the lab has ended, 1 something is wrong here or on the way, 2 wrong usage, 3 the lab refused.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  RdmaVerbs verbs(device);
  if (list) {
    const std::vector<agents::DevicePort> devices = verbs.devices();
    if (devices.empty()) fmt::print("no RDMA device with an Ethernet port\n");
    for (const agents::DevicePort& d : devices) {
      fmt::print("{} port {}: {}, MTU {}, {} QPs of {} work requests\n", d.device, d.port, d.state, d.active_mtu,
                 d.max_qps, d.max_work_requests);
      for (const wire::IpAddress& gid : d.gids) fmt::print("  {}\n", wire::to_string(gid));
    }
    return 0;
  }
  if (lab.empty() || token.empty()) {
    fmt::print(stderr, "railyard-agent: --lab and --token (or $RAILYARD_AGENT_TOKEN) are needed; --help says more\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction end{};
  end.sa_handler = [](int) { stop = true; };
  ::sigaction(SIGINT, &end, nullptr);
  ::sigaction(SIGTERM, &end, nullptr);
  Agent agent(verbs, {name, token, RAILYARD_VERSION});
  const LabStream stream = LabStream::open(lab);
  serve(agent, stream, stop, [](const std::string& line) { fmt::print(stderr, "railyard-agent: {}\n", line); });
  return 0;
}

}  // namespace
}  // namespace railyard::agent

int main(int argc, char** argv) {
  try {
    return railyard::agent::run(argc, argv);
  } catch (const railyard::agent::Agent::Refused& refused) {
    std::fprintf(stderr, "railyard-agent: the lab refuses: %s\n", refused.what());
    return 3;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "railyard-agent: --lab: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "railyard-agent: %s\n", error.what());
    return 1;
  }
}
