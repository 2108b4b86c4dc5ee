// The soak of `railyard validate`: intervals, checkpoints, and a file's intervals as runs.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/base/read_file.h"
#include "control/spec/lab_digest.h"
#include "control/spec/load.h"
#include "control/spec/to_yaml.h"
#include "control/spec/value.h"
#include "tools/railyard/runs.h"
#include "tools/railyard/validate.h"
#include "tools/railyard/write_file.h"

namespace railyard::tools {
namespace {

Duration option_time(const char* option, const std::string& text, Duration usual) {
  if (text.empty()) return usual;
  const auto t = spec::parse_duration(text);
  if (!t) throw std::invalid_argument(fmt::format("{}: {}", option, t.error()));
  return *t;
}

std::uint64_t count_or_0(const nlohmann::ordered_json& j) { return j.is_number() ? j.get<std::uint64_t>() : 0; }

// What one run of the soak says.
acceptance::SoakSample soak_sample_of(const nlohmann::ordered_json& report) {
  acceptance::SoakSample s;
  for (const auto& f : report["flows"]) {
    s.packets += count_or_0(f["packets"]);
    s.lost += count_or_0(f["lost"]);
    s.corrupted += count_or_0(f["corrupted"]);
  }
  for (const auto& p : report["ports"]) {
    s.drops += count_or_0(p["lost_on_link"]);
    for (const auto& [reason, n] : p["drops"].items()) s.drops += count_or_0(n);
    for (const auto& c : p["classes"])
      for (const auto& [reason, n] : c["drops"].items()) s.drops += count_or_0(n);
  }
  for (const auto& v : report["verdicts"])
    if (v["verdict"] == "fail" && (v["name"] == "lossless" || v["name"] == "deadlock" || v["name"] == "data"))
      s.failures.push_back(fmt::format("{}: {}", v["name"].get<std::string>(), v["text"].get<std::string>()));
  return s;
}

// As one run would report it.
nlohmann::ordered_json soak_report_of(const acceptance::Soak& soak) {
  const acceptance::SoakSums all = acceptance::sums(soak);
  nlohmann::ordered_json out{{"flows", {{{"packets", all.packets}, {"lost", all.lost}, {"corrupted", all.corrupted}}}},
                             {"intervals", all.intervals},
                             {"verdicts", nlohmann::ordered_json::array()}};
  for (const std::string& f : all.failures)
    out["verdicts"].push_back({{"name", f.substr(0, f.find(':'))},
                               {"verdict", "fail"},
                               {"text", f.substr(std::min(f.size(), f.find(':') + 2))}});
  return out;
}

}  // namespace

SoakTime soak_time(const ValidateOptions& o, Duration usual, Duration usual_interval) {
  SoakTime t{option_time("--soak", o.soak, usual), option_time("--interval", o.interval, usual_interval)};
  if (t.whole < Duration{})
    throw std::invalid_argument(fmt::format("--soak: {} is below 0; expected a time, or 0 for none", o.soak));
  if (t.interval <= Duration{})
    throw std::invalid_argument(fmt::format("--interval: {}; expected a time above 0", o.interval));
  t.interval = t.whole > Duration{} ? std::min(t.interval, t.whole) : t.interval;
  return t;
}

SoakRun::SoakRun(const ValidateOptions& o, acceptance::Soak asked)
    : file_(o.checkpoint.empty() ? o.resume : o.checkpoint), soak_(std::move(asked)) {
  if (o.resume.empty()) {
    // What would keep it from being written is said before hours have gone by.
    if (!file_.empty()) write_file(file_, json_text(acceptance::checkpoint(soak_), 1) + "\n", "--checkpoint");
    return;
  }
  acceptance::Soak saved;
  try {
    saved = acceptance::from_checkpoint(spec::read_file(o.resume));
  } catch (const std::exception& error) {
    throw std::invalid_argument(fmt::format("--resume: {}: {}", o.resume, error.what()));
  }
  if (const std::string why = acceptance::why_not_resumed(saved, soak_); !why.empty())
    throw std::invalid_argument(fmt::format("--resume: {}: {}", o.resume, why));
  soak_.samples = std::move(saved.samples);
}

void SoakRun::add(std::size_t interval, acceptance::SoakSample sample) {
  soak_.samples[interval] = std::move(sample);
  if (!file_.empty()) write_file(file_, json_text(acceptance::checkpoint(soak_), 1) + "\n", "--checkpoint");
}

acceptance::Run soak_of_file(const ValidateOptions& o, const acceptance::Subject& subject, const SoakTime& time,
                             const ProbeFolder& folder, bool shows, bool& unbalanced) {
  using acceptance::ProbeKind;
  acceptance::Run run;
  const auto probe = acceptance::probe_of(subject, ProbeKind::kSoak);
  if (!probe) {
    run.not_run = acceptance::why_not(ProbeKind::kSoak);
    return run;
  }
  SoakRun soak(o, {.lab = spec::lab_digest(subject.lab),
                   .transport = subject.uet ? "UET" : "RoCEv2",
                   .live = false,
                   .interval_seconds = static_cast<double>(time.interval.ps) / 1e12});
  // Each has a seed of its own: other paths and phases.
  std::vector<std::vector<std::string>> commands;
  std::vector<std::size_t> numbers;
  const std::size_t n = time.intervals();
  for (std::size_t i = 0; i < n; ++i) {
    if (soak.has(i)) continue;
    spec::Lab lab = probe->lab;
    lab.run.seed = Seed{lab.run.seed.value + i};
    lab.run.duration = time.interval;
    const std::string name =
        n == 1 ? acceptance::name(ProbeKind::kSoak) : fmt::format("{}-{}", acceptance::name(ProbeKind::kSoak), i + 1);
    commands.push_back({folder.write(name + ".yaml", spec::to_yaml(lab))});
    numbers.push_back(i);
    if (folder.kept() && run.file.empty()) run.file = commands.back().front();
  }
  run_all(commands, {.parallel = o.jobs, .shows = shows}, [&](RunResult r) {
    unbalanced |= r.exit_code == kUnbalanced;
    if (r.report.is_null()) {
      run.failure = r.failure;
      return;
    }
    acceptance::SoakSample s = soak_sample_of(r.report);
    s.seconds = static_cast<double>(time.interval.ps) / 1e12 * static_cast<double>(numbers[r.index] + 1);
    soak.add(numbers[r.index], std::move(s));
  });
  if (run.failure.empty()) run.report = soak_report_of(soak.soak());
  return run;
}

}  // namespace railyard::tools
