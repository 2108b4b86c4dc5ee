// Attached hosts of a running lab, measured by the programs that they have: ping, iperf3, perftest.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/acceptance/live/class_trace.h"
#include "control/acceptance/live/trains.h"
#include "control/hosts/command.h"
#include "control/hosts/hosts_error.h"
#include "control/spec/value.h"
#include "tools/railyard/validate.h"

namespace railyard::tools {
namespace {

using acceptance::ProbeKind;
using Json = nlohmann::ordered_json;

struct HostNic {
  spec::PortName name;
  std::string address;  // IPv4
  int mtu = 0;
  std::int64_t bps = 0;
  bool is_guest = false;
};

// NIC k to NIC k of different hosts, both ways.
struct HostPair {
  HostNic from, to;
  int mtu() const { return std::min(from.mtu, to.mtu); }
  std::int64_t bps() const { return std::min(from.bps, to.bps); }
};

Json ends(const HostPair& p) { return {{"from", spec::format(p.from.name)}, {"to", spec::format(p.to.name)}}; }

std::vector<HostPair> pairs_between(const std::vector<HostNic>& nics, std::size_t most) {
  std::vector<HostPair> all;
  for (const HostNic& from : nics)
    for (const HostNic& to : nics)
      if (from.name.node != to.name.node && from.name.port == to.name.port) all.push_back({from, to});
  if (all.size() <= most) return all;
  std::vector<HostPair> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

// The last line that says something.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n\r\t");
  if (end == text.npos) return "it said nothing";
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == text.npos ? 0 : begin + 1, end - (begin == text.npos ? 0 : begin + 1) + 1);
}

class Hosts {
 public:
  Hosts(const daemon::LabDir& lab, const spec::Lab& spec) : lab_(lab) {
    std::map<spec::PortName, const spec::LinkSpec*> links;
    for (const spec::LinkSpec& link : spec.links) links[link.a] = links[link.b] = &link;
    for (const spec::NodeSpec& node : spec.nodes) {
      if (node.kind != spec::NodeSpec::Kind::kHost) continue;
      for (std::size_t i = 0; i < node.nics.size(); ++i) {
        const spec::PortName name{node.name, static_cast<int>(i) + 1};
        const auto link = links.find(name);
        if (link == links.end() || !node.nics[i].address_v4) continue;
        const spec::Attachment& attach = node.nics[i].attach;
        const bool is_guest = std::holds_alternative<spec::AttachVm>(attach);
        const HostNic nic{name, wire::to_string(*node.nics[i].address_v4), link->second->mtu, link->second->rate.bps,
                          is_guest};
        if (is_guest || std::holds_alternative<spec::AttachNamespace>(attach)) with_kernel_.push_back(nic);
        if (is_guest) guests_.push_back(nic);
        if (std::holds_alternative<spec::AttachApplication>(attach) && name.port == 1)
          applications_.push_back(nic);
      }
    }
  }

  // With an IP stack of their own.
  const std::vector<HostNic>& with_kernel() const { return with_kernel_; }
  const std::vector<HostNic>& applications() const { return applications_; }
  // Guests have the kernel's SoftRoCE, a device for each NIC.
  const std::vector<HostNic>& guests() const { return guests_; }

  // Runs a program on a host, as `railyard exec` does.
  hosts::CommandResult run(const std::string& host, std::vector<std::string> words) const {
    constexpr std::size_t kMostOutput = std::size_t{32} << 20;
    std::vector<std::string> command{self(), "exec", "--lab", lab_.name(), host, "--"};
    command.insert(command.end(), words.begin(), words.end());
    return hosts::run_command(command, {.most_output = kMostOutput});
  }
  // Why `program` is not there; empty: it is, on all of these.
  std::string lacks(const std::vector<HostNic>& nics, const std::string& program, const char* package) const {
    for (const HostNic& nic : nics)
      if (run(nic.name.node, {"sh", "-c", fmt::format("command -v {}", program)}).status != 0)
        return fmt::format("not applicable: {} has no {} (Debian: {})", nic.name.node, program, package);
    return {};
  }

 private:
  static std::string self() {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) throw std::runtime_error("cannot find this program: " + error.message());
    return path.string();
  }

  const daemon::LabDir& lab_;
  std::vector<HostNic> with_kernel_, applications_, guests_;
};

// IPv4 and ICMP.
constexpr int kPingHeaders = 28;

