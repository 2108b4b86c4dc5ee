#include "control/daemon/probes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "control/api/message.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using api::ApiError;
using nlohmann::json;

namespace {

std::int64_t integer(const json& value, const std::string& name, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw ApiError(400, fmt::format("{}: {}; expected {} to {}", name, value.dump(), least, most));
  return value.get<std::int64_t>();
}

bool flag(const json& value, const std::string& name) {
  if (!value.is_boolean()) throw ApiError(400, fmt::format("{}: {}; expected true or false", name, value.dump()));
  return value.get<bool>();
}

spec::PortName nic(const spec::Lab& lab, const json& value, const std::string& name) {
  const auto port = value.is_string() ? spec::parse_port_name(value.get<std::string>())
                                      : spec::Parsed<spec::PortName>(std::unexpected(std::string("no name of a NIC")));
  if (!port)
    throw ApiError(400, fmt::format("{}: {}: {}; expected a NIC such as h1:1", name, value.dump(), port.error()));
  const spec::NodeSpec* const node = lab.find(port->node);
  if (node == nullptr || node->kind != spec::NodeSpec::Kind::kHost || port->port > static_cast<int>(node->nics.size()))
    throw ApiError(404, fmt::format("{}: there is no NIC {}", name, spec::format(*port)));
  return *port;
}

constexpr std::int64_t kLongest = 3'600'000'000'000;  // ns: an hour

probes::Train train_of(const spec::Lab& lab, const json& said, std::size_t i) {
  const std::string name = fmt::format("trains[{}]", i);
  if (!said.is_array() || said.size() != 5)
    throw ApiError(400, fmt::format("{}: {}; expected [from, to, start_ns, frames, gap_ns]", name, said.dump()));
  probes::Train t;
  t.from = nic(lab, said[0], name);
  t.to = nic(lab, said[1], name);
  if (t.from.node == t.to.node) throw ApiError(400, fmt::format("{}: {} is one host; expected two", name, t.from.node));
  t.start = Duration{integer(said[2], name + ", start_ns", 0, kLongest) * 1000};
  t.frames = static_cast<std::uint32_t>(integer(said[3], name + ", frames", 1, 1 << 24));
  t.gap = Duration{integer(said[4], name + ", gap_ns", 0, kLongest) * 1000};
  return t;
}

probes::Shape shape_of(const json& body) {
  probes::Shape s;
  for (const auto& [key, value] : body.items()) {
    if (key == "payload") {
      s.payload = static_cast<std::uint32_t>(integer(value, key, 4, 9216));
      if (s.payload % 4 != 0) throw ApiError(400, fmt::format("payload: {}; expected a multiple of 4", s.payload));
    } else if (key == "dscp") {
      s.dscp = static_cast<int>(integer(value, key, 0, 63));
    } else if (key == "class") {
      s.priority = static_cast<int>(integer(value, key, 0, 7));
    } else if (key == "ip") {
      if (value != 4 && value != 6) throw ApiError(400, fmt::format("ip: {}; expected 4 or 6", value.dump()));
      s.ip_version = value.get<int>();
    } else if (key == "ect") {
      s.ect = flag(value, key);
    } else if (key != "trains") {
      throw ApiError(400,
                     fmt::format("'{}' is no key of probes; expected trains, payload, dscp, ect, class or ip", key));
    }
  }
  return s;
}

json latency_json(const Histogram& h) {
  if (h.count() == 0) return nullptr;
  const auto ns = [](std::uint64_t ps) { return static_cast<double>(ps) / 1000; };
  return {{"p50", ns(h.percentile(0.5))},
          {"p99", ns(h.percentile(0.99))},
          {"p999", ns(h.percentile(0.999))},
          {"max", ns(h.max())},
          {"samples", h.count()}};
}

json instant_json(Instant at) { return at == Instant::never() ? json(nullptr) : json((at - Instant{}).ps / 1000); }

json result_of(const probes::Prober& prober, const std::vector<probes::Train>& trains, const probes::Shape& shape,
               const std::vector<probes::Arrived>& arrived) {
  Histogram all;
  json out = json::array();
  for (std::size_t i = 0; i < trains.size(); ++i) {
    const probes::Arrived& a = arrived[i];
    all.merge(a.latency);
    const auto bps = probes::bps_of(a, shape, prober.least_time(trains[i], shape));
    out.push_back({{"from", spec::format(trains[i].from)},
                   {"to", spec::format(trains[i].to)},
                   {"sent", a.sent},
                   {"received", a.received},
                   {"lost", a.lost()},
                   {"reordered", a.reordered},
                   {"duplicated", a.duplicated},
                   {"marked", a.marked},
                   {"corrupted", a.corrupted},
                   {"first_sent_ns", instant_json(a.first_sent)},
                   {"first_ns", instant_json(a.first)},
                   {"last_ns", a.received > 0 ? instant_json(a.last) : json(nullptr)},
                   {"bps", bps ? json(*bps) : json(nullptr)},
                   {"latency_ns", latency_json(a.latency)}});
  }
  return {{"state", "done"}, {"trains", std::move(out)}, {"latency_ns", latency_json(all)}};
}

}  // namespace

