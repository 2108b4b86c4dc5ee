// railyard routes, railyard path: where switches send what, in a fabric file or in a live lab.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/api/message.h"
#include "control/base/json_text.h"
#include "control/base/text_table.h"
#include "control/lab/session.h"
#include "control/report/units.h"
#include "control/rerouting/tables.h"
#include "control/spec/input_error.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using Json = nlohmann::ordered_json;

struct RoutesOptions {
  std::vector<std::string> words;  // [FILE] and what the command is about
  std::vector<std::string> sets;
  std::string lab;
  std::string at;
  std::string since;
  bool json = false;
  int ip = 4;
  int dscp = 26;
  int source_port = 0xC000;
  int destination_qp = 0x11;
  int entropy = -1;
};

bool is_file(const std::string& word) {
  return word.find('/') != std::string::npos || word.ends_with(".yaml") || word.ends_with(".yml");
}

Duration time_of(const std::string& option, const std::string& text) {
  const auto t = spec::parse_duration(text);
  if (!t) throw CLI::ValidationError(option, t.error());
  return *t;
}

// What a file says, as it is at an instant of a run: at its start if none is said.
struct FileLab {
  explicit FileLab(const RoutesOptions& o) {
    spec::Lab lab = spec::load(o.words.front(), o.sets);
    if (lab.run.clock != spec::Clock::kVirtual)
      throw InputError(
          fmt::format("{}: run.clock is wall; expected virtual, or the running lab and --lab", o.words.front()));
    // Nothing of a run is wanted but what it does to links.
    lab.run.duration = o.at.empty() ? Duration{1} : std::max(time_of("--at", o.at), Duration{1});
    lab.run.drain = {};
    session = std::make_unique<lab::Session>(std::move(lab), lab::SessionOptions{});
    const std::atomic<bool> stop{false};
    if (!o.at.empty()) session->run(stop);
  }
  std::unique_ptr<lab::Session> session;
};

// ---- Text -----------------------------------------------------------------------------------------------------------

std::string hops_text(const Json& hops) {
  std::string text;
  bool weighted = false;
  for (const Json& h : hops) weighted |= h["weight"] != hops[0]["weight"];
  for (const Json& h : hops) {
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", h["port"].get<std::string>(), h["to"].get<std::string>());
    if (weighted) text += fmt::format(" x{}", h["weight"].get<std::uint32_t>());
    if (!h["up"].get<bool>()) text += " down";
  }
  return text;
}

void print_reroutings(const Json& reroutings, Duration since) {
  for (const Json& r : reroutings) {
    const auto after = [&](const char* key) {
      const std::int64_t ns = r[key].get<std::int64_t>() - r["began_ns"].get<std::int64_t>();
      return (ns < 0 ? "-" : "+") + report::time_text(Duration{std::abs(ns) * 1000});
    };
    const Duration began{r["began_ns"].get<std::int64_t>() * 1000};
    if (began < since) continue;
    std::string causes;
    for (const Json& c : r["causes"]) {
      if (causes.size() > 60) {
        causes += ", ...";
        break;
      }
      causes += (causes.empty() ? "" : ", ") + c["what"].get<std::string>();
    }
    fmt::print("\n{}: {}\n", report::time_text(began), causes);
    if (r["first_change_ns"].is_null()) {
      fmt::print("  no table has changed{}\n", r["at_rest"].get<bool>() ? "" : " yet");
    } else {
      fmt::print("  first table changed {}, last {}; {} switches, {} routes, {} messages{}\n", after("first_change_ns"),
                 after("last_change_ns"), r["switches"].get<std::uint64_t>(), r["routes"].get<std::uint64_t>(),
                 r["messages"].get<std::uint64_t>(), r["at_rest"].get<bool>() ? "" : "; not at rest yet");
    }
    if (const auto lost = r["lost_packets"].get<std::uint64_t>(); lost > 0)
      fmt::print("  {} packets lost, the first {}, the last {}\n", lost, after("first_lost_ns"), after("last_lost_ns"));
    if (const auto n = r["reordered_packets"].get<std::uint64_t>(); n > 0) fmt::print("  {} packets out of order\n", n);
  }
}

