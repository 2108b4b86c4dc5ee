// Probes of all pairs, round by round, under either clock.
#include <memory>

#include "control/lab/session.h"

namespace railyard::lab {
namespace {

// Something to do at `at`, so that an idle lab comes by there.
void wake_at(build::BuiltLab& lab, Engine& engine, Instant at) {
  Device& first = *lab.fabric().devices().front();
  first.change_at(at, [](Instant) {});
  engine.wake(first.id(), at);
}

}  // namespace

// Rounds begin at each multiple of `every` before `until`.
void Session::start_probes(Instant until) {
  if (rounds_ == nullptr) return;
  const Duration every = rounds_->every();
  const Instant first = Instant{} + every;
  if (first >= until) return;
  wake_at(*lab_, *engine_, first);
  looks_.add(rounds_.get(), first, every, [this, until](Instant at) {
    if (at >= until) return;
    rounds_->begin(*engine_, at);
    const Instant over = at + rounds_->lasts();
    wake_at(*lab_, *engine_, over);
    if (at + rounds_->every() < until) wake_at(*lab_, *engine_, at + rounds_->every());
  });
  looks_.add(prober_.get(), first + rounds_->lasts(), every, [this](Instant at) { rounds_->end(*engine_, at); });
}

void Session::give_up_probes(Instant now) {
  if (!prober_->running()) return;
  engine_->settle(engine_->reached());
  prober_->end(*engine_, now);
  if (rounds_ != nullptr) rounds_->give_up();
}

}  // namespace railyard::lab
