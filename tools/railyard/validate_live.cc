// `railyard validate LAB`: a running lab, by probes of its built-in NICs and programs of its attached hosts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "control/acceptance/live/lab_state.h"
#include "control/acceptance/live/own_work.h"
#include "control/acceptance/live/trains.h"
#include "control/api/message.h"
#include "control/blast/element.h"
#include "control/report/units.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "tools/railyard/live.h"
#include "tools/railyard/until.h"
#include "tools/railyard/validate.h"

namespace railyard::tools {
namespace {

using acceptance::ProbeKind;
using nlohmann::json;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;
namespace live = acceptance::live;

// Why a line of a fabric file has no counterpart in a running lab.
const char* why_not_live(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kAllReduce:
    case ProbeKind::kAllGather:
    case ProbeKind::kAllToAll:
    case ProbeKind::kJob:
      return "not applicable: a running lab takes no new collectives: `own-collectives` and `own-jobs` measure those that it has, "
             "`railyard validate` of its file these";
    case ProbeKind::kOwnWork:
      return "not applicable: the lab has no work of its own";
    case ProbeKind::kOwnCollectives:
      return "skipped: the lab has no `collectives:` or `jobs:` of its own";
    case ProbeKind::kIncast:
      return "not applicable: an incast takes three hosts without `attach`";
    case ProbeKind::kLiveFailover:
      return "not applicable: it takes a link down; --disturb allows that";
    case ProbeKind::kLiveSoak:
      return "its time is 0 (--duration)";
    default:
      return "not applicable: there are no two hosts without `attach`";
  }
}

class LiveValidation {
 public:
  LiveValidation(const daemon::LabDir& lab, const ValidateOptions& o, const acceptance::Settings& settings)
      : lab_(lab), o_(o), shows_(!o.json && isatty(STDERR_FILENO) != 0) {
    const json files = get("/report");
    const std::string yaml = files["lab.yaml"];
    spec_ = spec::parse(yaml, "lab.yaml");
    if (const json about = get("/lab"); about["held"].get<bool>())
      throw std::runtime_error(fmt::format("lab '{}' is paused; `railyard resume` lets its time go on", lab.name()));
    subject_ = acceptance::live_subject_of(
        spec_, settings, o.transport.empty() ? std::nullopt : std::optional<std::string>(o.transport));
    state_ = state(yaml);
    seen_ = last_happening();
  }

  const acceptance::Subject& subject() const { return subject_; }
  const spec::Lab& spec() const { return spec_; }

  acceptance::Runs run(const std::set<ProbeKind>& wanted) {
    acceptance::Runs runs;
    const json before = get("/status")["engine"];
    for (const ProbeKind kind : {ProbeKind::kPairsAlone, ProbeKind::kIdleLatency, ProbeKind::kPairsTogether,
                                 ProbeKind::kSteady, ProbeKind::kIncast}) {
      if (!wanted.contains(kind)) continue;
      note(acceptance::name(kind));
      runs[kind] = trains(kind);
      check_unchanged();
    }
    std::vector<ProbeKind> of_hosts;
    for (const ProbeKind kind : {ProbeKind::kHostMtu, ProbeKind::kHostLatency, ProbeKind::kHostBandwidth,
                                 ProbeKind::kHostClasses, ProbeKind::kHostRdma, ProbeKind::kHostLibfabric})
      if (wanted.contains(kind)) of_hosts.push_back(kind);
    if (!of_hosts.empty()) {
      probe_hosts(
          lab_, spec_, o_, of_hosts, runs, [this] { return report(); }, [this](const std::string& w) { note(w); });
      check_unchanged();
    }
    if (wanted.contains(ProbeKind::kOwnWork) && !(spec_.traffic.empty() && spec_.collectives.empty()))
      runs[ProbeKind::kOwnWork].report = live::still_running(report());
    if (wanted.contains(ProbeKind::kOwnCollectives) && !spec_.collectives.empty()) {
      runs[ProbeKind::kOwnCollectives] = own_collectives();
      check_unchanged();
    }
    if (wanted.contains(ProbeKind::kPace)) runs[ProbeKind::kPace].report = pace(before, get("/status")["engine"]);
    if (wanted.contains(ProbeKind::kLiveSoak)) runs[ProbeKind::kLiveSoak] = soak();
    check_unchanged();
    // What follows changes the lab.
    if (wanted.contains(ProbeKind::kLiveFailover) && o_.disturb) runs[ProbeKind::kLiveFailover] = failover();
    for (const ProbeKind kind : wanted)
      if (!runs.contains(kind)) runs[kind].not_run = why_not_live(kind);
    note("");
    return runs;
  }

