#include "control/front/lab_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/base/json_text.h"
#include "control/front/merge_samples.h"
#include "control/front/merge_state.h"

namespace railyard::front {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

std::int64_t steady_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}
double unix_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::shared_ptr<const std::string> event(const char* name, const json& data) {
  return std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n\n", name, json_text(data)));
}

constexpr std::int64_t kStillThere = 5'000;  // ms
constexpr std::int64_t kShared = 200;        // ms: what is composed is for all who ask so soon after each other
constexpr std::int64_t kFirstAnswers = 2'000;

}  // namespace

LabWatch::LabWatch(std::string name, const SitePlan& plan, const LinkMap& map, SiteLinks& links)
    : name_(std::move(name)), plan_(plan), map_(map), links_(links), happenings_(map) {
  for (const std::string& site : plan.sites) seen_[site];
  for (std::size_t i = 0; i < links_.size(); ++i)
    threads_.emplace_back([this, &link = links_[i]](const std::stop_token& stop) { follow(link, stop); });
}

LabWatch::~LabWatch() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void LabWatch::want() {
  const std::int64_t now = steady_ms();
  const std::int64_t before = wanted_.exchange(now);
  if (now - before <= kStillThere) return;
  {
    const std::scoped_lock lock(mutex_);
    wanted_since_ = now;
    // What was known when somebody last looked is old.
    for (auto& [site, seen] : seen_) seen.has_answered = false;
    sample_ = nullptr;
    sample_event_ = nullptr;
  }
  look_soon();
}

bool LabWatch::is_wanted() const { return steady_ms() - wanted_ < kStillThere; }

void LabWatch::look_soon() {
  {
    const std::scoped_lock lock(sleep_);
    ++hurries_;
  }
  wake_.notify_all();
}

// One site, by a thread of its own.
void LabWatch::follow(SiteLink& link, const std::stop_token& stop) {
  const std::string& site = link.site().name;
  std::uint64_t hurries = 0;
  while (!stop.stop_requested()) {
    bool is_away = false;
    if (is_wanted()) try {
        std::string target;
        {
          const std::scoped_lock lock(mutex_);
          target = fmt::format("/news?after={}&state={}", seen_.at(site).happenings, seen_.at(site).states);
        }
        const double asked = unix_seconds();
        const json news = link.ask("GET", target);
        take(site, news, asked, unix_seconds());
      } catch (const std::exception&) {
        is_away = true;  // it is away, or not of this version: the messenger says so
      }
    std::unique_lock lock(sleep_);
    wake_.wait_for(lock, stop, is_away ? std::chrono::milliseconds(1s) : kEvery, [&] { return hurries_ != hurries; });
    hurries = hurries_;
  }
}

void LabWatch::take(const std::string& site, const json& news, double asked, double answered) {
  if (!news.is_object()) return;
  const std::scoped_lock lock(mutex_);
  Seen& seen = seen_.at(site);
  if (const json at = news.value("unix_seconds", json()); at.is_number()) seen.clock.add(asked, at.get<double>(), answered);
  if (const json sample = news.value("sample", json()); sample.is_object()) seen.sample = sample;
  if (const json trunks = news.value("trunks", json()); trunks.is_array()) seen.trunks = trunks;
  if (const json state = news.value("state", json()); is_state(state)) {
    seen.state = state;
    has_new_state_ = true;
  }
  if (const json states = news.value("states", json()); states.is_number_unsigned()) seen.states = states.get<std::uint64_t>();
  if (!seen.modelled_offset) measure_clocks();
  seen.happenings = happenings_.take(site, news.value("happenings", json()), seen.happenings,
                                     {.unix_offset = seen.clock.offset(), .modelled_offset = seen.modelled_offset.value_or(0)});
  seen.has_answered = true;
  has_news_ = true;
}

// What was measured once stays: a site that is away has stopped its clock for nobody else.
void LabWatch::measure_clocks() {
  Answers trunks;
  for (const auto& [site, seen] : seen_) trunks[site] = {{"trunks", seen.trunks}};
  try {
    for (const auto& [site, clock] : clock_offsets(plan_, trunks, plan_.sites.front()))
      seen_.at(site).modelled_offset = static_cast<double>(clock.offset_ns) / 1e9;
  } catch (const json::exception&) {
    // A site said something else of a trunk: its clock is not known.
  }
}

// Since somebody looks; or it takes them too long.
bool LabWatch::have_answered(const std::vector<SiteState>& sites) const {
  return steady_ms() - wanted_since_ > kFirstAnswers ||
         std::ranges::all_of(sites, [this](const SiteState& s) { return !s.why_gone.empty() || seen_.at(s.name).has_answered; });
}

