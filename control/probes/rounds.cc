#include "control/probes/rounds.h"

#include <algorithm>
#include <utility>

#include "control/spec/probe_pairs.h"

namespace railyard::probes {
namespace {

Shape shape_of(const spec::ProbeSpec& p) { return {.dscp = p.dscp, .priority = p.priority, .payload = p.payload}; }

std::vector<Train> trains_of(const spec::Lab& lab) {
  std::vector<Train> out;
  const Duration slot = spec::probe_slot(lab);
  Duration start{};
  for (const spec::ProbedPair& p : spec::probed_pairs(lab)) {
    out.push_back({p.from, p.to, start, static_cast<std::uint32_t>(lab.probe->frames), {}});
    start = start + slot;
  }
  return out;
}

std::vector<History::Pair> pairs_of(const std::vector<Train>& trains) {
  std::vector<History::Pair> out;
  for (const Train& t : trains) out.push_back({t.from, t.to});
  return out;
}

double number(const Ratio& r) { return static_cast<double>(r.numerator) / static_cast<double>(r.denominator); }

}  // namespace

Rounds::Rounds(build::BuiltLab& lab, Prober& prober)
    : spec_(lab.spec().probe.value()),
      prober_(prober),
      shape_(shape_of(spec_)),
      trains_(trains_of(lab.spec())),
      history_(pairs_of(trains_), static_cast<std::size_t>(spec_.history), number(spec_.below)) {
  const Duration slot = spec::probe_slot(lab.spec());
  // As long again for the last frames: queues of other traffic.
  lasts_ = std::min(slot * static_cast<std::int64_t>(trains_.size()) + std::max(slot, Duration{1'000'000'000}),
                    spec_.every / 2);
}

void Rounds::begin(Engine& engine, Instant now) {
  sent_.clear();
  if (prober_.is_abandoned(now)) prober_.end(engine, now);
  std::vector<Train> trains;
  for (std::size_t i = 0; i < trains_.size(); ++i) {
    if (!prober_.is_free(trains_[i].from) || !prober_.is_free(trains_[i].to)) continue;
    trains.push_back(trains_[i]);
    sent_.push_back(i);
  }
  if (trains.empty() || prober_.running()) {
    ++skipped_;
    return;
  }
  prober_.begin(engine, now, std::move(trains), shape_);
  began_ = now;
  job_ = prober_.job();
}

void Rounds::end(Engine& engine, Instant now) {
  if (!began_) return;
  if (!prober_.running() || prober_.job() != job_) return give_up();  // somebody has taken them away
  const std::vector<Train> trains = prober_.trains();
  const std::vector<Arrived> arrived = prober_.end(engine, now);
  Round round{.at = *began_, .samples = std::vector<Sample>(trains_.size(), Sample{.measured = false})};
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const Arrived& a = arrived[i];
    Sample& s = round.samples[sent_[i]];
    s.measured = true;
    s.bps = bps_of(a, shape_, prober_.least_time(trains[i], shape_));
    if (a.latency.count() > 0) s.p50_ns = static_cast<std::int64_t>(a.latency.percentile(0.5) / 1000);
    s.lost = trains[i].frames - static_cast<std::uint32_t>(std::min<std::uint64_t>(a.received, trains[i].frames));
  }
  began_.reset();
  history_.add(std::move(round));
  if (tell_) tell_(history_);
}

void Rounds::give_up() {
  if (!began_) return;
  began_.reset();
  ++skipped_;
}

}  // namespace railyard::probes
