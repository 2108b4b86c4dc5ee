// Collectives and jobs that a running lab has of its own: watched, or started and stopped again.
#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "control/acceptance/live/own_work.h"
#include "control/api/message.h"
#include "control/report/units.h"
#include "tools/railyard/live.h"
#include "tools/railyard/until.h"
#include "tools/railyard/validate.h"

namespace railyard::tools {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;
namespace live = acceptance::live;

// So many iterations are watched, if they come in time.
constexpr std::size_t kIterations = 10;

bool has_agents(const json& collective) { return collective.contains("state"); }

// It goes on by itself.
bool runs(const json& c) {
  if (has_agents(c)) return c["state"] == "running";
  return !c["completed"].get<bool>() && !c["stopped"].get<bool>();
}

// Nothing of it goes on.
bool rests(const json& c) {
  if (has_agents(c)) return c["state"] == "done" || c["state"] == "failed";
  return std::ranges::all_of(c["iterations"], [](const json& i) { return i["time_ns"].is_number(); });
}

std::string failure_of(const json& c) {
  const auto stalled = c["stalled"].get<std::string>();
  if (has_agents(c) ? c["state"] == "failed" : stalled.find(" failed at ") != stalled.npos)
    return "it has failed: " + stalled;
  return c["wrong"].get<std::string>();
}

class OwnCollectives {
 public:
  OwnCollectives(const daemon::LabDir& lab, const spec::Lab& spec, Duration patience,
                 const std::function<void(const std::string&)>& asked, const std::function<void(const std::string&)>& note)
      : lab_(lab), spec_(spec), patience_(std::chrono::microseconds(patience.ps / 1'000'000)), asked_(asked), note_(note) {}

  Json all() {
    json first = look();
    for (json& c : first["collectives"]) c["at_seconds"] = first["at_seconds"];
    std::set<std::string> running;
    for (const json& c : first["collectives"])
      if (runs(c)) running.insert(c["name"].get<std::string>());
    Json out{{"collectives", Json::array()}};
    for (const json& c : first["collectives"]) {
      const auto name = c["name"].get<std::string>();
      note_(fmt::format("own work: {}", name));
      std::set<std::string> others = running;
      others.erase(name);
      out["collectives"].push_back(one(c, others));
      if (ended_by_signal()) throw std::runtime_error("interrupted; the collectives that it had started are stopped");
    }
    return out;
  }

 private:
  json look() const { return ask(lab_, "GET", "/collectives"); }
  json look(const std::string& name) const {
    json all = look();
    for (json& c : all["collectives"])
      if (c["name"] == name) {
        c["at_seconds"] = all["at_seconds"];
        return c;
      }
    throw std::runtime_error(fmt::format("collective {} is gone", name));
  }
  void change(const std::string& what, const std::string& name) {
    asked_(fmt::format("{} {}", what, name));
    ask(lab_, "POST", "/" + what, {{"name", name}});
  }

  // What the network is shared with.
  Json beside(const std::set<std::string>& collectives) const {
    Json out = collectives;
    for (const json& t : ask(lab_, "GET", "/flows")["traffic"])
      if (!t["has_end"].get<bool>() && !t["stopped"].get<bool>()) out.push_back(t["name"].get<std::string>());
    return out;
  }

  Json one(const json& c, const std::set<std::string>& others) {
    const auto name = c["name"].get<std::string>();
    Json j{{"name", name},
           {"is_job", c["job"].is_object()},
           {"agents", has_agents(c)},
           {"ranks", c["ranks"].size()},
           {"how", ""},
           {"why", ""},
           {"failure", failure_of(c)},
           {"beside", beside(others)}};
    for (const char* key : {"reference_ns", "computed", "median_ns", "busbw_bps", "utilisation"}) j[key] = nullptr;
    j["iterations"] = 0;
    if (const auto reference = live::reference_of(spec_, name, others)) {
      j["reference_ns"] = reference->time_ns;
      j["computed"] = reference->computed;
    }
    if (!j["failure"].get<std::string>().empty()) return j;
    if (runs(c))
      watch(c, j);
    else if (has_agents(c) && c["state"] != "done")
      j["why"] = fmt::format("its agents have not started it ({})", c["state"].get<std::string>());
    else
      start_and_watch(c, j);
    return j;
  }

