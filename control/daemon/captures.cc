#include "control/daemon/captures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/build/uet_carriers.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 3> kDirections{"both", "in", "out"};  // as CaptureDirection

CaptureDirection direction_of(const json& options) {
  const auto found = options.find("direction");
  if (found == options.end()) return CaptureDirection::kBoth;
  for (std::size_t i = 0; i < kDirections.size(); ++i)
    if (*found == kDirections[i]) return static_cast<CaptureDirection>(i);
  throw ApiError(400, fmt::format("direction: {}; expected \"both\", \"in\" or \"out\"", found->dump()));
}

std::uint64_t number_of(const json& options, const char* key, std::uint64_t most) {
  const auto found = options.find(key);
  if (found == options.end()) return 0;
  if (!found->is_number_integer() || *found < 1 || *found > most)
    throw ApiError(400, fmt::format("{}: {}; expected a whole number from 1 to {}", key, found->dump(), most));
  return found->get<std::uint64_t>();
}

// Of an id; 0 for what is none.
std::uint64_t number_of(const std::string& id) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), n);
  return error == std::errc{} && end == id.data() + id.size() ? n : 0;
}

LiveTapConfig config_of(const json& options) {
  constexpr std::uint64_t kMostSnap = 262'144;  // that libpcap reads back
  constexpr std::uint64_t kMostRing = std::uint64_t{1} << 30;
  LiveTapConfig c;
  c.direction = direction_of(options);
  c.limit = number_of(options, "count", std::numeric_limits<std::int64_t>::max());
  c.snap_octets = static_cast<std::uint32_t>(number_of(options, "snaplen", kMostSnap));
  if (const std::uint64_t ring = number_of(options, "buffer", kMostRing); ring != 0) c.ring_octets = ring;
  return c;
}

}  // namespace

Captures::Captures(std::string directory, lab::Session& session, WallClockLive& live, Log& log, MakeChange change)
    : directory_(std::move(directory)), session_(session), live_(live), log_(log), change_(std::move(change)) {}

Captures::~Captures() {
  for (const auto& [port, taps] : taps_) session_.lab().fabric()[port.device].tap(port.port, nullptr);
  for (const auto& [id, stream] : captures_) stream->finish(session_.engine().reached());
}

TapList& Captures::taps_of(PortRef port) {
  std::unique_ptr<TapList>& taps = taps_[port];
  if (taps == nullptr) taps = std::make_unique<TapList>();
  return *taps;
}

// By the capture's thread.
bool Captures::release(PortRef port, TapList& taps, const std::shared_ptr<EngineTap>& tap) {
  return live_.requests.post([tap, &taps, port](Engine& engine, Instant at) {
    taps.remove(&tap->tap);
    if (taps.empty()) engine.fabric()[port.device].tap(port.port, nullptr);
    tap->let_go(at);
  });
}

json Captures::start(PortRef port, const std::string& name, const json& options) {
  forget_done();
  const auto keep = options.find("keep");
  if (keep != options.end() && !keep->is_boolean())
    throw ApiError(400, fmt::format("keep: {}; expected true or false", keep->dump()));
  const bool is_kept = keep != options.end() && keep->get<bool>();
  if (is_kept) make_room_to_keep();
  if (captures_.size() >= kMost)
    throw ApiError(
        409, fmt::format("{} captures are already running, the limit is {}; stop one first", captures_.size(), kMost));
  CaptureStreamConfig config;
  config.port = name;
  config.description = fmt::format("{} to {}", name, session_.lab().peer_name(port));
  config.comment = uet::carriers_text(build::uet_carriers(session_.lab().spec()));
  config.rate = session_.lab().rate(port);
  config.tap = config_of(options);
  if (is_kept) config.tap.ring_octets = std::min<std::uint64_t>(config.tap.ring_octets, KeptCapture::kBuffer);
  const std::string id = std::to_string(started_ + 1);
  config.id = id;
  config.socket = fmt::format("{}/capture-{}", directory_, id);
  TapList& taps = taps_of(port);
  std::unique_ptr<CaptureStream> stream;
  try {
    stream = std::make_unique<CaptureStream>(
        std::move(config), log_,
        [this, port, &taps](const std::shared_ptr<EngineTap>& tap) { return release(port, taps, tap); });
  } catch (const std::bad_alloc&) {
    throw ApiError(503, "no memory for a capture");
  } catch (const std::runtime_error& error) {
    throw ApiError(503, error.what());
  }
  ++started_;
  CaptureStream& started = *(captures_[id] = std::move(stream));
  try {
    change_(fmt::format("capture {} of {}", id, name), [tap = started.tap(), &taps, port](Engine& engine, Instant) {
      taps.add(&tap->tap);
      tap->since = engine.reached();  // what is due before the change is still to come
      engine.fabric()[port.device].tap(port.port, &taps);
    });
    started.begin();
    if (is_kept) kept_[started_] = {nullptr, std::make_unique<KeptCapture>(started.config().socket)};
    return {{"id", id},
            {"port", name},
            {"socket", started.config().socket},
            {"effective_seconds", seconds(started.tap()->since - Instant{})}};
  } catch (...) {
    started.end();  // if the tap is still to be set, it will be taken off again after that
    started.begin();
    throw;
  }
}