 private:
  json get(const std::string& target) const { return ask(lab_, "GET", target); }
  Json report() const { return Json::parse(get("/report")["report.json"].get<std::string>()); }

  live::LabState state(const std::string& yaml) const {
    return live::state_of(get("/status"), get("/faults"), get("/flows"), yaml);
  }
  std::uint64_t last_happening() const {
    std::uint64_t last = 0;
    const json all = get("/happenings?after=0");
    for (const json& h : all["happenings"]) last = std::max(last, h["number"].get<std::uint64_t>());
    return last;
  }

  // Throws std::runtime_error that names what somebody has changed since the beginning, also if it was undone
  // meanwhile.
  void check_unchanged() const {
    const auto refuse = [&](const std::string& what) {
      throw std::runtime_error(fmt::format(
          "lab '{}' was changed while it was validated: {}; expected a lab that nobody changes", lab_.name(), what));
    };
    const json happened = get(fmt::format("/happenings?after={}", seen_));
    std::map<std::string, int> own = asked_;
    for (const json& h : happened["happenings"]) {
      const auto text = h["text"].get<std::string>();
      const std::size_t asked = text.find(": asked at ");
      if (h["kind"] != "log" || asked == text.npos) continue;
      if (const auto by_us = own.find(text.substr(0, asked)); by_us != own.end() && by_us->second-- > 0) continue;
      for (const char* word : {"link ", "set ", "fault ", "attach ", "stop ", "again ", "replay "})
        if (text.starts_with(word)) refuse(text.substr(0, asked));
    }
    if (const std::string what = live::change(state_, state(get("/report")["lab.yaml"])); !what.empty()) refuse(what);
  }

  void note(const std::string& what) const {
    if (shows_) fmt::print(stderr, "\r\033[K{}", what.empty() ? "" : what + " ...");
  }

  // Throws api::ApiError: the trains cannot be sent.
  void start(const live::Request& request) const {
    // A round of the lab's own probes may be on its way.
    for (int tries = 0;; ++tries) {
      try {
        ask(lab_, "POST", "/probes", request.body);
        return;
      } catch (const api::ApiError& error) {
        constexpr int kMostTries = 100;
        if (error.status() != 409 || std::string(error.what()).find("on their way") == std::string::npos ||
            tries == kMostTries)
          throw;
        std::this_thread::sleep_for(100ms);
      }
    }
  }

  // Sends trains and waits for what comes. Throws api::ApiError as start() does.
  json send(const live::Request& request) const {
    start(request);
    const auto began = std::chrono::steady_clock::now();
    // A lab with run.scale is slow; one that does not come to it at all is not waited for.
    constexpr auto kPatience = 300s;
    for (;;) {
      json result = get("/probes/result");
      if (result["state"] == "done") return result;
      if (result["state"] == "none") throw std::runtime_error("somebody has taken the probes away");
      if (std::chrono::steady_clock::now() - began > kPatience) {
        ask(lab_, "DELETE", "/probes");
        throw std::runtime_error(fmt::format("the probes had not arrived after {} s of wall time", kPatience.count()));
      }
      std::this_thread::sleep_for(20ms);
    }
  }

  acceptance::Run trains(ProbeKind kind) const {
    acceptance::Run run;
    const std::vector<live::Request> requests = live::requests_of(subject_, kind);
    if (requests.empty()) {
      run.not_run = why_not_live(kind);
      return run;
    }
    try {
      const Json before = report();
      std::vector<json> results;
      for (const live::Request& request : requests) results.push_back(send(request));
      run.report = live::report_of_trains(subject_, kind, requests, results, before, report());
    } catch (const api::ApiError& error) {
      run.failure = error.what();
    }
    return run;
  }

  static Json pace(const json& before, const json& now) {
    const auto since = [&](const char* key) { return now[key].get<double>() - before[key].get<double>(); };
    return {{"lateness_p99_ns", now["lateness_ns"]["p99"]},
            {"slip_ns", since("slip_ns")},
            {"wall_seconds", since("wall_seconds")},
            {"busy_share", since("busy_seconds") / std::max(since("wall_seconds"), 1e-9)}};
  }

