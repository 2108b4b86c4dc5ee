#include "tests/scenarios/scenario.h"

#include <gtest/gtest.h>

#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "control/build/changes.h"
#include "control/report/judge.h"
#include "control/spec/load.h"
#include "control/spec/value.h"
#include "dataplane/run/virtual_clock.h"
#include "tests/support/books.h"

namespace railyard::test {

using namespace literals;

Scenario::Scenario(const std::string& yaml, const std::vector<std::string>& overrides, const EngineConfig& config)
    : Scenario(Clocks::kExact, yaml, overrides, config) {}

Scenario Scenario::with_clocks(const std::string& yaml, const std::vector<std::string>& overrides,
                               const EngineConfig& config) {
  return Scenario(Clocks::kOfTheLab, yaml, overrides, config);
}

spec::Lab Scenario::parse(const std::vector<std::string>& assignments) const {
  spec::Lab lab = spec::parse(yaml_, "scenario.yaml", assignments);
  if (clocks_ == Clocks::kExact)
    for (auto& [name, profile] : lab.hosts) profile.clock_error_ppb = 0;
  return lab;
}

Scenario::Scenario(Clocks clocks, const std::string& yaml, const std::vector<std::string>& overrides,
                   const EngineConfig& config)
    : clocks_(clocks),
      yaml_(yaml),
      assignments_(overrides),
      lab_(std::make_unique<build::BuiltLab>(parse(overrides))),
      engine_(std::make_unique<Engine>(lab_->fabric(), config)),
      faults_(std::make_unique<fault::Faults>(*lab_, *engine_)),
      routing_(std::make_unique<rerouting::RouteUpdates>(*lab_, *engine_)) {
  engine_->wake_all();
}

Scenario::~Scenario() {
  if (books_ && lab_ != nullptr && std::uncaught_exceptions() == 0) expect_books_balance();
}

std::string fix_of(const std::string& name) {
  const spec::Lab lab = spec::load(RAILYARD_SOURCE_DIR "/topologies/scenarios/" + name + ".yaml");
  if (lab.diagnosis.set.size() != 1) throw std::runtime_error(name + " does not name one value as its fix");
  return lab.diagnosis.set[0];
}

Scenario Scenario::healed(const std::string& name) { return ready(name, {fix_of(name)}); }

Scenario Scenario::ready(const std::string& name, const std::vector<std::string>& overrides,
                         const EngineConfig& config) {
  const std::string file = RAILYARD_SOURCE_DIR "/topologies/scenarios/" + name + ".yaml";
  std::ifstream in(file);
  if (!in) throw std::runtime_error("no file " + file);
  std::ostringstream text;
  text << in.rdbuf();
  return Scenario(text.str(), overrides, config);
}

const build::Flow& Scenario::flow(const std::string& name) const {
  for (const build::Flow& f : lab_->flows())
    if (f.plan.name == name) return f;
  throw std::out_of_range("no flow is called " + name);
}

void Scenario::set_at(Duration t, const std::vector<std::string>& assignments) {
  std::vector<std::string> all = assignments_;
  all.insert(all.end(), assignments.begin(), assignments.end());
  build::Changes changes(*lab_, parse(all), engine_->window());
  assignments_ = std::move(all);
  changes.give_to(*lab_, Instant{} + t);
  engine_->wake_all();
}

void Scenario::add_fault_at(Duration t, const std::string& text) {
  spec::Lab lab = lab_->spec();
  lab.faults = faults_->present();
  faults_->add(spec::parse_fault(lab, text, "fault"), Instant{} + t, Instant{} + t);
  engine_->wake_all();
}

void Scenario::remove_fault_at(Duration t, const std::string& name) {
  EXPECT_TRUE(faults_->remove(name, Instant{} + t, Instant{} + t)) << name;
  engine_->wake_all();
}

fault::FaultStatus Scenario::fault(const std::string& name) const {
  for (const fault::FaultStatus& s : faults_->status(engine_->reached()))
    if (s.name == name) return s;
  throw std::out_of_range("no fault is called " + name);
}

Scenario& Scenario::run_until(Duration t) {
  run_virtual(*engine_, Instant{} + t);
  engine_->settle(Instant{} + t);  // also when nothing was left to do earlier
  return *this;
}

Scenario& Scenario::run_to_the_end() {
  run_virtual(*engine_, Instant{} + 10_s);
  EXPECT_EQ(engine_->next(), Instant::never()) << "something is still going on after 10 s";
  return *this;
}

std::vector<report::CollectiveReport> Scenario::run_collectives() {
  run_to_the_end();
  expect_books_balance();
  std::vector<report::CollectiveReport> all = report().collectives;
  for (const report::CollectiveReport& c : all) {
    EXPECT_TRUE(c.completed) << c.name << ": " << c.stalled;
    EXPECT_TRUE(c.verified) << c.name << ": " << c.wrong;
  }
  return all;
}

bool Scenario::shows_its_diagnosis() {
  report::Report r = report();
  report::judge(r, lab_->spec());
  return !r.run.diagnosis.empty();
}

PortCounters Scenario::port(const std::string& name) {
  const PortRef p = lab_->port(spec::parse_port_name(name).value());
  return lab_->fabric()[p.device].counters().ports[p.port.index()];
}

ClassCounters Scenario::at(const std::string& name, int priority) {
  return port(name).classes[static_cast<std::size_t>(priority)];
}

std::uint64_t Scenario::drops(DropReason reason) {
  std::uint64_t n = 0;
  for (const auto& d : lab_->fabric().devices())
    for (const PortCounters& p : d->counters().ports) {
      n += p.drops[static_cast<std::size_t>(reason)];
      for (const ClassCounters& c : p.classes) n += c.drops[static_cast<std::size_t>(reason)];
    }
  return n;
}

std::uint64_t Scenario::dropped() {
  std::uint64_t n = 0;
  for (const auto& d : lab_->fabric().devices()) n += d->counters().dropped();
  return n;
}

void Scenario::expect_books_balance() { test::expect_books_balance(lab_->fabric()); }

}  // namespace railyard::test