  void start_and_watch(const json& before, Json& j) {
    const auto name = j["name"].get<std::string>();
    try {
      change("again", name);
    } catch (const api::ApiError& refused) {
      j["why"] = refused.what();
      return;
    }
    try {
      watch(before, j);
    } catch (...) {
      stop(name, j);
      throw;
    }
    stop(name, j);
  }

  // Waits until it rests. Only agents can stop theirs: these end by themselves.
  void stop(const std::string& name, Json& j) {
    json c = look(name);
    bool is_stopped = !has_agents(c) && !c["completed"].get<bool>();
    if (is_stopped) {
      try {
        change("stop", name);
      } catch (const api::ApiError& refused) {
        if (refused.status() != 409) throw;
        is_stopped = false;  // it has ended meanwhile
      }
    }
    j["how"] = is_stopped ? "started, and stopped again" : "started; it ran to its end";
    const auto until = std::chrono::steady_clock::now() + patience_;
    while (!rests(c) && failure_of(c).empty() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(50ms);
      c = look(name);
    }
  }

  void watch(const json& before, Json& j) {
    const auto name = j["name"].get<std::string>();
    j["how"] = "it was running";
    const auto until = std::chrono::steady_clock::now() + patience_;
    const double began = look(name)["at_seconds"].get<double>();
    // Of simulated time: an iteration that takes so much longer than it may is not waited for.
    constexpr double kPatient = 30;
    const double most_seconds =
        j["reference_ns"].is_number() ? 1 + kPatient * j["reference_ns"].get<double>() / 1e9 : 1e9;
    for (;;) {
      const json c = look(name);
      const Json done = live::progress(before, c);
      for (const auto& [key, value] : done.items()) j[key] = value;
      j["failure"] = failure_of(c);
      const double took = c["at_seconds"].get<double>() - began;
      const auto iterations = done["iterations"].get<std::size_t>();
      const bool over = !runs(c) && rests(c);
      if (iterations >= kIterations || over || !j["failure"].get<std::string>().empty() || ended_by_signal()) break;
      const bool too_long = iterations == 0 && took > most_seconds;
      if (too_long || std::chrono::steady_clock::now() > until) {
        if (iterations == 0) none_ended(j, took, too_long);
        break;
      }
      std::this_thread::sleep_for(50ms);
    }
    if (j["iterations"] == 0 && j["failure"].get<std::string>().empty() && j["why"].get<std::string>().empty())
      j["why"] = "no iteration ended while it was watched";
  }

  static void none_ended(Json& j, double seconds, bool too_long) {
    const std::string text =
        fmt::format("no iteration ended in {} of simulated time",
                    report::nanoseconds_text(static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9)));
    if (too_long)
      j["failure"] = text;
    else
      j["why"] = text + "; a longer --duration waits for it";
  }

  const daemon::LabDir& lab_;
  const spec::Lab& spec_;
  std::chrono::microseconds patience_;
  const std::function<void(const std::string&)>& asked_;
  const std::function<void(const std::string&)>& note_;
};

}  // namespace

acceptance::Run watch_own_collectives(const daemon::LabDir& lab, const spec::Lab& spec, Duration patience,
                                      const std::function<void(const std::string&)>& asked,
                                      const std::function<void(const std::string&)>& note) {
  acceptance::Run run;
  end_on_signal();  // what is started is stopped
  try {
    run.report = OwnCollectives(lab, spec, patience, asked, note).all();
  } catch (const api::ApiError& error) {
    run.failure = error.what();
  }
  return run;
}

}  // namespace railyard::tools