Json mtu(const Hosts& hosts, const std::vector<HostPair>& pairs) {
  Json out{{"pairs", Json::array()}};
  for (const HostPair& p : pairs) {
    Json j = ends(p);
    j["mtu"] = p.mtu();
    // The first may be lost while addresses are resolved.
    const auto r =
        hosts.run(p.from.name.node, {"ping", "-n", "-M", "do", "-c", "2", "-i", "0.2", "-W", "2", "-I", p.from.address,
                                     "-s", std::to_string(p.mtu() - kPingHeaders), p.to.address});
    j["answered"] = r.status == 0;
    j["why"] = r.status == 0
                   ? ""
                   : (r.output.find("100% packet loss") != std::string::npos ? "no answer" : last_line(r.output));
    out["pairs"].push_back(std::move(j));
  }
  return out;
}

// Of "64 bytes from 10.0.1.1: icmp_seq=1 ttl=62 time=0.148 ms", ns.
void read_times(const std::string& text, std::vector<double>& into) {
  constexpr std::string_view kTime = " time=";
  for (std::size_t at = text.find(kTime); at != text.npos; at = text.find(kTime, at + 1)) {
    double ms = 0;
    const char* const begin = text.data() + at + kTime.size();
    if (std::from_chars(begin, text.data() + text.size(), ms).ec == std::errc{}) into.push_back(ms * 1e6);
  }
}

Json latency(const Hosts& hosts, const std::vector<HostPair>& pairs) {
  constexpr std::size_t kSamples = 10'000;
  const std::size_t each = (kSamples + pairs.size() - 1) / pairs.size();
  std::vector<double> times;
  Json out{{"pairs", Json::array()}};
  for (const HostPair& p : pairs) {
    out["pairs"].push_back(ends(p));
    // One at a time: the next goes when the last is back. A pair that does not answer is given up after 20 s.
    read_times(hosts
                   .run(p.from.name.node, {"ping", "-n", "-A", "-c", std::to_string(each), "-w", "20", "-I",
                                           p.from.address, p.to.address})
                   .output,
               times);
  }
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times.empty()
               ? 0.0
               : times[std::min(times.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times.size())))];
  };
  out["samples"] = times.size();
  out["sent"] = each * pairs.size();
  out["lost"] = each * pairs.size() - std::min(times.size(), each * pairs.size());
  out["p50_ns"] = at(0.5);
  out["p99_ns"] = at(0.99);
  out["p999_ns"] = at(0.999);
  out["max_ns"] = times.empty() ? 0.0 : times.back();
  return out;
}

