// railyard-agent: this host's RDMA devices as ranks of a lab.
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "control/agent_protocol/frames.h"
#include "control/base/short_quote.h"
#include "control/base/standard_output.h"
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

std::shared_ptr<spdlog::logger> logger(const std::string& file, const std::string& level) {
  constexpr std::size_t kMostOctets = 4 << 20;
  constexpr std::size_t kOldFiles = 3;
  spdlog::sink_ptr sink;
  if (file.empty())
    sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
  else
    sink = std::make_shared<spdlog::sinks::rotating_file_sink_st>(file, kMostOctets, kOldFiles);
  auto log = std::make_shared<spdlog::logger>("railyard-agent", sink);
  // Who reads standard error sees the time it is written.
  log->set_pattern(file.empty() ? "%n: %v" : "%Y-%m-%dT%H:%M:%S.%fZ %l %v", spdlog::pattern_time_type::utc);
  log->set_level(spdlog::level::from_str(level));
  log->flush_on(spdlog::level::trace);
  return log;
}

std::string quoted(const std::exception& error) { return printable(with_short_quotes(error.what())); }

int run(int argc, char** argv) {
  CLI::App app(
      "Join a running Railyard lab: this host's RDMA devices, hardware or SoftRoCE, are ranks of its collectives",
      "railyard-agent");
  std::string lab;
  std::string token;
  std::string device;
  std::string name = host_name();
  bool list = false;
  std::string log_level = "info";
  std::string log_file;
  app.add_option("--lab", lab, "The lab: HOST:PORT, unix:PATH, serial:PATH, or stdio for the standard streams");
  app.add_option("--token", token, "Token of the host's `agent: { token: ... }`; better: set $RAILYARD_AGENT_TOKEN")
      ->envname("RAILYARD_AGENT_TOKEN")
      ->take_last();
  app.add_option("--device", device, "Use this RDMA device only (default: all)")->take_last();
  app.add_option("--name", name, "Name of this host in the lab")->capture_default_str()->take_last();
  app.add_flag("--list", list, "List the RDMA devices and exit");
  app.add_option("--log-level", log_level, "Lowest level to log (default: info)")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}).description(""))
      ->type_name("debug|info|warning|error|off")
      ->take_last();
  app.add_option("--log-file", log_file, "Log to this file, rotated at 4 MiB, instead of standard error")->take_last();
  app.set_version_flag("--version", std::string(RAILYARD_VERSION));
  app.footer(
      "It exits when the lab stops. `railyard agent HOST` starts it in a lab's virtual machine.\n"
      "Exit codes: 0 the lab has stopped, 1 an error on this host or the connection, 2 wrong usage, 3 the lab "
      "refused.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "railyard-agent: {}; see --help\n", quoted(error));
    return 2;
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
    fmt::print(stderr, "railyard-agent: expected --lab and --token (or $RAILYARD_AGENT_TOKEN); see --help\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction end {};
  end.sa_handler = [](int) { stop = true; };
  ::sigaction(SIGINT, &end, nullptr);
  ::sigaction(SIGTERM, &end, nullptr);
  Agent agent(verbs, {name, token, RAILYARD_VERSION});
  const LabStream stream = LabStream::open(lab);
  const std::shared_ptr<spdlog::logger> log = logger(log_file, log_level);
  serve(agent, stream, stop, [&log](const std::string& line) { log->info("{}", line); });
  return 0;
}

}  // namespace
}  // namespace railyard::agent

int main(int argc, char** argv) {
  try {
    return railyard::finish_standard_output("railyard-agent", railyard::agent::run(argc, argv), 1);
  } catch (const railyard::agent::Agent::Refused& refused) {
    std::fprintf(stderr, "railyard-agent: the lab refuses: %s\n", railyard::agent::quoted(refused).c_str());
    return 3;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "railyard-agent: --lab: %s\n", railyard::agent::quoted(error).c_str());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "railyard-agent: %s\n", railyard::agent::quoted(error).c_str());
    return 1;
  }
}
