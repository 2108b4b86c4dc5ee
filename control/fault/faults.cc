#include "control/fault/faults.h"

#include <algorithm>
#include <map>
#include <variant>

#include <fmt/format.h>

#include "control/spec/fault_place.h"
#include "control/spec/load.h"
#include "control/spec/spec_error.h"
#include "dataplane/base/state_archive.h"

namespace railyard::fault {
namespace {

// The occurrences of a fault on frames that have begun before `end`: however many, and the last. Chance has no say in
// them, but in which frames are touched.
struct Begun {
  std::uint64_t count = 0;
  Interval last{};
};
Begun begun_before(const ActivityConfig& c, Instant end) {
  Begun b;
  if (c.listed) {
    const auto later = std::ranges::find_if(*c.listed, [&](const Interval& i) { return i.begin >= end; });
    b.count = static_cast<std::uint64_t>(later - c.listed->begin());
    if (b.count != 0) b.last = *(later - 1);
    return b;
  }
  end = std::min(end, c.until);
  if (c.first >= end) return b;
  const bool again = c.every > Duration{};
  b.count = again ? static_cast<std::uint64_t>(((end - c.first).ps - 1) / c.every.ps + 1) : 1;
  if (again && c.count != 0) b.count = std::min(b.count, c.count);
  b.last.begin = c.first + c.every * static_cast<std::int64_t>(b.count - 1);
  if (c.lasts > Duration{}) b.last.end = b.last.begin + (again ? std::min(c.lasts, c.every) : c.lasts);
  b.last.end = std::min(b.last.end, c.until);
  return b;
}

std::string where_of(const spec::FaultSpec& f) {
  std::string text;
  for (const spec::FaultPlace& p : f.on) text += (text.empty() ? "" : ", ") + spec::format(p);
  return text;
}

}  // namespace

Faults::Faults(build::BuiltLab& lab, Engine& engine) : lab_(lab), engine_(engine) {
  // All of them fit before the first begins.
  std::vector<Fault> made;
  for (const spec::FaultSpec& f : lab.spec().faults) made.push_back(make(f, Instant{}, {}));
  for (Fault& f : made) start(std::move(f));
}

Faults::~Faults() {
  lab_.fabric().share_no_more(this);
  engine_.after_windows(this, nullptr);
  for (Fault& f : faults_)
    if (f.watch != nullptr) f.watched->unwatch(*f.watch);
}

Faults::Faults(build::BuiltLab& lab, Engine& engine, const std::vector<LoggedFault>& replayed)
    : lab_(lab), engine_(engine) {
  std::vector<Fault> made;
  for (const LoggedFault& f : replayed) {
    made.push_back(make(spec::parse_fault({.name = lab.spec().name,
                                           .description = {},
                                           .qos = lab.spec().qos,
                                           .switches = lab.spec().switches,
                                           .hosts = lab.spec().hosts,
                                           .nodes = lab.spec().nodes,
                                           .links = lab.spec().links,
                                           .traffic = lab.spec().traffic,
                                           .collectives = lab.spec().collectives,
                                           .faults = {},
                                           .routing = lab.spec().routing,
                                           .run = lab.spec().run,
                                           .probe = {},
                                           .compare = {},
                                           .diagnosis = {},
                                           .expect = {},
                                           .sites = {},
                                           .trunks = {},
                                           .index = {},
                                           .whole = {}},
                                          f.text, f.place),
                        f.added, f.happened));
    made.back().removed = f.removed;
    made.back().removal_asked = f.removed.value_or(Instant{});
  }
  for (Fault& f : made) start(std::move(f));
}

Faults::Fault Faults::make(spec::FaultSpec spec, Instant added, const std::optional<std::vector<Interval>>& listed) {
  Fault f;
  f.added = f.asked = added;
  f.when = activity_of(spec, added, listed);
  if (!f.when.listed && f.when.first < added)
    throw spec::SpecError(
        {},
        fmt::format("fault {}: at: {} has passed, it is {:.6f}s now; expected a later instant, or `after` (from now)",
                    spec.name, spec::format(*spec.at), seconds(added - Instant{})));
  if (spec::acts_on_frames(spec.action))
    f.directions = frame_faults(lab_, spec, f.when);
  else
    f.states = state_faults(lab_, spec, next_id_++, f.when, engine_.window());
  if (spec.when && !listed) {
    const spec::FaultTrigger& t = *spec.when;
    const PortRef port = lab_.port({t.node, t.port});
    f.watched = &lab_.switch_named(t.node);
    f.watch = std::make_shared<QueueWatch>(
        QueueWatch{.port = port.port, .priority = Priority{static_cast<std::uint8_t>(t.traffic_class)}});
    if (t.depth_above) f.watch->depth_above = static_cast<std::uint64_t>(t.depth_above->n);
    f.watch->paused_above = t.paused_above;
    f.chance = RngStream(lab_.spec().run.seed, fmt::format("fault/{}/when", spec.name));
  }
  f.spec = std::move(spec);
  return f;
}

void Faults::start(Fault fault) {
  for (const FaultyDirection& d : fault.directions) {
    if (d.retried_by)
      lab_.fabric()[d.retried_by->device].add_retried_fault(d.retried_by->port, d.fault);
    else
      lab_.fabric()[d.receiver.device].link_faults(d.receiver.port, d.longest).add(d.fault);
  }
  for (const std::shared_ptr<StateFault>& s : fault.states) s->start();
  if (fault.watch != nullptr) {
    fault.watched->watch(fault.watch);
    engine_.after_windows(this, [this] { look(); });
    lab_.fabric().share_between_windows(
        this, {[this](StateArchive& a) { give_came_true(a); }, [this](StateArchive& a) { take_came_true(a); }});
  }
  faults_.push_back(std::move(fault));
  engine_.wake_all();
}

void Faults::look() {
  bool any = false;
  for (Fault& f : faults_) {
    if (f.watch == nullptr || f.watch->came_true.empty()) continue;
    // A switch that is behind looks before the fault is there: what was so already has come true when it is.
    for (const Instant at : f.watch->came_true) occur(f, std::max(at, f.added));
    f.watch->came_true.clear();
    any = true;
  }
  if (any) engine_.wake_all();
}

// Of switches that this process runs; the others act on it as this one does.
void Faults::give_came_true(StateArchive& archive) {
  std::map<std::size_t, std::vector<Instant>> all;
  for (std::size_t i = 0; i < faults_.size(); ++i)
    if (const Fault& f = faults_[i]; f.watch != nullptr && !f.watched->is_elsewhere() && !f.watch->came_true.empty())
      all.emplace(i, f.watch->came_true);
  archive(all);
}

void Faults::take_came_true(StateArchive& archive) {
  std::map<std::size_t, std::vector<Instant>> all;
  archive(all);
  for (auto& [i, instants] : all) faults_.at(i).watch->came_true = std::move(instants);
}

void Faults::exchange_figures(StateArchive& archive, const std::function<bool(DeviceId)>& at) {
  for (Fault& f : faults_) {
    for (const std::shared_ptr<StateFault>& s : f.states)
      if (at(s->device().id())) s->exchange_figures(archive);
    for (const FaultyDirection& d : f.directions)
      if (at(d.retried_by.value_or(d.receiver).device)) d.fault->exchange_figures(archive);
  }
}

void Faults::occur(Fault& f, Instant came_true) {
  const Instant begin = came_true + lab_.fabric().window().size + f.spec.after.value_or(Duration{});
  if (begin < f.rests_from || (f.spec.count != 0 && f.came_true.size() >= f.spec.count)) return;
  if (f.spec.probability && !spec::acts_on_frames(f.spec.action) &&
      !Chance::of(f.spec.probability->numerator, f.spec.probability->denominator).happens(f.chance))
    return;
  f.came_true.push_back(came_true);
  const Interval interval{begin, f.spec.lasts ? begin + *f.spec.lasts : Instant::never()};
  f.rests_from = interval.end;
  f.when.listed->push_back(interval);
  for (const FaultyDirection& d : f.directions) d.fault->occur(interval);
  for (const std::shared_ptr<StateFault>& s : f.states) s->occur(interval);
}

void Faults::add(spec::FaultSpec spec, Instant now, Instant asked) {
  for (const Fault& f : faults_)
    if (f.spec.name == spec.name && !f.removed)
      throw spec::SpecError({}, fmt::format("a fault {} exists already; expected another name", spec.name));
  Fault f = make(std::move(spec), now, {});
  f.asked = asked;
  start(std::move(f));
}

bool Faults::remove(const std::string& name, Instant now, Instant asked) {
  const auto f = std::ranges::find_if(faults_, [&](const Fault& x) { return x.spec.name == name && !x.removed; });
  if (f == faults_.end()) return false;
  f->removed = now;
  f->removal_asked = asked;
  if (f->watch != nullptr) f->watched->unwatch(*f->watch);
  f->watch.reset();
  for (const FaultyDirection& d : f->directions) {
    d.fault->end_at(now);
    const PortRef at = d.retried_by.value_or(d.receiver);
    Device& device = lab_.fabric()[at.device];
    device.change_at(now, [&device, port = at.port, retried = d.retried_by.has_value()](Instant then) {
      retried ? device.prune_retried_faults(then, port) : device.prune_link_faults(then, port);
    });
  }
  for (const std::shared_ptr<StateFault>& s : f->states) s->stop(now);
  engine_.wake_all();
  return true;
}

std::vector<Faults::Occurrence> Faults::occurrences(const Fault& f, Instant now) const {
  std::vector<Occurrence> out;
  const auto requested = [&](const Interval& i) {
    return out.size() < f.came_true.size() ? f.came_true[out.size()] : i.begin;
  };
  if (!f.states.empty()) {
    for (const Interval& i : f.states.front()->happened()) out.push_back({i, requested(i), 0});
    // All devices agree about the occurrences.
    for (const std::shared_ptr<StateFault>& s : f.states) {
      const std::vector<std::uint64_t> touched = s->touched_by_occurrence();
      for (std::size_t i = 0; i < std::min(out.size(), touched.size()); ++i) out[i].frames += touched[i];
    }
    return out;
  }
  const Instant end = std::min(now, f.removed.value_or(Instant::never()));
  Activity activity(f.when, RngStream(lab_.spec().run.seed, fmt::format("fault/{}/when", f.spec.name)));
  while (out.size() < kMostOccurrences) {
    const auto i = activity.next();
    if (!i || i->begin >= end) break;
    out.push_back({{i->begin, f.removed ? std::min(i->end, *f.removed) : i->end}, requested(*i), 0});
  }
  for (const FaultyDirection& d : f.directions)
    for (const FrameFault::Touched& t : d.fault->touched_by_occurrence())
      if (const auto o = std::ranges::find(out, t.when.begin, [](const Occurrence& x) { return x.when.begin; });
          o != out.end())
        o->frames += t.frames;
  return out;
}

bool Faults::counts_frames(const Fault& f) {
  return spec::acts_on_frames(f.spec.action) ||
         std::ranges::any_of(f.states, [](const auto& x) { return x->counts_frames(); });
}

std::uint64_t Faults::frames_of(const Fault& f) {
  std::uint64_t frames = 0;
  for (const FaultyDirection& d : f.directions) frames += d.fault->touched();
  for (const std::shared_ptr<StateFault>& s : f.states) frames += s->touched();
  return frames;
}

std::vector<FaultStatus> Faults::status(Instant now) const {
  std::vector<FaultStatus> out;
  for (const Fault& f : faults_) {
    FaultStatus s{f.spec.name, spec::word(f.spec.action), where_of(f.spec), spec::acts_on_frames(f.spec.action)};
    s.removed = f.removed.has_value() && *f.removed <= now;
    if (f.states.empty()) {
      const Begun b = begun_before(f.when, std::min(now, f.removed.value_or(Instant::never())));
      s.occurrences = b.count;
      s.active = b.count != 0 && now < b.last.end && !s.removed;
    } else {
      s.occurrences = f.states.front()->occurrences();
      s.active = f.states.front()->active();
    }
    s.counts_frames = counts_frames(f);
    s.frames = frames_of(f);
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<LoggedEvent> Faults::events(Instant now) const {
  std::vector<LoggedEvent> out;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const Fault& f = faults_[i];
    const auto event = [&](LoggedEvent::Kind kind, Instant at) {
      LoggedEvent e;
      e.kind = kind;
      e.fault = f.spec.name;
      e.what = spec::word(f.spec.action);
      e.where = where_of(f.spec);
      e.requested = e.effective = at;
      if (!counts_frames(f)) e.frames.reset();
      return e;
    };
    LoggedEvent& added = out.emplace_back(event(LoggedEvent::Kind::kAdded, f.added));
    added.requested = f.asked;
    added.text = spec::to_text(f.spec);
    for (const Occurrence& o : occurrences(f, now)) {
      LoggedEvent& begin = out.emplace_back(event(LoggedEvent::Kind::kBegin, o.when.begin));
      begin.requested = o.requested;
      if (o.when.end > now) {
        // It goes on; what it has done so far is said with its beginning.
        if (begin.frames) begin.frames = o.frames;
        continue;
      }
      LoggedEvent& end = out.emplace_back(event(LoggedEvent::Kind::kEnd, o.when.end));
      if (f.removed && o.when.end == *f.removed) end.requested = f.removal_asked;
      if (end.frames) end.frames = o.frames;
    }
    if (f.removed && *f.removed <= now) {
      LoggedEvent& removed = out.emplace_back(event(LoggedEvent::Kind::kRemoved, *f.removed));
      removed.requested = f.removal_asked;
      if (removed.frames) removed.frames = frames_of(f);
    }
  }
  std::ranges::stable_sort(out, {}, &LoggedEvent::effective);
  return out;
}

std::vector<LoweredRate> Faults::lowered_rates() const {
  std::vector<LoweredRate> all;
  for (const Fault& f : faults_) {
    const auto* const rate = std::get_if<spec::fault::Rate>(&f.spec.action);
    if (rate == nullptr || f.states.empty()) continue;
    const double share = static_cast<double>(rate->share.numerator) / static_cast<double>(rate->share.denominator);
    for (const PortRef sender : senders_of(lab_, f.spec))
      for (const Interval& when : f.states.front()->happened()) all.push_back({sender, share, when});
  }
  return all;
}

std::vector<spec::FaultSpec> Faults::present() const {
  std::vector<spec::FaultSpec> out;
  for (const Fault& f : faults_)
    if (!f.removed) out.push_back(f.spec);
  return out;
}

}  // namespace railyard::fault