  acceptance::Run own_collectives() {
    constexpr Duration kUsual{60'000'000'000'000};
    const Duration patience = soak_time(o_, kUsual, kUsual).whole;
    return watch_own_collectives(
        lab_, spec_, patience == Duration{} ? kUsual : patience, [this](const std::string& what) { ++asked_[what]; },
        [this](const std::string& what) { note(what); });
  }

  double rss_bytes() const {
    std::ifstream status(fmt::format("/proc/{}/status", lab_.pid()));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return 1024 * std::stod(line.substr(6));
    return 0;
  }

  static std::uint64_t drops_in(const json& status) {
    std::uint64_t n = 0;
    for (const json& p : status["ports"]) {
      n += p["lost_on_link"].get<std::uint64_t>();
      for (const auto& [reason, count] : p["drops"].items()) n += count.get<std::uint64_t>();
    }
    return n;
  }

  acceptance::SoakSample interval(const std::vector<live::Request>& requests, Duration lasts) const {
    acceptance::SoakSample s;
    const auto began = std::chrono::steady_clock::now();
    const json before = get("/status");
    for (const live::Request& request : requests) {
      const json result = send(request);
      for (const json& t : result["trains"]) {
        s.packets += t["sent"].get<std::uint64_t>();
        s.lost += t["lost"].get<std::uint64_t>();
        s.corrupted += t["corrupted"].get<std::uint64_t>();
      }
    }
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began);
    if (const Duration left = lasts - Duration{took.count() * 1000}; left > Duration{})
      wait(lab_, left, [] { return true; });
    const json now = get("/status");
    s.drops = drops_in(now) - drops_in(before);
    s.pid = now["pid"];
    s.rss_bytes = rss_bytes();
    s.lateness_p99_ns = now["engine"]["lateness_ns"]["p99"].get<double>();
    s.slip_ns = now["engine"]["slip_ns"].get<double>() - before["engine"]["slip_ns"].get<double>();
    if (const json books = get("/audit"); !books["balanced"].get<bool>())
      s.failures.push_back(fmt::format("packets are missing in the accounting of {}", books["unbalanced"].dump()));
    return s;
  }

  acceptance::Run soak() const {
    acceptance::Run run;
    const SoakTime time = soak_time(o_, Duration{300'000'000'000'000}, Duration{10'000'000'000'000});
    if (time.whole == Duration{}) {
      run.not_run = why_not_live(ProbeKind::kLiveSoak);
      return run;
    }
    const double seconds = static_cast<double>(time.interval.ps) / 1e12;
    SoakRun soak(o_, {.lab = spec::lab_digest(spec_),
                      .transport = subject_.uet ? "UET" : "RoCEv2",
                      .live = true,
                      .interval_seconds = seconds});
    // Without built-in NICs the lab's own packets are all there is.
    const std::vector<live::Request> requests = live::requests_of(subject_, ProbeKind::kSoak);
    end_on_signal();
    bool interrupted = false;
    for (std::size_t i = 0; i < time.intervals() && !interrupted; ++i) {
      if (soak.has(i)) continue;
      note(fmt::format("soak, interval {} of {}", i + 1, time.intervals()));
      try {
        acceptance::SoakSample sample = interval(requests, time.interval);
        interrupted = ended_by_signal();
        if (interrupted) break;  // not whole
        sample.seconds = seconds * static_cast<double>(i + 1);
        soak.add(i, std::move(sample));
      } catch (const api::ApiError& error) {
        run.failure = error.what();
        return run;
      }
      check_unchanged();
    }
    const acceptance::SoakSums all = acceptance::sums(soak.soak());
    run.report = {{"intervals", all.intervals},
                  {"interval_seconds", seconds},
                  {"seconds", all.seconds},
                  {"packets", all.packets},
                  {"lost", all.lost},
                  {"corrupted", all.corrupted},
                  {"drops", all.drops},
                  {"failures", all.failures},
                  {"lateness_p99_ns", all.lateness_p99_ns},
                  {"slip_ns", all.slip_ns},
                  {"interrupted", interrupted},
                  {"growth", nullptr}};
    if (const auto g = acceptance::growth(soak.soak()))
      run.report["growth"] = {{"bytes_per_hour", g->bytes_per_hour}, {"margin", g->margin}, {"points", g->points}};
    return run;
  }