void print_routes(const Json& all, Duration since) {
  for (const Json& sw : all["switches"]) {
    fmt::print("{}{}\n", sw["node"].get<std::string>(),
               sw["as"].is_null() ? std::string() : fmt::format(" (AS {})", sw["as"].get<std::uint32_t>()));
    std::vector<std::vector<std::string>> lines{{"prefix", "behind", "next hops"}};
    for (const Json& r : sw["routes"])
      lines.push_back({r["prefix"].get<std::string>(), r["behind"].get<std::string>(),
                       r["next_hops"].empty() ? "itself" : hops_text(r["next_hops"])});
    std::fputs(text_table(lines, 3, "  ").c_str(), stdout);
  }
  print_reroutings(all["reroutings"], since);
}

void print_path(const Json& p) {
  const Json& f = p["flow"];
  fmt::print("{} -> {}: {} -> {}, UDP {} -> {}, {}, DSCP {}\n", p["from"].get<std::string>(),
             p["to"].get<std::string>(), f["source"].get<std::string>(), f["destination"].get<std::string>(),
             f["source_port"].get<int>(), f["destination_port"].get<int>(),
             f["entropy"].is_null() ? fmt::format("QP {:#x}", f["destination_qp"].get<int>())
                                    : fmt::format("entropy {}", f["entropy"].get<int>()),
             f["dscp"].get<int>());
  std::vector<std::vector<std::string>> lines{{"hop", "in", "class", "out", "of", "by"}};
  for (const Json& h : p["hops"]) {
    std::string by = "-";
    if (!h["policy"].is_null())
      by = h["hash"].is_null()
               ? h["policy"].get<std::string>() + ": by packet or load"
               : fmt::format("{}: hash {}", h["policy"].get<std::string>(), h["hash"].get<std::string>());
    lines.push_back({fmt::format("{}", h["hop"].get<int>()), h["in"].get<std::string>(),
                     fmt::format("{}", h["class"].get<int>()), h["out"].is_null() ? "any" : h["out"].get<std::string>(),
                     h["next_hops"].empty() ? "-" : hops_text(h["next_hops"]), by});
  }
  std::fputs(text_table(lines, 6, "  ").c_str(), stdout);
  for (const Json& lost : p["lost"]) fmt::print("lost: {}\n", lost.get<std::string>());
  if (p["arrives"].get<bool>()) fmt::print("arrives at {}\n", p["to"].get<std::string>());
}

// ---- The commands
// -----------------------------------------------------------------------------------------------------

int routes(const RoutesOptions& o) {
  const bool file = !o.words.empty() && is_file(o.words.front());
  if (o.words.size() > (file ? 2u : 1u))
    throw CLI::ValidationError("NODE", fmt::format("{} words; expected [FILE] [NODE]", o.words.size()));
  const Duration since = o.since.empty() ? Duration{} : time_of("--since", o.since);
  const std::string node = o.words.size() > (file ? 1u : 0u) ? o.words.back() : "";
  Json all;
  if (file) {
    FileLab lab(o);
    try {
      all = rerouting::routes_json(lab.session->lab(), lab.session->routing(),
                                   node.empty() ? std::nullopt : std::optional(node));
    } catch (const std::out_of_range& error) {
      throw CLI::ValidationError("NODE", error.what());
    }
  } else {
    all = Json::parse(json_text(ask(chosen_lab(o.lab), "GET", node.empty() ? "/routes" : "/routes/" + node)));
  }
  if (o.json)
    fmt::print("{}\n", json_text(all, 2));
  else
    print_routes(all, since);
  return kOk;
}

spec::PortName nic_of(const std::string& text) {
  const auto name = spec::parse_port_name(text.find(':') == std::string::npos ? text + ":1" : text);
  if (!name) throw CLI::ValidationError("NIC", fmt::format("'{}': expected a NIC, e.g. h1 or h1:2", text));
  return *name;
}