// A server that ends with its client, or by itself.
class Server {
 public:
  Server(const Hosts& hosts, const std::string& host, int seconds, std::vector<std::string> words)
      : thread_([&hosts, host, seconds, words = std::move(words)]() mutable {
          words.insert(words.begin(), {"timeout", std::to_string(seconds)});
          try {
            hosts.run(host, words);
          } catch (const hosts::HostsError&) {
            // The client says that nobody answers.
          }
        }) {}
  ~Server() { thread_.join(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  std::thread thread_;
};

// Tries again while the server is not there yet.
template <class Client>
hosts::CommandResult once_it_listens(Client client) {
  constexpr int kTries = 100;
  hosts::CommandResult r;
  for (int i = 0; i < kTries; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    r = client();
    if (r.status == 0 ||
        (r.output.find("onnection refused") == r.output.npos && r.output.find("ouldn't connect") == r.output.npos))
      break;
  }
  return r;
}

Json bandwidth(const Hosts& hosts, const std::vector<HostPair>& pairs, int seconds) {
  Json out{{"pairs", Json::array()}};
  for (const HostPair& p : pairs) {
    Json j = ends(p);
    j["rate_bps"] = p.bps();
    j["bps"] = nullptr;
    constexpr int kGrace = 8;
    const Server server(hosts, p.to.name.node, seconds + kGrace, {"iperf3", "-s", "-1", "-B", p.to.address});
    const auto r = once_it_listens([&] {
      return hosts.run(p.from.name.node,
                       {"timeout", std::to_string(seconds + kGrace), "iperf3", "-J", "-t", std::to_string(seconds),
                        "-B", p.from.address, "-c", p.to.address});
    });
    const Json said = Json::parse(r.output, nullptr, false);
    if (said.is_object() && said.contains("end") && said["end"].contains("sum_received"))
      j["bps"] = said["end"]["sum_received"]["bits_per_second"];
    j["why"] = j["bps"].is_number()                         ? ""
               : said.is_object() && said.contains("error") ? said["error"].get<std::string>()
                                                            : last_line(r.output);
    out["pairs"].push_back(std::move(j));
  }
  return out;
}

Json classes(const Hosts& hosts, const spec::Lab& spec, const std::vector<HostPair>& pairs, int dscp,
             const std::function<Json()>& report) {
  constexpr int kPings = 20;
  Json out{{"dscp", dscp}, {"pairs", Json::array()}};
  for (const HostPair& p : pairs) {
    const Json before = report();
    const auto r = hosts.run(p.from.name.node, {"ping", "-n", "-A", "-c", std::to_string(kPings), "-w", "10", "-Q",
                                                std::to_string(dscp << 2), "-I", p.from.address, p.to.address});
    std::vector<double> answered;
    read_times(r.output, answered);
    // Those that came back have come there.
    Json j = acceptance::live::trace_classes(spec, p.from.name, p.to.name, dscp, answered.size(),
                                             acceptance::live::ports_between(before, report()));
    if (answered.empty()) j["wrong"] = "no ping was answered";
    out["pairs"].push_back(std::move(j));
  }
  return out;
}

// Of the table of ib_write_bw --report_gbits: its last line that begins with a number has the mean in its fourth
// column.
std::optional<double> gigabits(const std::string& text) {
  std::optional<double> out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    double bytes = 0, iterations = 0, peak = 0, mean = 0;
    if (std::sscanf(text.substr(begin, end - begin).c_str(), "%lf %lf %lf %lf", &bytes, &iterations, &peak, &mean) == 4)
      out = mean;
    begin = end + 1;
  }
  return out;
}

// Runs a program of two ends: a server, and a client that is told where it is. Its mean in bit/s, or why there is none.
Json run_pair(const Hosts& hosts, const HostPair& p, std::vector<std::string> server_words,
              std::vector<std::string> client_words, std::optional<double> (*bps)(const std::string&)) {
  constexpr int kSeconds = 30;
  Json j = ends(p);
  hosts::CommandResult r;
  {
    const Server server(hosts, p.to.name.node, kSeconds, std::move(server_words));
    client_words.insert(client_words.begin(), {"timeout", std::to_string(kSeconds)});
    r = once_it_listens([&] { return hosts.run(p.from.name.node, client_words); });
  }
  const auto found = r.status == 0 ? bps(r.output) : std::nullopt;
  j["bps"] = found ? Json(*found) : Json(nullptr);
  j["why"] = found ? "" : last_line(r.output);
  return j;
}

// Programs on hosts of applications run on this machine, guests in their own.
std::string address_of(const HostNic& nic) { return nic.is_guest ? nic.address : "127.0.0.1"; }

Json rdma(const Hosts& hosts, const std::vector<HostPair>& pairs) {
  Json out{{"tool", fmt::format("ib_write_bw -d {}, 64 KiB messages", pairs.front().from.is_guest ? "rxeN" : "railyard0")},
           {"pairs", Json::array()}};
  for (const HostPair& p : pairs) {
    const auto words = [](const HostNic& nic) {
      std::vector<std::string> all{"ib_write_bw", "-d", nic.is_guest ? fmt::format("rxe{}", nic.name.port) : "railyard0",
                                   "-n", "200", "--report_gbits"};
      // DSCP 26 and ECT(0): the class of RDMA. The provider has it from the fabric file.
      if (nic.is_guest) all.insert(all.end(), {"-F", "--tclass=106"});
      return all;
    };
    std::vector<std::string> client = words(p.from);
    client.push_back(address_of(p.to));
    out["pairs"].push_back(run_pair(hosts, p, words(p.to), std::move(client), [](const std::string& text) {
      auto g = gigabits(text);
      if (g) *g *= 1e9;
      return g;
    }));
  }
  return out;
}

// Of the table of fi_pingpong: "64k 200 =200 25m 0.27s 98.30 666.72 0.00", where the sixth column is MB/s.
std::optional<double> pingpong_bps(const std::string& text) {
  double megabytes = 0;
  if (std::sscanf(last_line(text).c_str(), "%*s %*s %*s %*s %*s %lf", &megabytes) != 1) return std::nullopt;
  return megabytes * 8e6;
}

Json libfabric(const Hosts& hosts, const std::vector<HostPair>& pairs) {
  Json out{{"tool", "fi_pingpong -p railyard -e rdm -m tagged -c: Ultra Ethernet, 64 KiB messages there and back, every octet compared"},
           {"pairs", Json::array()}};
  // Programs of all hosts are on this machine, and others may be, too.
  const std::string port = std::to_string(20'000 + ::getpid() % 20'000);
  for (const HostPair& p : pairs) {
    const std::vector<std::string> words{"fi_pingpong", "-p", "railyard", "-e",  "rdm", "-m",
                                         "tagged",      "-c", "-S",       "65536", "-I", "100"};
    std::vector<std::string> server = words, client = words;
    server.insert(server.end(), {"-B", port});
    client.insert(client.end(), {"-P", port, address_of(p.to)});
    out["pairs"].push_back(run_pair(hosts, p, std::move(server), std::move(client), pingpong_bps));
  }
  return out;
}

int host_seconds_of(const std::string& text) {
  if (text.empty()) return 1;
  const auto t = spec::parse_duration(text);
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  if (!t) throw std::invalid_argument(fmt::format("--host-seconds: {}", t.error()));
  if (t->ps < kSecond) throw std::invalid_argument(fmt::format("--host-seconds: {}; expected at least 1s", text));
  return static_cast<int>(t->ps / kSecond);
}

}  // namespace