void LabWatch::compose() {
  if (!has_news_ || steady_ms() - composed_at_ < kShared) return;
  const std::vector<SiteState> sites = links_.states();
  // What was before anybody looked comes together, and in order.
  if (!have_answered(sites)) return;
  happenings_.settle();
  composed_at_ = steady_ms();
  has_news_ = false;
  measure_clocks();
  Answers samples;
  std::optional<double> modelled;
  for (const SiteState& s : sites) {
    const Seen& seen = seen_.at(s.name);
    if (!s.why_gone.empty() || !seen.sample.is_object()) continue;
    samples[s.name] = seen.sample;
    if (const json at = seen.sample.value("modelled_seconds", json()); at.is_number() && !modelled)
      modelled = at.get<double>() - seen.modelled_offset.value_or(0);
  }
  if (!samples.empty() || sample_.is_object()) {
    json sample = merged_sample(map_, samples);
    sample["number"] = ++samples_;
    sample["unix_seconds"] = unix_seconds();
    // A lab whose sites are all away stands still.
    sample["modelled_seconds"] = modelled ? json(*modelled) : sample_.is_object() ? sample_["modelled_seconds"] : json(0);
    sample_ = std::move(sample);
    sample_event_ = event("sample", sample_);
  }
  if (std::exchange(has_new_state_, false)) compose_state(sites);
}

void LabWatch::compose_state(const std::vector<SiteState>& sites) {
  Answers states;
  for (const SiteState& s : sites)
    if (s.why_gone.empty() && seen_.at(s.name).state.is_object()) states[s.name] = seen_.at(s.name).state;
  ++states_;
  state_event_ = event("state", merged_state(name_, plan_, map_, states, sites));
}

json LabWatch::last_sample() {
  want();
  const std::scoped_lock lock(mutex_);
  compose();
  return sample_;
}

json LabWatch::happened(std::uint64_t seen) {
  want();
  const std::scoped_lock lock(mutex_);
  compose();
  json out = json::array();
  for (const daemon::Happening& h : happenings_.after(seen)) out.push_back(h.json());
  return {{"happenings", std::move(out)}};
}

double LabWatch::unix_offset(const std::string& site) const {
  const std::scoped_lock lock(mutex_);
  return seen_.at(site).clock.offset();
}

double LabWatch::modelled_offset(const std::string& site) const {
  const std::scoped_lock lock(mutex_);
  return seen_.at(site).modelled_offset.value_or(0);
}

void LabWatch::note_site(const std::string& site, const std::string& why_gone) {
  const std::scoped_lock lock(mutex_);
  happenings_.add({.modelled_seconds = sample_.is_object() ? sample_.value("modelled_seconds", 0.0) : 0,
                   .kind = "site",
                   .element = site,
                   .text = why_gone.empty() ? fmt::format("site {} answers again", site)
                                            : fmt::format("site {} is away: {}", site, why_gone)});
  has_news_ = true;
  has_new_state_ = true;
}

void LabWatch::farewell(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    goodbye_ = event("ended", {{"why", why}});
  }
  const auto until = std::chrono::steady_clock::now() + 1s;
  while (streams_ > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
}

// What one client has been told.
class LabWatch::Stream {
 public:
  explicit Stream(LabWatch& watch) : watch_(watch) { ++watch_.streams_; }
  ~Stream() { --watch_.streams_; }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::optional<std::string> next() {
    watch_.want();
    const std::scoped_lock lock(watch_.mutex_);
    if (watch_.goodbye_ != nullptr) {
      if (std::exchange(said_goodbye_, true)) return std::nullopt;
      return *watch_.goodbye_;
    }
    watch_.compose();
    std::string out;
    if (std::exchange(is_new_, false))
      out += *event("hello", {{"ends", 2 * watch_.map_.lab().links.size()}, {"sampled_every_ms", kEvery.count()}});
    if (std::exchange(states_, watch_.states_) != watch_.states_) out += *watch_.state_event_;
    const std::vector<daemon::Happening> news = watch_.happenings_.after(happenings_);
    if (!news.empty()) {
      happenings_ = news.back().number;
      json lines = json::array();
      for (const daemon::Happening& h : news) lines.push_back(h.json());
      out += *event("happenings", lines);
    }
    const bool is_new = std::exchange(samples_, watch_.samples_) != watch_.samples_;
    if (is_new && watch_.sample_event_ != nullptr) out += *watch_.sample_event_;
    return out;
  }

 private:
  LabWatch& watch_;
  bool is_new_ = true;
  bool said_goodbye_ = false;
  std::uint64_t states_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t happenings_ = 0;
};

api::EventStream LabWatch::stream(std::chrono::milliseconds every) {
  want();
  return {every, [stream = std::make_shared<Stream>(*this)] { return stream->next(); }};
}

}  // namespace railyard::front
