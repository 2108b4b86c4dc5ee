// `railyard status`: what goes where in a lab that is up.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "control/base/json_text.h"
#include "control/report/units.h"
#include "tools/railyard/commands.h"
#include "tools/railyard/live.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

struct StatusOptions {
  std::string lab;
  bool json = false;
  bool audit = false;
  bool pauses = false;
  bool watch = false;
};

volatile std::sig_atomic_t stopped = 0;

std::uint64_t number(const json& j) { return j.get<std::uint64_t>(); }

// What has been added since `before`, a second; all since the beginning without one.
struct Row {
  std::string port;
  std::string peer;
  double rate = 0;
  double tx = 0;  // bit/s, or octets in all
  double rx = 0;
  std::uint64_t depth = 0;
  std::uint64_t marked = 0;
  std::uint64_t pfc_sent = 0;
  std::uint64_t pfc_received = 0;
  std::uint64_t dropped = 0;
  // Of links that have it: replays (LLR), and messages about credits (CBFC).
  std::optional<std::uint64_t> retries{};
  std::optional<std::uint64_t> credits_sent{};
  std::optional<std::uint64_t> credits_received{};
  bool up = true;
};

std::uint64_t drops_of(const json& port) {
  std::uint64_t sum = number(port["lost_on_link"]);
  for (const auto& [reason, n] : port["drops"].items()) sum += number(n);
  return sum;
}

std::vector<Row> rows_of(const json& now, const json* before, double seconds) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < now["ports"].size(); ++i) {
    const json& p = now["ports"][i];
    const json* old = before != nullptr ? &(*before)["ports"][i] : nullptr;
    const auto since = [&](const json& value, const json* was) {
      return number(value) - (was == nullptr ? 0 : number(*was));
    };
    Row r;
    r.port = fmt::format("{}:{}", p["node"].get<std::string>(), p["port"].get<int>());
    r.peer = p["peer"].get<std::string>();
    r.rate = static_cast<double>(number(p["rate_bps"]));
    r.tx = static_cast<double>(since(p["tx"]["bytes"], old != nullptr ? &(*old)["tx"]["bytes"] : nullptr));
    r.rx = static_cast<double>(since(p["rx"]["bytes"], old != nullptr ? &(*old)["rx"]["bytes"] : nullptr));
    if (old != nullptr) {
      r.tx *= 8 / seconds;
      r.rx *= 8 / seconds;
    }
    r.depth = number(p[old != nullptr ? "depth_bytes" : "max_depth_bytes"]);
    r.marked = since(p["ecn_marked"], old != nullptr ? &(*old)["ecn_marked"] : nullptr);
    r.pfc_sent = since(p["pfc_sent"], old != nullptr ? &(*old)["pfc_sent"] : nullptr);
    r.pfc_received = since(p["pfc_received"], old != nullptr ? &(*old)["pfc_received"] : nullptr);
    r.dropped = drops_of(p) - (old != nullptr ? drops_of(*old) : 0);
    const auto of_link = [&](const char* what, const char* counter) -> std::optional<std::uint64_t> {
      if (!p.contains(what)) return std::nullopt;
      return since(p[what][counter], old != nullptr ? &(*old)[what][counter] : nullptr);
    };
    r.retries = of_link("llr", "retries");
    r.credits_sent = of_link("cbfc", "messages_sent");
    r.credits_received = of_link("cbfc", "messages_received");
    r.up = p["up"].get<bool>();
    rows.push_back(std::move(r));
  }
  return rows;
}

std::string head(const json& s) {
  const json& e = s["engine"];
  const auto ns = [](const json& n) { return report::nanoseconds_text(number(n)); };
  return fmt::format(
      "lab '{}'{}: {} switches, {} hosts, {} links; up for {:.1f} s, {:.0f} % busy\n"
      "lateness p50 {}, p99 {}, max {}; slipped {} in total\n",
      s["name"].get<std::string>(), s["held"].get<bool>() ? " (paused)" : "", s["size"]["switches"].get<int>(),
      s["size"]["hosts"].get<int>(), s["size"]["links"].get<int>(), e["wall_seconds"].get<double>(),
      100 * e["busy_seconds"].get<double>() / std::max(e["wall_seconds"].get<double>(), 1e-9),
      ns(e["lateness_ns"]["p50"]), ns(e["lateness_ns"]["p99"]), ns(e["lateness_ns"]["max"]), ns(e["slip_ns"]));
}

