#include "control/daemon/watch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/base/json_text.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"
#include "dataplane/device/topology_event.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

std::int64_t steady_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double as_seconds(const Counter& ps) { return static_cast<double>(ps.read()) / 1e12; }

// One of server-sent events; `data` has no line end.
std::string event(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

// Its data; null without an event.
json data_of(const std::shared_ptr<const std::string>& event) {
  if (event == nullptr) return nullptr;
  return json::parse(std::string_view(*event).substr(event->find('{')));
}

}  // namespace

Watch::Watch(lab::Session& session, WallClockLive& live, Log& log)
    : session_(session), live_(live), log_(log), rates_(session.lab()), history_(rates_.ends()) {
  links_->down.assign(rates_.ends(), 0);
  follow(links_, rates_, session_);
  log_.tell([links = links_, &live](const std::string& level, const std::string& text) {
    links->happenings.add({.modelled_seconds = as_seconds(live.reached_ps), .kind = "log", .element = level, .text = text});
  });
}

Watch::~Watch() {
  stop();
  log_.tell(nullptr);
}

// Links that fail, and what is drained: told by the engine's thread, so that nothing has to be asked of it.
void Watch::follow(const std::shared_ptr<Links>& links, const LinkRates& rates, lab::Session& session) {
  const auto told = [links, rates, &lab = session.lab()](const TopologyEvent& e) {
    const double at = seconds(e.at - Instant{});
    using What = TopologyEvent::Kind;
    if (e.kind == What::kDrained || e.kind == What::kUndrained) {
      const std::string node = lab.node_of(e.device).name;
      links->happenings.add({.modelled_seconds = at, .kind = "drain", .element = node,
                             .text = fmt::format("{} {}", node, e.kind == What::kDrained ? "drained" : "no longer drained")});
      return;
    }
    if (e.kind != What::kLinkDown && e.kind != What::kLinkUp) return;
    const std::optional<std::size_t> end = rates.end_at({e.device, e.port});
    if (!end) return;
    const bool down = e.kind == What::kLinkDown;
    const std::scoped_lock lock(links->mutex);
    const bool was = links->down[*end] != 0 || links->down[*end ^ 1] != 0;
    links->down[*end] = down ? 1 : 0;
    const bool is = links->down[*end] != 0 || links->down[*end ^ 1] != 0;
    if (was == is) return;
    const PortRef a = rates.port(*end & ~std::size_t{1});
    const std::string name = fmt::format("{}:{}", lab.node_of(a.device).name, a.port.value + 1);
    links->happenings.add({.modelled_seconds = at, .kind = "link", .element = name,
                           .text = fmt::format("link {} - {} {}", name, lab.peer_name(a), is ? "down" : "up")});
  };
  session.routing().tell(told);
}

void Watch::start(Look look, Look pauses) {
  look_ = std::move(look);
  look_at_pauses_ = std::move(pauses);
  thread_ = std::thread([this] { run(); });
}

void Watch::look_soon() {
  dirty_ = true;
  {
    const std::scoped_lock lock(sleep_);
    hurry_ = true;
  }
  wake_.notify_all();
}