  // Every NIC sends slowly to one far away while a link that is no single point of failure is down.
  acceptance::Run failover() const {
    acceptance::Run run;
    const std::vector<blast::Element> links = blast::elements(spec_, {blast::Kind::kLink});
    const auto link = std::ranges::find_if(links, [&](const blast::Element& e) { return !blast::divides(spec_, e); });
    if (link == links.end() || subject_.pairs.empty()) {
      run.not_run = link == links.end() ? "no link between switches can fail without dividing the hosts"
                                        : why_not_live(ProbeKind::kPairsAlone);
      return run;
    }
    note("failover");
    constexpr double kGapNs = 200'000;
    constexpr std::uint64_t kFrames = 15'000;  // 3 s of simulated time
    std::vector<live::Request> requests = live::requests_of(subject_, ProbeKind::kSoak);
    requests.resize(1);
    for (json& t : requests[0].body["trains"]) {
      t[3] = kFrames;
      t[4] = static_cast<std::int64_t>(kGapNs);
    }
    const std::string port = spec::format(spec_.links[link->links.front()].a);
    bool is_down = false;
    try {
      start(requests[0]);
      const auto modelled = [&] { return get("/status")["engine"]["modelled_seconds"].get<double>(); };
      const auto until = [&](double seconds) {
        while (modelled() < seconds) std::this_thread::sleep_for(20ms);
      };
      const double began = modelled();
      until(began + 0.7);
      const json down = ask(lab_, "POST", "/links", {{"link", port}, {"up", false}});
      is_down = true;
      until(down["effective_seconds"].get<double>() + 0.8);
      const json up = ask(lab_, "POST", "/links", {{"link", port}, {"up", true}});
      is_down = false;
      json result = get("/probes/result");
      for (; result["state"] == "running"; result = get("/probes/result")) std::this_thread::sleep_for(50ms);
      const double down_ns = 1e9 * (up["effective_seconds"].get<double>() - down["effective_seconds"].get<double>());
      run.report = {{"link", link->name}, {"down_ns", down_ns}, {"longest_ns", 0.0}, {"pairs", Json::array()}};
      for (const json& t : result["trains"]) {
        const auto lost = t["lost"].get<std::uint64_t>();
        // The last frames were sent long after the link had come back.
        const bool back =
            t["last_ns"].is_number() && t["last_ns"].get<double>() >= 1e9 * up["effective_seconds"].get<double>() + 1e8;
        run.report["pairs"].push_back({{"from", t["from"]}, {"to", t["to"]}, {"lost", lost}, {"back", back}});
        run.report["longest_ns"] = std::max(run.report["longest_ns"].get<double>(), static_cast<double>(lost) * kGapNs);
      }
    } catch (const std::runtime_error& error) {
      run.failure = error.what();
      if (is_down) ask(lab_, "POST", "/links", {{"link", port}, {"up", true}});
    }
    return run;
  }

  const daemon::LabDir& lab_;
  const ValidateOptions& o_;
  bool shows_;
  spec::Lab spec_;
  acceptance::Subject subject_;
  live::LabState state_;
  std::uint64_t seen_ = 0;
  std::map<std::string, int> asked_;  // what this validation itself has asked for, as the log calls it, and how often
};

}  // namespace

acceptance::Result validate_live(const daemon::LabDir& lab, const ValidateOptions& o,
                                 const acceptance::Settings& settings, const std::vector<const acceptance::Item*>& list,
                                 spec::Lab& picture) {
  const auto began = std::chrono::steady_clock::now();
  soak_time(o, {}, Duration{1});  // wrong values are refused before anything is sent
  std::set<ProbeKind> wanted;
  for (const acceptance::Item* i : list) wanted.insert(i->probes.begin(), i->probes.end());
  LiveValidation validation(lab, o, settings);
  const acceptance::Runs runs = validation.run(wanted);
  acceptance::Result result{lab.name(), validation.spec().name, "probes of a running lab"};
  for (const acceptance::Item* i : list) result.lines.push_back({i, acceptance::judge(*i, validation.subject(), runs)});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  result.live = true;
  picture = validation.spec();
  return result;
}

}  // namespace railyard::tools