void print_table(std::vector<Row> rows, bool rates) {
  const auto amount = [rates](double x) {
    return rates ? report::rate_text(x) : report::size_text(static_cast<std::uint64_t>(x));
  };
  // Columns of what some link has.
  const bool retries = std::ranges::any_of(rows, [](const Row& r) { return r.retries.has_value(); });
  const bool credits = std::ranges::any_of(rows, [](const Row& r) { return r.credits_sent.has_value(); });
  const auto some = [](std::optional<std::uint64_t> n) { return n ? std::to_string(*n) : std::string("-"); };
  fmt::print("{:14} {:14} {:>10} {:>11} {:>11} {:>10} {:>9} {:>9} {:>9} {:>9}{}{}\n", "port", "to", "link", "sent",
             "received", rates ? "queued" : "deepest", "marked", "PFC sent", "PFC rcvd", "dropped",
             retries ? fmt::format(" {:>9}", "retries") : "",
             credits ? fmt::format(" {:>9} {:>9}", "CBFC sent", "CBFC rcvd") : "");
  for (const Row& r : rows)
    fmt::print("{:14} {:14} {:>10} {:>11} {:>11} {:>10} {:>9} {:>9} {:>9} {:>9}{}{}\n", r.port, r.peer,
               r.up ? report::rate_text(r.rate) : "down", amount(r.tx), amount(r.rx), report::size_text(r.depth),
               r.marked, r.pfc_sent, r.pfc_received, r.dropped, retries ? fmt::format(" {:>9}", some(r.retries)) : "",
               credits ? fmt::format(" {:>9} {:>9}", some(r.credits_sent), some(r.credits_received)) : "");
}

void print_attachments(const json& s) {
  for (const json& a : s["attachments"])
    fmt::print("{}:{} {}: {} packets received from it, {} sent to it, {} lost{}\n", a["host"].get<std::string>(),
               a["port"].get<int>(), a["device"].get<std::string>(), number(a["received"]), number(a["sent"]),
               number(a["host_ring_full"]) + number(a["no_memory"]) + number(a["not_sent"]),
               a["link_up"].get<bool>() ? "" : " (not connected)");
}

// Programs on hosts with `attach: application`, their open connections, and what their NICs have counted.
void print_applications(const json& s) {
  for (const json& nic : s.value("applications", json::array())) {
    const std::string port = fmt::format("{}:{}", nic["host"].get<std::string>(), nic["port"].get<int>());
    for (const json& p : nic["processes"]) {
      const bool uet = p["transport"] == "uet";
      const std::string program = fmt::format("{} {} ({})", port, p["command"].get<std::string>(), p["pid"].get<int>());
      for (const json& c : p["connections"])
        fmt::print("{}: {} {} {:#x}{}, {}: {} packets sent, {} retransmitted\n", program,
                   c[uet ? "mode" : "type"].get<std::string>(), uet ? "PDCID" : "QP",
                   number(c[uet ? "pdcid" : "qp"]),
                   !c.contains("peer") ? ""
                                       : fmt::format(" -> {} {:#x}", c.value("peer_host", c["peer"].get<std::string>()),
                                                     number(c[uet ? "peer_pdcid" : "peer_qp"])),
                   c["state"].get<std::string>(), number(c["packets"]), number(c["retransmitted"]));
      const std::uint64_t open = number(p["open_connections"]);
      const std::uint64_t listed = p["connections"].size();
      if (open == 0) fmt::print("{}: no {}\n", program, uet ? "PDC" : "QP");
      if (open > listed) fmt::print("{}: {} more {}\n", program, open - listed, uet ? "PDCs" : "QPs");
    }
    for (const auto& [transport, counters] : nic["counters"].items()) {
      std::string counted;
      for (const auto& [name, n] : counters.items())
        if (number(n) > 0) counted += fmt::format("{}{} {}", counted.empty() ? "" : ", ", name, number(n));
      if (!counted.empty()) fmt::print("{} {}: {}\n", port, transport == "uet" ? "UET" : "RoCEv2", counted);
    }
  }
}

void print_hosts(const json& s) {
  std::vector<std::string> emulated;
  for (const json& h : s["hosts"]) {
    const std::string name = h["name"].get<std::string>();
    const std::string state = h.value("state", "up");
    if (h.value("site_is_down", false))
      fmt::print("{} is down: {}\n", name, h.value("why", ""));
    else if (state == "down")
      fmt::print("{} is down: {}; `railyard restart {}` reboots it\n", name, h.value("why", ""), name);
    if (state == "booting") fmt::print("{} is booting\n", name);
    if (h.value("emulated", false)) emulated.push_back(name);
  }
  if (!emulated.empty())
    fmt::print("{}: software emulation (QEMU TCG, no KVM) limits the rate of {}, not the fabric\n",
               fmt::join(emulated, ", "), emulated.size() == 1 ? "this guest" : "these guests");
}