json Captures::describe(const std::string& id, const CaptureStream& stream) {
  const LiveTapConfig& tap = stream.config().tap;
  return {{"id", id},
          {"port", stream.config().port},
          {"direction", kDirections[static_cast<std::size_t>(tap.direction)]},
          {"count", tap.limit},
          {"snaplen", tap.snap_octets},
          {"buffer", tap.ring_octets},
          {"state", stream.state()},
          {"captured", stream.captured()},
          {"lost", stream.lost()},
          {"delivered", stream.delivered()}};
}

json Captures::list() {
  forget_done();
  json out = json::array();
  for (const auto& [id, stream] : captures_)
    if (!kept_.contains(number_of(id))) out.push_back(describe(id, *stream));
  for (const auto& [id, kept] : kept_) out.push_back(describe_kept(std::to_string(id), kept));
  return {{"captures", std::move(out)}};
}

json Captures::end(const std::string& id) {
  forget_done();
  const auto found = captures_.find(id);
  if (const auto kept = kept_.find(number_of(id)); found == captures_.end() && kept != kept_.end()) {
    json out = describe_kept(id, kept->second);
    kept_.erase(kept);
    return out;
  }
  return stop(id);
}

json Captures::stop(const std::string& id) {
  forget_done();
  const auto found = captures_.find(id);
  if (const auto kept = kept_.find(number_of(id)); found == captures_.end() && kept != kept_.end())
    return describe_kept(id, kept->second);
  if (found == captures_.end()) throw ApiError(404, fmt::format("there is no capture '{}', or it has ended", id));
  found->second->end();
  return describe(id, *found->second);
}

Captures::File Captures::file(const std::string& id) const {
  const auto kept = kept_.find(number_of(id));
  if (kept == kept_.end())
    throw ApiError(404, fmt::format("no capture '{}' is kept; expected one that was started with \"keep\": true", id));
  if (!kept->second.capture->has_ended()) throw ApiError(409, fmt::format("capture {} is still running; end it first", id));
  const json now = describe_kept(id, kept->second);
  auto name = now["port"].get<std::string>();
  std::ranges::replace(name, ':', '-');
  return {fmt::format("{}.{}.pcapng", name, id), kept->second.capture->file()};
}

json Captures::describe_kept(const std::string& id, const Kept& kept) const {
  const auto running = captures_.find(id);
  json out = running != captures_.end() ? describe(id, *running->second) : kept.as_it_was;
  if (kept.capture->has_ended()) out["state"] = "ended";
  out["kept_bytes"] = kept.capture->octets();
  out["full"] = kept.capture->is_full();
  return out;
}

void Captures::make_room_to_keep() {
  if (kept_.size() < kMostKept) return;
  const auto ended = std::ranges::find_if(kept_, [](const auto& k) { return k.second.capture->has_ended(); });
  if (ended == kept_.end())
    throw ApiError(409, fmt::format("{} captures are being kept already, the limit is {}; end one first", kept_.size(),
                                    kMostKept));
  kept_.erase(ended);
}

void Captures::forget_done() {
  std::erase_if(captures_, [this](const auto& c) {
    if (!c.second->done()) return false;
    // Its last figures, as it changes no more.
    if (const auto kept = kept_.find(number_of(c.first)); kept != kept_.end())
      kept->second.as_it_was = describe(c.first, *c.second);
    return true;
  });
}

}  // namespace railyard::daemon
