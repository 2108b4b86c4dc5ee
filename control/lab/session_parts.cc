// A lab that several processes run together: each has all of it, and runs a part of its devices.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "control/lab/processes.h"
#include "control/lab/session.h"
#include "dataplane/run/placement.h"

namespace railyard::lab {
namespace {

// The first process says who runs what: METIS draws from the C library's generator, which may be another elsewhere.
std::vector<std::uint16_t> agreed_parts(const Fabric& fabric, Peers& peers) {
  std::vector<std::uint16_t> part_of;
  std::string error;
  if (peers.self() == 0) {
    try {
      part_of = split_devices(fabric, peers.count());
    } catch (const std::invalid_argument& e) {
      error = e.what();
    }
  }
  StateArchive mine;
  mine(part_of, error);
  const auto given = peers.give_all(mine.take());
  if (peers.self() != 0) {
    StateArchive in{std::span(given[0])};
    in(part_of, error);
  }
  if (!error.empty()) throw std::invalid_argument(error);
  return part_of;
}

}  // namespace

// Before anything is opened. All look at the lab at the same instants, so all make series and metrics, and only the
// first keeps them.
void Session::split() {
  if (options_.peers == nullptr) return;
  check_runs_in_parts(lab_->spec());
  // One whose lab cannot be built ends all here.
  meet(*options_.peers, nullptr);
  parts_ = {options_.peers, agreed_parts(lab_->fabric(), *options_.peers)};
  if (options_.peers->self() == 0) return;
  constexpr const char* kNowhere = "/dev/null";
  if (options_.series) {
    if (!options_.series->file.empty()) options_.series->file = kNowhere;
    if (!options_.series->flows_file.empty()) options_.series->flows_file = kNowhere;
  }
  if (options_.metrics) options_.metrics->file = kNowhere;
  options_.int_file.reset();
}

// `loaded`: counters of the end of traffic that were asked for, or nullptr.
void Session::end_together(Taken* loaded) {
  figures_->gather_for_report();
  for (Taken* taken : {loaded, ended_.get()})
    if (taken != nullptr) taken->devices.store(figures_->complete(taken->counters));
}

// What others than the first do while that makes the report of all. What it asks all for is answered here.
report::Report Session::not_the_first() {
  report::Report r;
  add_cost(r.engine);
  if (int_->running()) int_->look();
  return r;
}

// Each window says whether traffic may have ended; only then is everything exchanged and looked at.
void Session::watch_traffic_end_together() {
  struct Said {
    bool all_over = false;
    bool any_failed = false;
  };
  const auto said = std::make_shared<Said>();
  lab_->fabric().share_between_windows(traffic_end_.get(),
                                       {[this, said](StateArchive& archive) {
                                          telemetry::TrafficEnd::Hint hint = traffic_end_->hint(engine_->reached());
                                          archive(hint);
                                          *said = {hint.is_over, hint.has_failed};
                                        },
                                        [said](StateArchive& archive) {
                                          telemetry::TrafficEnd::Hint hint;
                                          archive(hint);
                                          said->all_over = said->all_over && hint.is_over;
                                          said->any_failed = said->any_failed || hint.has_failed;
                                        }});
  traffic_may_be_over_ = [said] { return said->all_over || said->any_failed; };
}

// Captures of ports that other processes run, under the names that were asked for.
void Session::fetch_far_captures() {
  if (!parts_ || far_captures_.empty()) return;
  const std::size_t self = parts_.peers->self();
  std::map<std::string, std::string> mine;
  for (const FarCapture& c : far_captures_) {
    if (c.process != self || c.temporary.empty()) continue;
    std::ifstream in(c.temporary, std::ios::binary);
    mine[c.file].assign(std::istreambuf_iterator<char>(in), {});
    unlink(c.temporary.c_str());
  }
  StateArchive archive;
  archive(mine);
  const auto given = parts_.peers->give_first(archive.take());
  for (std::size_t p = 1; p < given.size(); ++p) {
    StateArchive in{std::span(given[p])};
    std::map<std::string, std::string> files;
    in(files);
    for (const auto& [file, octets] : files) {
      std::ofstream to(file, std::ios::binary | std::ios::trunc);
      to << octets << std::flush;
      if (!to) unwritten_.push_back(fmt::format("cannot write {}", file));
    }
  }
}

}  // namespace railyard::lab