void print_agents(const json& c) {
  if (c.empty()) return;
  for (const json& a : c["agents"]) {
    std::string devices;
    for (const json& d : a["devices"])
      devices += fmt::format("{}{}", devices.empty() ? "" : ", ", d["device"].get<std::string>());
    if (a["joined"].get<bool>())
      fmt::print("\nagent of {}: {}", a["host"].get<std::string>(), devices);
    else
      fmt::print("\nno agent of {}: {}", a["host"].get<std::string>(), a["why"].get<std::string>());
  }
  fmt::print("{}\n{}", c["agents"].empty() ? "" : "\n", c["text"].get<std::string>());
}

// Flows of agents that do not go on, and why.
void print_waiting(const json& c) {
  for (const json& f : c.value("flows", json::array()))
    if (const std::string state = f["state"]; state != "done" && state != "running")
      fmt::print("flow {}: {}\n", f["name"].get<std::string>(), f["why"].get<std::string>());
}

void print_trunks(const json& s) {
  const auto ns = [](const json& n) { return report::nanoseconds_text(number(n)); };
  for (const json& t : s["trunks"])
    fmt::print(
        "trunk {} at {} ({}): {}{}; {} frames sent, {} received, {} lost in transit; round trip {}, clock {:+.6f} s to within {}; {} late, "
        "lateness "
        "p99 {}, max {}\n",
        t["name"].get<std::string>(), t["switch_port"].get<std::string>(), t["wire"].get<std::string>(),
        t["state"].get<std::string>(), t["carrier"].get<bool>() ? "" : ", no carrier", number(t["sent"]),
        number(t["received"]), number(t["lost"]), ns(t["round_trip_ns"]),
        static_cast<double>(t["clock_offset_ns"].get<std::int64_t>()) / 1e9, ns(t["clock_error_ns"]), number(t["late"]),
        ns(t["lateness_ns"]["p99"]), ns(t["lateness_ns"]["max"]));
  for (const json& t : s["trunks"])
    if (number(t["round_trip_ns"]) / 2 > number(t["delay_ns"]))
      fmt::print("warning: trunk {} has a delay of {}, and the network takes {}: frames are late; expected a longer delay\n",
                 t["name"].get<std::string>(), ns(t["delay_ns"]), ns(number(t["round_trip_ns"]) / 2));
}

// Of a lab over several sites: which are there, and how their simulated clocks stand to the first one's.
void print_sites(const json& s) {
  if (!s.contains("sites")) return;
  fmt::print("\n");
  for (const json& site : s["sites"]) {
    const std::string name = site["name"].get<std::string>();
    if (!site["up"].get<bool>()) {
      fmt::print("site {} IS DOWN: {}; its hosts are down: {}\n", name, site.value("why", ""),
                 fmt::join(site["hosts"].get<std::vector<std::string>>(), ", "));
      continue;
    }
    fmt::print("site {} is up, {} hosts", name, site["hosts"].size());
    if (const json c = site.value("clock", json()); c.is_object() && c["relative_to"] != name)
      fmt::print("; its simulated clock is {:+.6f} s from that of {}, to within {}",
                 static_cast<double>(c["offset_ns"].get<std::int64_t>()) / 1e9, c["relative_to"].get<std::string>(),
                 report::nanoseconds_text(number(c["error_ns"])));
    fmt::print("\n");
  }
}

void print_all(const json& s) {
  fmt::print("{}\n", head(s));
  std::vector<Row> rows = rows_of(s, nullptr, 0);
  std::erase_if(rows, [](const Row& r) { return r.peer.empty(); });
  print_table(std::move(rows), false);
  if (!s["attachments"].empty()) fmt::print("\n");
  print_attachments(s);
  print_applications(s);
  print_hosts(s);
  if (!s["trunks"].empty()) fmt::print("\n");
  print_trunks(s);
  print_sites(s);
}

std::size_t terminal_lines() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 10 ? size.ws_row : 40;
}

// Once a second until Ctrl-C: the busiest ports, as many as fit.
int watch(const daemon::LabDir& lab) {
  std::signal(SIGINT, [](int) { stopped = 1; });
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  json before = ask(lab, "GET", "/status");
  auto then = std::chrono::steady_clock::now();
  while (stopped == 0) {
    std::this_thread::sleep_for(1s);
    json now;
    try {
      now = ask(lab, "GET", "/status");
    } catch (const std::runtime_error&) {
      if (lab.running()) throw;
      fmt::print("lab '{}' is down\n", lab.name());
      return kOk;
    }
    const auto at = std::chrono::steady_clock::now();
    if (now["ports"].size() != before["ports"].size()) {  // a site has gone, or come back
      before = std::move(now);
      then = at;
      continue;
    }
    std::vector<Row> rows = rows_of(now, &before, std::chrono::duration<double>(at - then).count());
    std::erase_if(rows, [](const Row& r) { return r.peer.empty(); });
    std::ranges::stable_sort(
        rows, [](const Row& a, const Row& b) { return std::pair(!a.up, a.tx + a.rx) > std::pair(!b.up, b.tx + b.rx); });
    if (const std::size_t room = terminal_lines() - 5; rows.size() > room) rows.resize(room);
    if (terminal) fmt::print("\033[H\033[2J");
    fmt::print("{}\n", head(now));
    print_table(std::move(rows), true);
    std::fflush(stdout);
    before = std::move(now);
    then = at;
  }
  return kOk;
}