void probe_hosts(const daemon::LabDir& lab, const spec::Lab& spec, const ValidateOptions& o,
                 const std::vector<ProbeKind>& kinds, acceptance::Runs& runs, const std::function<Json()>& report,
                 const std::function<void(const std::string&)>& note) {
  constexpr std::size_t kMostFlows = 60;  // of programs that take a second or more each
  constexpr std::size_t kMostTraced = 16;
  const int seconds = host_seconds_of(o.host_seconds);
  const Hosts hosts(lab, spec);
  const auto acts = [&](ProbeKind kind, const std::vector<HostNic>& nics, const char* what, const char* program,
                        const char* package, std::size_t most, const auto& measure) {
    acceptance::Run& run = runs[kind];
    const std::vector<HostPair> pairs = pairs_between(nics, std::min(o.pairs, most));
    run.not_run =
        pairs.empty() ? fmt::format("not applicable: there are no two {}", what) : hosts.lacks(nics, program, package);
    if (!run.not_run.empty()) return;
    note(acceptance::name(kind));
    try {
      run.report = measure(pairs);
    } catch (const hosts::HostsError& error) {
      run.failure = error.what();
    }
  };
  const char* const kApplications = "hosts with `attach: application`";
  // Hosts of applications, then guests: programs of one kind do not find those of the other.
  const auto acts_on_both = [&](ProbeKind kind, const char* program, const char* package, const auto& measure) {
    acts(kind, hosts.applications(), "hosts with `attach: application`, nor two with `vm`", program, package, kMostFlows,
         measure);
    if (hosts.guests().empty()) return;
    const acceptance::Run before = std::exchange(runs[kind], {});
    acts(kind, hosts.guests(), "guests", program, package, kMostFlows, measure);
    if (before.report.is_null() && before.failure.empty()) return;  // there are guests alone
    acceptance::Run& run = runs[kind];
    if (run.report.is_null() || before.report.is_null()) {
      run = before;
      return;
    }
    run.report["tool"] = fmt::format("{}; {}", before.report["tool"].get<std::string>(), run.report["tool"].get<std::string>());
    for (const Json& p : before.report["pairs"]) run.report["pairs"].push_back(p);
  };
  const char* const kKernel = "hosts with `attach: namespace` or `vm`";
  for (const ProbeKind kind : kinds) {
    if (kind == ProbeKind::kHostMtu)
      acts(kind, hosts.with_kernel(), kKernel, "ping", "iputils-ping", o.pairs,
           [&](const auto& p) { return mtu(hosts, p); });
    if (kind == ProbeKind::kHostLatency)
      acts(kind, hosts.with_kernel(), kKernel, "ping", "iputils-ping", o.pairs,
           [&](const auto& p) { return latency(hosts, p); });
    if (kind == ProbeKind::kHostBandwidth)
      acts(kind, hosts.with_kernel(), kKernel, "iperf3", "iperf3", kMostFlows,
           [&](const auto& p) { return bandwidth(hosts, p, seconds); });
    if (kind == ProbeKind::kHostClasses)
      acts(kind, hosts.with_kernel(), kKernel, "ping", "iputils-ping", kMostTraced,
           [&](const auto& p) { return classes(hosts, spec, p, spec::TrafficSpec{}.dscp, report); });
    if (kind == ProbeKind::kHostRdma)
      acts_on_both(kind, "ib_write_bw", "perftest", [&](const auto& p) { return rdma(hosts, p); });
    if (kind == ProbeKind::kHostLibfabric)
      acts(kind, hosts.applications(), kApplications, "fi_pingpong", "libfabric-bin", kMostFlows,
           [&](const auto& p) { return libfabric(hosts, p); });
  }
}

}  // namespace railyard::tools