int path(const RoutesOptions& o) {
  const bool file = !o.words.empty() && is_file(o.words.front());
  if (o.words.size() != (file ? 3u : 2u))
    throw CLI::ValidationError("FROM TO", fmt::format("{} words; expected [FILE] FROM TO", o.words.size()));
  rerouting::FlowKey key;
  key.from = nic_of(o.words[o.words.size() - 2]);
  key.to = nic_of(o.words.back());
  key.ip_version = o.ip;
  key.dscp = o.dscp;
  key.source_port = o.source_port;
  key.destination_qp = o.destination_qp;
  if (o.entropy >= 0) key.entropy = o.entropy;
  Json found;
  if (file) {
    FileLab lab(o);
    try {
      found = rerouting::path_json(lab.session->lab(), key);
    } catch (const std::out_of_range& error) {
      throw CLI::ValidationError("NIC", error.what());
    }
  } else {
    nlohmann::json body{{"from", format(key.from)},       {"to", format(key.to)},
                        {"ip", key.ip_version},           {"dscp", key.dscp},
                        {"source_port", key.source_port}, {"destination_qp", key.destination_qp}};
    if (key.entropy) body["entropy"] = *key.entropy;
    found = Json::parse(json_text(ask(chosen_lab(o.lab), "POST", "/path", body)));
  }
  if (o.json)
    fmt::print("{}\n", json_text(found, 2));
  else
    print_path(found);
  return found["arrives"].get<bool>() && found["lost"].empty() ? kOk : kFailed;
}

std::shared_ptr<RoutesOptions> add_common(CLI::App* command, const char* words) {
  auto o = std::make_shared<RoutesOptions>();
  command->add_option(words, o->words, "A fabric file, or else the running lab; then the switch or the two NICs")->expected(0, 3);
  command->add_option("--set", o->sets, "Of a file: override a value, e.g. --set topology.spines=4")
      ->type_name("PATH=VALUE");
  command->add_option("--at", o->at, "Of a file: run it in virtual time until then, with its faults")
      ->type_name("TIME");
  command->add_flag("--json", o->json, "Print JSON");
  add_lab_option(*command, o->lab);
  return o;
}

}  // namespace

void add_routes(CLI::App* command, int& exit_code) {
  const auto o = add_common(command, "[FILE] [NODE]");
  command->add_option("--since", o->since, "Only reactions to links since then")->type_name("TIME");
  command->footer(
      "Prints the forwarding table of each switch, or of one: prefix, what is behind it, next hops; then what has "
      "changed "
      "and when.\n"
      "Examples:\n"
      "  railyard routes topologies/rails-4x8.yaml leaf-r1\n"
      "  railyard routes topologies/scenarios/remote-cut.yaml leaf1 --at 10ms\n"
      "  railyard routes leaf1        (of the running lab)");
  command->callback([o, &exit_code] { exit_code = routes(*o); });
}

void add_path(CLI::App* command, int& exit_code) {
  const auto o = add_common(command, "[FILE] FROM TO");
  command->add_option("--ip", o->ip, "IP version")->check(CLI::IsMember({4, 6}))->capture_default_str();
  command->add_option("--dscp", o->dscp, "DSCP of the packet")->check(CLI::Range(0, 63))->capture_default_str();
  command->add_option("--source-port", o->source_port, "UDP source port: the entropy of RoCE")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--destination-qp", o->destination_qp, "Queue pair that the packet is for")
      ->check(CLI::Range(0, 0xFFFFFF))
      ->capture_default_str();
  command->add_option("--entropy", o->entropy, "Of a UET packet instead: its entropy value")
      ->check(CLI::Range(0, 65535));
  command->footer(
      "Prints the way of a packet from NIC to NIC, hop by hop, and why: the group of next hops and the hash that "
      "chooses. "
      "Exit code 1: it does not arrive by every way that it may take.\n"
      "Examples:\n"
      "  railyard path topologies/rails-4x8.yaml h1:1 h8:3\n"
      "  railyard path topologies/scenarios/remote-cut.yaml h1 h5 --at 3ms\n"
      "  railyard path h1 h5 --source-port 50000        (in the running lab)");
  command->callback([o, &exit_code] { exit_code = path(*o); });
}

}  // namespace railyard::tools
