// `railyard replay`: the frames of a capture file, sent by a host of a lab that is up.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "control/api/message.h"
#include "control/spec/input_error.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/input_file.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;

struct ReplayOptions {
  std::string lab;
  std::string file;
  std::string at;
  std::string rate;
  bool asap = false;
  bool loop = false;
  bool stop = false;
};

volatile std::sig_atomic_t interrupted = 0;

// A host's first NIC, if none is named.
std::string nic_named(const std::string& text) { return text.find(':') == std::string::npos ? text + ":1" : text; }

void print_result(const daemon::LabDir& lab, const json& r) {
  const auto not_sendable = r["not_sendable"].get<std::uint64_t>();
  fmt::print(stderr, "railyard: lab {}: {}: {} frames sent{}\n", lab.name(), r["at"].get<std::string>(),
             r["sent"].get<std::uint64_t>(),
             not_sendable == 0
                 ? ""
                 : fmt::format("; {} frames of the file were left out ({} of them MAC control other than PFC)",
                               not_sendable, r["not_pfc"].get<std::uint64_t>()));
}

int stop(const ReplayOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  const std::string at = o.at.empty() ? "" : nic_named(o.at);
  bool any = false;
  const json all = ask(lab, "GET", "/replays");
  for (const json& r : all["replays"]) {
    if (!at.empty() && r["at"] != at) continue;
    print_result(lab, ask(lab, "DELETE", "/replays/" + r["id"].get<std::string>()));
    any = true;
  }
  if (!any)
    throw std::runtime_error(at.empty() ? "no replay is running" : fmt::format("no replay is running at {}", at));
  return kOk;
}

int replay(const ReplayOptions& o) {
  check_readable(o.file);
  json request{
      {"file", std::filesystem::absolute(o.file)}, {"at", nic_named(o.at)}, {"asap", o.asap}, {"loop", o.loop}};
  if (!o.rate.empty()) {
    const auto rate = spec::parse_rate(o.rate);
    if (!rate) throw CLI::ValidationError("--rate", fmt::format("'{}': {}", o.rate, rate.error()));
    request["rate"] = rate->bps;
  }
  const daemon::LabDir lab = chosen_lab(o.lab);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  json r;
  try {
    r = ask(lab, "POST", "/replays", request);
  } catch (const api::ApiError& error) {
    // What is wrong with the file begins with its name.
    if (std::string_view(error.what()).starts_with(request["file"].get<std::string>())) throw InputError(error.what());
    throw;
  }
  const std::string target = "/replays/" + r["id"].get<std::string>();
  fmt::print(stderr, "railyard: lab {}: replaying {} frames at {}; Ctrl-C ends it\n", lab.name(),
             r["frames"].get<std::uint64_t>(), r["at"].get<std::string>());
  while (interrupted == 0 && !r["finished"].get<bool>()) {
    ::usleep(50'000);
    if (!lab.running()) throw std::runtime_error(fmt::format("lab '{}' stopped during the replay", lab.name()));
    try {
      r = ask(lab, "GET", target);
    } catch (const api::ApiError& error) {
      if (error.status() != 404) throw;
      fmt::print(stderr, "railyard: {}: stopped\n", r["at"].get<std::string>());
      return kOk;
    }
  }
  print_result(lab, ask(lab, "DELETE", target));
  return kOk;
}

}  // namespace

void add_replay(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<ReplayOptions>();
  add_lab_option(*command, o->lab);
  auto* file = command->add_option("FILE", o->file, "Capture file (pcap or pcapng)");
  auto* at = command->add_option("--at", o->at, "Sending host (without `attach`), or HOST:NIC (default: its first NIC)")
                 ->type_name("HOST[:NIC]");
  auto* asap = command->add_flag("--asap", o->asap, "Send at line rate (default: at the times of the file)");
  auto* rate =
      command->add_option("--rate", o->rate, "Send at this rate, e.g. 10Gbps")->type_name("RATE")->excludes(asap);
  auto* loop = command->add_flag("--loop", o->loop, "Repeat until stopped");
  auto* stop_flag = command->add_flag("--stop", o->stop, "Stop all replays, or those at a NIC");
  for (CLI::Option* other : {file, asap, rate, loop}) stop_flag->excludes(other);
  command->footer(
      "Frames are sent unchanged except for the destination MAC address. The host's own traffic continues.\n"
      "Examples:\n"
      "  railyard replay trace.pcapng --at h1\n"
      "  railyard replay trace.pcapng --at h1:2 --loop --rate 10Gbps\n"
      "  railyard replay --stop");
  command->callback([o, file, at, &exit_code] {
    if (o->stop) {
      exit_code = stop(*o);
      return;
    }
    if (file->count() == 0) throw CLI::RequiredError("FILE");
    if (at->count() == 0) throw CLI::RequiredError("--at");
    exit_code = replay(*o);
  });
}

}  // namespace railyard::tools