json LiveProbes::start(const json& body) {
  if (!body.is_object() || !body.contains("trains") || !body["trains"].is_array())
    throw ApiError(400, "key 'trains' is missing in the body; expected a list of [from, to, start_ns, frames, gap_ns]");
  const probes::Shape shape = shape_of(body);
  std::vector<probes::Train> trains;
  for (const json& t : body["trains"]) trains.push_back(train_of(session_.lab().spec(), t, trains.size()));
  const std::size_t n = trains.size();
  const auto refusal = std::make_shared<std::string>();
  const auto ends = std::make_shared<Instant>();
  const auto job = std::make_shared<std::uint64_t>();
  const Instant at = change_(fmt::format("{} trains of probes", n), [=, this](Engine& engine, Instant now) {
    try {
      session_.prober().begin(engine, now, trains, shape);
      *ends = session_.prober().ends();
      *job = session_.prober().job();
    } catch (const probes::NoProbe& why) {
      *refusal = why.what();
    }
  });
  if (!refusal->empty()) throw ApiError(409, *refusal);
  asked_ = true;
  job_ = *job;
  done_ = nullptr;
  return {{"trains", n}, {"ends_seconds", seconds(*ends - Instant{})}, {"effective_seconds", seconds(at - Instant{})}};
}

json LiveProbes::result() {
  if (asked_) {
    struct Came {
      bool over = false;
      bool gone = false;
      std::vector<probes::Train> trains;
      probes::Shape shape;
      std::vector<probes::Arrived> arrived;
    };
    const auto came = std::make_shared<Came>();
    change_("", [came, job = job_, this](Engine& engine, Instant now) {
      probes::Prober& prober = session_.prober();
      came->gone = !prober.running() || prober.job() != job;
      if (came->gone || !prober.is_over(now)) return;
      engine.settle(engine.reached());
      came->trains = prober.trains();
      came->shape = prober.shape();
      came->arrived = prober.end(engine, now);
      came->over = true;
    });
    if (!came->over && !came->gone) return {{"state", "running"}};
    asked_ = false;
    if (came->gone) return {{"state", "none"}};
    done_ = result_of(session_.prober(), came->trains, came->shape, came->arrived);
  }
  return done_.is_null() ? json{{"state", "none"}} : done_;
}

json LiveProbes::cancel() {
  if (!asked_) throw ApiError(409, "no trains of probes are on their way");
  change_("end of the trains of probes", [job = job_, this](Engine& engine, Instant now) {
    engine.settle(engine.reached());
    if (session_.prober().running() && session_.prober().job() == job) session_.prober().end(engine, now);
  });
  asked_ = false;
  return {{"state", "none"}};
}

json LiveProbes::rounds(std::size_t last) {
  if (session_.probe_rounds() == nullptr)
    throw ApiError(409, "the lab has no probes; expected `probe: { every: 10m }` in its file");
  const auto out = std::make_shared<json>();
  change_("", [out, last, this](Engine&, Instant) {
    const probes::Rounds& rounds = *session_.probe_rounds();
    const probes::History& history = rounds.history();
    *out = {{"every_seconds", seconds(rounds.every())},
            {"below", history.below()},
            {"count", history.count()},
            {"skipped", rounds.skipped()},
            {"kept", history.rounds().size()},
            {"rounds", json::array()},
            {"pairs", json::array()}};
    const std::size_t kept = history.rounds().size();
    for (std::size_t r = kept - std::min(kept, last); r < kept; ++r)
      (*out)["rounds"].push_back(probes::json_of(history, history.rounds()[r]));
    for (std::size_t p = 0; p < history.pairs().size(); ++p) {
      const auto median = history.median_bps(p);
      (*out)["pairs"].push_back({{"from", spec::format(history.pairs()[p].from)},
                                 {"to", spec::format(history.pairs()[p].to)},
                                 {"median_bps", median ? json(*median) : json(nullptr)},
                                 {"slow_rounds", history.slow_rounds().empty() ? 0 : history.slow_rounds()[p]}});
    }
  });
  return *out;
}

}  // namespace railyard::daemon
