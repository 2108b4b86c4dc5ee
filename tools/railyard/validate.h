// What the parts of `railyard validate` share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/acceptance/probe.h"
#include "control/acceptance/soak.h"
#include "control/acceptance/table.h"
#include "control/daemon/lab_dir.h"

namespace railyard::tools {

struct ValidateOptions {
  std::string file;  // or the name of a running lab
  std::vector<std::string> sets;
  std::vector<std::string> only;
  std::string transport;
  double bandwidth = 90;  // %
  std::string p99, p999, loaded_p99;
  std::size_t pairs = 5000;
  std::string soak;      // empty: 20 intervals of a file, 5 minutes of a running lab
  std::string interval;  // of the soak; empty: acceptance::soak_interval(), or 10 s
  std::string checkpoint, resume;
  std::size_t planned_gpus = 0;
  std::string keep;
  std::string html;
  std::string junit;
  std::size_t jobs = 0;
  bool json = false;
  bool strict = false;
  bool disturb = false;      // of a running lab: take a link down
  std::string host_seconds;  // of an iperf3 between attached hosts
};

// Where probes are written: a folder of the user's, or one that goes with the command.
class ProbeFolder {
 public:
  explicit ProbeFolder(const std::string& kept);
  ~ProbeFolder();
  ProbeFolder(const ProbeFolder&) = delete;
  ProbeFolder& operator=(const ProbeFolder&) = delete;

  bool kept() const noexcept { return kept_; }
  // Returns the file's path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  bool kept_;
  std::filesystem::path path_;
};

// A soak that goes on where a checkpoint ends, and is saved after each interval (validate_soak.cc).
class SoakRun {
 public:
  // `asked` has no samples. Throws std::invalid_argument naming --resume: the file is no checkpoint of this soak.
  SoakRun(const ValidateOptions& options, acceptance::Soak asked);

  const acceptance::Soak& soak() const noexcept { return soak_; }
  bool has(std::size_t interval) const { return soak_.samples.contains(interval); }
  // Saves the checkpoint, if one was asked for.
  void add(std::size_t interval, acceptance::SoakSample sample);

 private:
  std::string file_;
  acceptance::Soak soak_;
};

// How long the soak is and its intervals are. Throws std::invalid_argument naming the option.
struct SoakTime {
  Duration whole, interval;
  std::size_t intervals() const {
    return interval.ps == 0 ? 0 : static_cast<std::size_t>((whole.ps + interval.ps - 1) / interval.ps);
  }
};
SoakTime soak_time(const ValidateOptions& options, Duration usual, Duration usual_interval);

// A file's soak: each interval a run of its own. Its report is that of one run, as far as the list reads it.
// `unbalanced`: set if packets are missing in the accounting of any.
acceptance::Run soak_of_file(const ValidateOptions& options, const acceptance::Subject& subject, const SoakTime& time,
                             const ProbeFolder& folder, bool shows, bool& unbalanced);

// A running lab.
acceptance::Result validate_live(const daemon::LabDir& lab, const ValidateOptions& options,
                                 const acceptance::Settings& settings, const std::vector<const acceptance::Item*>& list,
                                 spec::Lab& picture);

// Its own collectives and jobs (validate_own.cc): those that run are watched; those that rest are started, one after the
// other, and stopped again. For items/own_collectives.cc. `asked`: told of each request that changes the lab, as its log calls
// it ("again ring"), before it is made. Throws std::runtime_error if Ctrl-C ended it.
acceptance::Run watch_own_collectives(const daemon::LabDir& lab, const spec::Lab& spec, Duration patience,
                                      const std::function<void(const std::string&)>& asked,
                                      const std::function<void(const std::string&)>& note);

// Its attached hosts (validate_hosts.cc): for each kind a run, or why there is none. `note`: told what goes on.
void probe_hosts(const daemon::LabDir& lab, const spec::Lab& spec, const ValidateOptions& options,
                 const std::vector<acceptance::ProbeKind>& kinds, acceptance::Runs& runs,
                 const std::function<nlohmann::ordered_json()>& report,
                 const std::function<void(const std::string&)>& note);

}  // namespace railyard::tools