void print_trees(const json& trees) {
  for (const json& tree : trees) {
    fmt::print("  {}\n", tree["root"].get<std::string>());
    std::size_t depth = 0;
    for (const json& level : tree["levels"]) {
      ++depth;
      for (const json& queue : level) fmt::print("  {:{}}<- {}\n", "", 3 * depth, queue.get<std::string>());
    }
  }
}

int pauses(const StatusOptions& o, const daemon::LabDir& lab) {
  const json p = ask(lab, "GET", "/pauses");
  if (o.json) {
    fmt::print("{}\n", json_text(p, 2));
    return kOk;
  }
  if (p["now"].empty() && number(p["paused"]) == 0)
    fmt::print("no queue is paused\n");
  else
    fmt::print("paused now, by congestion root ({} queues):\n", number(p["paused"]));
  print_trees(p["now"]);
  if (!p["watched"].get<bool>()) {
    fmt::print("run.deadlock is off: pauses before now were not recorded\n");
    return kOk;
  }
  if (const json& widest = p["trees"]["widest"]; !widest.empty()) {
    fmt::print("\nmost paused queues since the lab started, at {:.6f} s:\n",
               static_cast<double>(number(p["trees"]["widest_at_ns"])) / 1e9);
    print_trees(widest);
  }
  for (const json& d : p["deadlocks"])
    fmt::print("\nDEADLOCK{}: these queues wait for each other in a circle:\n  {}\n",
               d["resolved_ns"].is_null() ? "" : " (resolved)",
               fmt::join(d["ring"].get<std::vector<std::string>>(), "\n  "));
  return kOk;
}

int status(const StatusOptions& o) {
  const daemon::LabDir lab = chosen_lab(o.lab);
  if (o.watch) return watch(lab);
  if (o.pauses) return pauses(o, lab);
  if (o.audit) {
    const json books = ask(lab, "GET", "/audit");
    if (o.json)
      fmt::print("{}\n", json_text(books, 2));
    else
      fmt::print(
          "{} at {:.6f} s: generated {} = consumed {} + dropped {} + lost on links {} + queued {} + on the wire {}\n",
          books["balanced"].get<bool>() ? "packet accounting balances" : "PACKET ACCOUNTING DOES NOT BALANCE",
          books["at_seconds"].get<double>(), number(books["generated"]), number(books["consumed"]),
          number(books["dropped"]), number(books["lost_on_links"]), number(books["queued"]),
          number(books["on_the_wire"]));
    for (const json& line : books["unbalanced"])
      if (!o.json) fmt::print("  {}\n", line.get<std::string>());
    return books["balanced"].get<bool>() ? kOk : kUnbalanced;
  }
  json s = ask(lab, "GET", "/status");
  json c = json::object();
  json f = json::object();
  const bool has_flows = number(s["size"]["flows"]) > 0;
  const bool has_traffic = has_flows || number(s["size"]["collectives"]) > 0;
  if (has_traffic) {
    c = ask(lab, "GET", "/collectives");
    f = ask(lab, "GET", "/flows");
  }
  if (o.json) {
    s["flows"] = f.value("flows", json::array());
    s["uet_nics"] = f.value("uet_nics", json::array());
    s["collectives"] = c.value("collectives", json::array());
    s["agents"] = c.value("agents", json::array());
    fmt::print("{}\n", json_text(s, 2));
    return kOk;
  }
  print_all(s);
  if (has_traffic) fmt::print("{}", f["text"].get<std::string>());
  print_agents(c);
  print_waiting(c);
  return kOk;
}

}  // namespace

void add_status(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<StatusOptions>();
  add_lab_option(*command, o->lab);
  auto* watch = command->add_flag("-w,--watch", o->watch, "Print rates once a second, the busiest ports first");
  auto* audit = command->add_flag("--audit", o->audit, "Check the packet accounting at one instant");
  command->add_flag("--json", o->json, "Print JSON")->excludes(watch);
  audit->excludes(watch);
  command->add_flag("--pauses", o->pauses, "Show which queues pause which, now and since the start; deadlocks")
      ->excludes(watch)
      ->excludes(audit);
  command->footer(
      "Examples:\n"
      "  railyard status\n"
      "  railyard status --watch\n"
      "  railyard status --pauses\n"
      "  railyard status --json | jq '.ports[] | select(.drops != {})'");
  command->callback([o, &exit_code] { exit_code = status(*o); });
}

}  // namespace railyard::tools