void Watch::stop() {
  {
    const std::scoped_lock lock(sleep_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watch::farewell(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    goodbye_ = std::make_shared<const std::string>(event("ended", json_text(json{{"why", why}})));
  }
  stop();
  const auto until = std::chrono::steady_clock::now() + kFarewell;
  while (streams_ > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void Watch::run() {
  auto looked = std::chrono::steady_clock::now() - std::chrono::hours(1);
  auto looked_at_pauses = looked;
  while (!ends_) {
    try {
      sample();
      const auto now = std::chrono::steady_clock::now();
      constexpr std::int64_t kStillThere = 5'000;
      const bool watched = steady_ms() - wanted_ < kStillThere;
      if (watched && (dirty_ || now - looked > std::chrono::seconds(1))) {
        looked = now;
        look();
      }
      if (now - looked_at_pauses > std::chrono::seconds(1)) {
        looked_at_pauses = now;
        look_at_pauses();
      }
    } catch (const std::exception& error) {  // No memory: the next one may find some.
      log_.debug(fmt::format("the lab was not sampled: {}", error.what()));
    }
    std::unique_lock lock(sleep_);
    wake_.wait_for(lock, kEvery, [this] { return ends_ || hurry_; });
    hurry_ = false;
  }
}

void Watch::sample() {
  const double modelled = as_seconds(live_.reached_ps);
  const std::scoped_lock lock(mutex_);
  const std::string up = up_text();
  const std::int64_t now = steady_ms();
  if (now - counted_at_ < kLeastEvery.count()) {
    // In a hurry (look_soon): what is up has changed, and rates over so little time say nothing.
    ++samples_;
    sample_ = std::make_shared<const std::string>(event("sample", sample_text(up)));
    return;
  }
  counted_at_ = now;
  rates_.sample(modelled);
  history_.add(unix_seconds(), modelled, rates_.now(), up);
  for (const std::size_t e : rates_.storms()) {
    const std::string name = name_of(rates_.port(e));
    links_->happenings.add({.modelled_seconds = modelled, .kind = "pfc-watchdog", .element = name,
                            .text = fmt::format("pause storm detected at {}", name)});
  }
  const double wall = as_seconds(live_.wall_ps);
  if (wall > wall_before_) {
    busy_ = (as_seconds(live_.busy_ps) - busy_before_) / (wall - wall_before_);
    busy_before_ = as_seconds(live_.busy_ps);
    wall_before_ = wall;
  }
  ++samples_;
  sample_ = std::make_shared<const std::string>(event("sample", sample_text(up)));
}

bool Watch::trunk_down(std::size_t link) const {
  for (const lab::Session::Trunk& t : session_.trunks()) {
    const std::optional<std::size_t> end = rates_.end_at({t.end->id(), PortIndex{0}});
    if (end && *end / 2 == link) return t.end->trunk_counters().state != TrunkSession::State::kUp;
  }
  return false;
}

std::string Watch::name_of(PortRef port) const {
  return fmt::format("{}:{}", session_.lab().node_of(port.device).name, port.port.value + 1);
}

bool Watch::is_up(PortRef port) const {
  const std::optional<std::size_t> end = rates_.end_at(port);
  const std::scoped_lock lock(links_->mutex);
  return !end || (links_->down[*end] == 0 && links_->down[*end ^ 1] == 0);
}

// By link: '1' up, '0' down.
std::string Watch::up_text() const {
  std::string out;
  const std::scoped_lock lock(links_->mutex);
  for (std::size_t l = 0; 2 * l < rates_.ends(); ++l)
    out += links_->down[2 * l] != 0 || links_->down[2 * l + 1] != 0 || trunk_down(l) ? '0' : '1';
  return out;
}

namespace {

// Columns by end: what takes fewer octets than names for each.
void append_columns(std::string& out, const std::vector<EndRates>& ends) {
  const auto column = [&](std::string_view name, auto value, double scale) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":[", name);
    bool first = true;
    for (const EndRates& r : ends) {
      if (!std::exchange(first, false)) out += ',';
      fmt::format_to(std::back_inserter(out), "{}", std::round(static_cast<double>(value(r)) * scale) / scale);
    }
    out += ']';
  };
  column("bps", [](const EndRates& r) { return r.bps; }, 1);
  column("use", [](const EndRates& r) { return r.use; }, 1000);
  column("depth", [](const EndRates& r) { return r.depth; }, 1);
  column("marked", [](const EndRates& r) { return r.marked; }, 1);
  column("pauses", [](const EndRates& r) { return r.pauses; }, 1);
  column("drops", [](const EndRates& r) { return r.drops; }, 1);
}

}  // namespace

std::string Watch::sample_text(const std::string& up) const {
  std::string out = fmt::format(
      R"({{"number":{},"unix_seconds":{:.3f},"modelled_seconds":{:.6f},"held":{},"busy":{:.3f},"lateness_p99_ns":{},"slip_seconds":{:.6f},"up":"{}")",
      samples_, unix_seconds(), as_seconds(live_.reached_ps), live_.requests.held(), busy_,
      live_.lateness_p99_ps.read() / 1000, as_seconds(live_.slip_ps), up);
  append_columns(out, rates_.now());
  return out + "}";
}

json Watch::snapshot(double at) const {
  const std::scoped_lock lock(mutex_);
  const RateHistory::Step* step = history_.at(at);
  if (step == nullptr) throw ApiError(404, "nothing is kept yet; the first second is not over");
  std::string out = fmt::format(
      R"({{"number":0,"unix_seconds":{:.3f},"modelled_seconds":{:.6f},"held":false,"busy":0,"lateness_p99_ns":0,"slip_seconds":0,"up":"{}")",
      step->unix_seconds, step->modelled_seconds, step->up);
  append_columns(out, step->ends);
  return json::parse(out + "}");
}

void Watch::look() {
  if (!look_) return;
  dirty_ = false;
  std::optional<json> found = look_();
  if (!found) {
    dirty_ = true;
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (state_ != nullptr && *found == seen_) return;
  if (state_ != nullptr) note_faults(seen_["faults"], (*found)["faults"]);
  seen_ = *std::move(found);
  ++states_;
  state_ = std::make_shared<const std::string>(event("state", json_text(seen_)));
}

// Only while there are pauses, and once after them: the engine looks between two windows.
void Watch::look_at_pauses() {
  if (!look_at_pauses_) return;
  {
    const std::scoped_lock lock(mutex_);
    const bool seen = std::ranges::any_of(rates_.now(), [](const EndRates& r) { return r.pauses > 0; });
    if (!seen && !paused_) return;
  }
  const std::optional<json> found = look_at_pauses_();
  if (!found) return;
  const json& trees = (*found)["now"];
  const std::scoped_lock lock(mutex_);
  paused_ = !trees.empty();
  pauses_.add(unix_seconds(), trees);
}

json Watch::pauses(double at) const {
  const std::scoped_lock lock(mutex_);
  return pauses_.at(at);
}

// Those that begin and end by themselves.
void Watch::note_faults(const json& before, const json& now) {
  for (const json& f : now) {
    const auto same = std::ranges::find_if(before, [&](const json& b) { return b["name"] == f["name"]; });
    const bool was = same != before.end() && (*same)["active"].get<bool>();
    const bool is = f["active"].get<bool>() && !f["removed"].get<bool>();
    if (was == is) continue;
    const auto name = f["name"].get<std::string>();
    links_->happenings.add({.modelled_seconds = as_seconds(live_.reached_ps), .kind = "fault", .element = name,
                            .text = fmt::format("fault {} ({} on {}) {}", name, f["what"].get<std::string>(),
                                                f["on"].get<std::string>(), is ? "begins" : "ends")});
  }
}

std::vector<std::size_t> Watch::ends_of(const std::string& of) const {
  std::vector<std::size_t> out;
  const spec::Lab& lab = session_.lab().spec();
  if (of.find(':') != of.npos) {
    const auto name = spec::parse_port_name(of);
    if (!name) throw ApiError(400, fmt::format("of: '{}': {}", of, name.error()));
    for (std::size_t l = 0; l < lab.links.size(); ++l) {
      if (lab.links[l].a == *name) out.push_back(2 * l);
      if (lab.links[l].b == *name) out.push_back(2 * l + 1);
    }
    if (out.empty()) throw ApiError(404, fmt::format("there is no link at '{}'", of));
    return out;
  }
  if (lab.find(of) == nullptr) {
    std::vector<std::string> names;
    for (const spec::NodeSpec& n : lab.nodes) names.push_back(n.name);
    throw ApiError(404, fmt::format("there is no node '{}'{}", of, spec::did_you_mean(of, names)));
  }
  for (std::size_t l = 0; l < lab.links.size(); ++l) {
    if (lab.links[l].a.node == of) out.push_back(2 * l);
    if (lab.links[l].b.node == of) out.push_back(2 * l + 1);
  }
  return out;
}

json Watch::history(const std::string& of) const {
  std::vector<std::size_t> ends;
  std::vector<std::size_t> counted;
  if (of.empty()) {
    for (std::size_t e = 0; e < rates_.ends(); ++e) {
      counted.push_back(e);
      if (session_.lab().node_of(rates_.port(e).device).kind == spec::NodeSpec::Kind::kHost) ends.push_back(e);
    }
  } else {
    counted = ends = ends_of(of);
  }
  const std::scoped_lock lock(mutex_);
  json out = history_.columns(ends, counted);
  out["of"] = of;
  return out;
}

json Watch::last_sample() const {
  std::shared_ptr<const std::string> last;
  {
    const std::scoped_lock lock(mutex_);
    last = sample_;
  }
  return data_of(last);
}

json Watch::news(std::uint64_t seen, std::uint64_t state) {
  constexpr std::int64_t kAway = 1'000;
  if (steady_ms() - wanted_.exchange(steady_ms()) > kAway) look_soon();
  std::shared_ptr<const std::string> sample, now;
  std::uint64_t states = 0;
  {
    const std::scoped_lock lock(mutex_);
    sample = sample_;
    states = states_;
    if (states_ != state) now = state_;
  }
  json out = happened(seen);
  out["unix_seconds"] = unix_seconds();
  out["sample"] = data_of(sample);
  out["states"] = states;
  out["state"] = data_of(now);
  return out;
}

json Watch::happened(std::uint64_t seen) const {
  json out = json::array();
  for (const Happening& h : links_->happenings.after(seen)) out.push_back(h.json());
  return {{"happenings", std::move(out)}};
}

// What one client has been told.
class Watch::Stream {
 public:
  explicit Stream(Watch& watch) : watch_(watch) { ++watch_.streams_; }
  ~Stream() { --watch_.streams_; }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::optional<std::string> next() {
    if (watch_.ends_) return last();
    watch_.wanted_ = steady_ms();
    std::string out;
    if (std::exchange(is_new_, false))
      out += event("hello", fmt::format(R"({{"ends":{},"sampled_every_ms":{}}})", watch_.rates_.ends(), kEvery.count()));
    std::shared_ptr<const std::string> state, sample;
    {
      const std::scoped_lock lock(watch_.mutex_);
      if (std::exchange(states_, watch_.states_) != watch_.states_) state = watch_.state_;
      if (std::exchange(samples_, watch_.samples_) != watch_.samples_) sample = watch_.sample_;
    }
    if (state) out += *state;
    const std::vector<Happening> news = watch_.links_->happenings.after(happenings_);
    if (!news.empty()) {
      happenings_ = news.back().number;
      json lines = json::array();
      for (const Happening& h : news) lines.push_back(h.json());
      out += event("happenings", json_text(lines));
    }
    if (sample) out += *sample;
    return out;
  }

 private:
  // How it looks in the end, and why it is the end.
  std::optional<std::string> last() {
    const std::scoped_lock lock(watch_.mutex_);
    if (watch_.goodbye_ == nullptr || std::exchange(said_goodbye_, true)) return std::nullopt;
    return (watch_.sample_ != nullptr ? *watch_.sample_ : std::string()) + *watch_.goodbye_;
  }

  Watch& watch_;
  bool is_new_ = true;
  bool said_goodbye_ = false;
  std::uint64_t states_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t happenings_ = 0;
};

api::EventStream Watch::stream(std::chrono::milliseconds every) {
  wanted_ = steady_ms();
  look_soon();
  return {every, [stream = std::make_shared<Stream>(*this)] { return stream->next(); }};
}

}  // namespace railyard::daemon
