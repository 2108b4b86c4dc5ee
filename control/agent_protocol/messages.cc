#include "control/agent_protocol/messages.h"

#include <array>

#include <fmt/format.h>

#include "control/agent_protocol/fields.h"
#include "control/agent_protocol/program_json.h"

namespace railyard::agents {

using nlohmann::json;

namespace {

constexpr std::size_t kMostDevices = 64;
constexpr std::size_t kMostGids = 256;
constexpr std::size_t kMostRepeats = 10'000;
constexpr std::size_t kMostCounters = 256;
constexpr std::size_t kMostConnections = 1 << 16;
constexpr std::uint32_t kMost24Bits = 0xFF'FFFF;

wire::IpAddress address_of(const Fields& f, const char* key, const json& value) {
  if (value.is_string())
    if (const auto address = wire::IpAddress::parse(value.get_ref<const std::string&>())) return *address;
  f.fail(key, "expected an IP address");
}

DevicePort device_from_json(const json& value) {
  const Fields f(value, "device");
  DevicePort d;
  d.device = f.text("device", 64);
  d.port = f.number<std::uint32_t>("port");
  d.state = f.text("state", 64);
  d.active_mtu = f.number<std::uint32_t>("active_mtu");
  d.max_qps = f.number<std::uint32_t>("max_qps");
  d.max_work_requests = f.number<std::uint32_t>("max_work_requests");
  d.max_completions = f.number<std::uint32_t>("max_completions");
  for (const json& gid : f.list("gids", kMostGids)) d.gids.push_back(address_of(f, "gids", gid));
  return d;
}

json device_json(const DevicePort& d) {
  json gids = json::array();
  for (const wire::IpAddress& gid : d.gids) gids.push_back(wire::to_string(gid));
  return {{"device", d.device},
          {"port", d.port},
          {"state", d.state},
          {"active_mtu", d.active_mtu},
          {"max_qps", d.max_qps},
          {"max_work_requests", d.max_work_requests},
          {"max_completions", d.max_completions},
          {"gids", std::move(gids)}};
}

}  // namespace

json message(std::string_view type) { return {{"type", type}}; }

std::string type_of(const json& message) { return Fields(message, "a message").text("type", 32); }

json to_json(const Hello& h) {
  json out = message("hello");
  out["protocol"] = h.protocol;
  out["version"] = h.version;
  out["host"] = h.host;
  out["token"] = h.token;
  out["devices"] = json::array();
  for (const DevicePort& d : h.devices) out["devices"].push_back(device_json(d));
  return out;
}

Hello hello_from_json(const json& value) {
  const Fields f(value, "hello");
  Hello h;
  h.protocol = f.number<std::uint32_t>("protocol");
  if (h.protocol != kProtocolVersion) return h;
  h.version = f.text("version", 256);
  h.host = f.text("host", 256);
  h.token = f.text("token", 256);
  for (const json& d : f.list("devices", kMostDevices)) h.devices.push_back(device_from_json(d));
  return h;
}

json message(std::string_view type, const TaskId& task) {
  json out = message(type);
  if (const auto* const rank = std::get_if<RankId>(&task)) {
    out["collective"] = rank->collective;
    out["rank"] = rank->rank;
  } else {
    const auto& end = std::get<FlowEndId>(task);
    out["flow"] = end.flow;
    out["sink"] = end.sink;
  }
  return out;
}

TaskId task_from_json(const json& value) {
  const Fields f(value, "a message");
  if (f.has("flow")) return FlowEndId{f.number<std::uint32_t>("flow"), f.flag("sink")};
  return RankId{f.number<std::uint32_t>("collective"), f.number<std::uint32_t>("rank")};
}

namespace {

RankId rank_from_json(const json& value) {
  const TaskId id = task_from_json(value);
  if (const auto* const rank = std::get_if<RankId>(&id)) return *rank;
  throw ProtocolError("a message names an end of a flow; expected a rank");
}

FlowEndId flow_end_from_json(const json& value) {
  const TaskId id = task_from_json(value);
  if (const auto* const end = std::get_if<FlowEndId>(&id)) return *end;
  throw ProtocolError("a message names a rank; expected an end of a flow");
}

void add(json& out, const QpTerms& t) {
  out["path_mtu"] = t.path_mtu;
  out["timeout"] = t.timeout;
  out["retry_cnt"] = t.retry_cnt;
  out["rnr_retry"] = t.rnr_retry;
  out["min_rnr_timer"] = t.min_rnr_timer;
  out["traffic_class"] = t.traffic_class;
  out["reads"] = t.reads;
}

QpTerms terms_of(const Fields& f) {
  return {.path_mtu = f.number<std::uint32_t>("path_mtu", 256, 4096),
          .timeout = f.number<std::uint8_t>("timeout", 0, 31),
          .retry_cnt = f.number<std::uint8_t>("retry_cnt", 0, 7),
          .rnr_retry = f.number<std::uint8_t>("rnr_retry", 0, 7),
          .min_rnr_timer = f.number<std::uint8_t>("min_rnr_timer", 0, 31),
          .traffic_class = f.number<std::uint8_t>("traffic_class"),
          .reads = f.number<std::uint8_t>("reads")};
}

// Within what an Instant can say.
constexpr std::uint64_t kMostNs = std::uint64_t{1} << 52;

std::map<std::string, std::uint64_t> counters_of(const Fields& f) {
  const json& counters = f.at("counters");
  if (!counters.is_object() || counters.size() > kMostCounters) f.fail("counters", "expected a map of numbers");
  std::map<std::string, std::uint64_t> all;
  for (const auto& [name, count] : counters.items())
    all[name.substr(0, 64)] = f.number_of<std::uint64_t>(count, "counters");
  return all;
}

}  // namespace

json to_json(const Prepare& p) {
  json out = message("prepare", p.id);
  out["program"] = to_json(p.program);
  out["address"] = wire::to_string(p.address);
  out["index"] = p.index;
  out["element"] = p.element;
  out["repeats"] = p.repeats;
  out["seed"] = p.seed;
  out["jitter_ppm"] = p.jitter_ppm;
  out["gap_ns"] = p.gap_ns;
  add(out, p.terms);
  return out;
}

Prepare prepare_from_json(const json& value) {
  const Fields f(value, "prepare");
  Prepare p;
  p.id = rank_from_json(value);
  p.program = program_from_json(f.at("program"));
  p.address = address_of(f, "address", f.at("address"));
  p.index = f.number<std::uint32_t>("index");
  p.element = f.number<std::uint32_t>("element");
  if (p.element != 4 && p.element != 8) f.fail("element", "expected 4 or 8");
  for (const auto* all : {&p.program.inputs, &p.program.results})
    for (const CollectiveExtent& e : *all)
      if (e.octets % p.element != 0) f.fail("program", "data is not a whole number of elements");
  p.repeats = f.number<std::uint32_t>("repeats", 1, kMostRepeats);
  p.seed = f.number<std::uint64_t>("seed");
  p.jitter_ppm = f.number<std::uint32_t>("jitter_ppm", 0, 1'000'000);
  p.gap_ns = f.number<std::uint64_t>("gap_ns", 0, std::uint64_t{100'000} * 1'000'000'000);
  p.terms = terms_of(f);
  return p;
}

std::uint64_t PrepareFlow::memory() const noexcept {
  if (!id.sink && config.operation == FlowOperation::kRead) return static_cast<std::uint64_t>(config.total.n);
  const std::uint64_t places = id.sink ? config.slots() : config.outstanding;
  return places * config.qps * config.message;
}

json to_json(const PrepareFlow& p) {
  static constexpr std::array kOperations{"write", "send", "read"};
  json out = message("prepare-flow", p.id);
  out["stream"] = p.config.id;
  out["operation"] = kOperations[static_cast<std::size_t>(p.config.operation)];
  out["total"] = p.config.total.n;
  out["message"] = p.config.message;
  out["outstanding"] = p.config.outstanding;
  out["qps"] = p.config.qps;
  out["receives"] = p.config.receives;
  out["announced"] = p.config.announced;
  out["address"] = wire::to_string(p.address);
  add(out, p.terms);
  return out;
}

PrepareFlow prepare_flow_from_json(const json& value) {
  constexpr std::uint64_t kMostOctets = std::uint64_t{1} << 62;
  const Fields f(value, "prepare-flow");
  PrepareFlow p;
  p.id = flow_end_from_json(value);
  p.config.id = f.number<std::uint64_t>("stream");
  const std::string operation = f.text("operation", 16);
  if (operation == "write")
    p.config.operation = FlowOperation::kWrite;
  else if (operation == "send")
    p.config.operation = FlowOperation::kSend;
  else if (operation == "read")
    p.config.operation = FlowOperation::kRead;
  else
    f.fail("operation", fmt::format("'{}'; expected write, send or read", operation));
  p.config.total = Bytes{static_cast<std::int64_t>(f.number<std::uint64_t>("total", 0, kMostOctets))};
  p.config.message = f.number<std::uint32_t>("message", 1, 1u << 30);
  p.config.outstanding = f.number<std::uint32_t>("outstanding", 1, 1u << 14);
  p.config.qps = f.number<std::uint32_t>("qps", 1, kMostConnections);
  p.config.receives = f.number<std::uint32_t>("receives", 1, 1u << 14);
  p.config.announced = f.flag("announced");
  p.address = address_of(f, "address", f.at("address"));
  p.terms = terms_of(f);
  if (!p.id.sink && p.config.operation == FlowOperation::kRead && p.config.total.n == 0)
    f.fail("total", "a READ flow has no end; expected a total");
  if (p.memory() > kMostOfFlow)
    f.fail("message", fmt::format("{} bytes of buffer; expected at most {}", p.memory(), kMostOfFlow));
  return p;
}

json to_json(const Prepared& p) {
  json out = message("prepared", p.id);
  out["device"] = p.device;
  out["key"] = p.key;
  out["address"] = p.address;
  out["stride"] = p.stride;
  out["reads"] = p.reads;
  out["qpns"] = p.qpns;
  return out;
}

Prepared prepared_from_json(const json& value) {
  const Fields f(value, "prepared");
  Prepared p;
  p.id = task_from_json(value);
  p.device = f.text("device", 64);
  p.key = f.number<std::uint32_t>("key");
  p.address = f.number<std::uint64_t>("address");
  p.stride = f.number<std::uint64_t>("stride");
  p.reads = f.number<std::uint8_t>("reads");
  for (const json& qpn : f.list("qpns", kMostConnections))
    p.qpns.push_back(f.number_of<std::uint32_t>(qpn, "qpns", 2, kMost24Bits));
  return p;
}

json to_json(const Connect& c) {
  json out = message("connect", c.id);
  out["reads"] = c.reads;
  out["peers"] = json::array();
  for (const QpPeer& p : c.peers)
    out["peers"].push_back({{"address", wire::to_string(p.address)},
                            {"qpn", p.qpn},
                            {"key", p.key},
                            {"memory", p.memory},
                            {"stride", p.stride},
                            {"sq_psn", p.sq_psn},
                            {"rq_psn", p.rq_psn},
                            {"udp_source_port", p.udp_source_port}});
  return out;
}

Connect connect_from_json(const json& value) {
  const Fields f(value, "connect");
  Connect c;
  c.id = task_from_json(value);
  c.reads = f.number<std::uint8_t>("reads");
  for (const json& peer : f.list("peers", kMostConnections)) {
    const Fields of(peer, "connect");
    c.peers.push_back({.address = address_of(of, "address", of.at("address")),
                       .qpn = of.number<std::uint32_t>("qpn", 2, kMost24Bits),
                       .key = of.number<std::uint32_t>("key"),
                       .memory = of.number<std::uint64_t>("memory"),
                       .stride = of.number<std::uint64_t>("stride"),
                       .sq_psn = of.number<std::uint32_t>("sq_psn", 0, kMost24Bits),
                       .rq_psn = of.number<std::uint32_t>("rq_psn", 0, kMost24Bits),
                       .udp_source_port = of.number<std::uint16_t>("udp_source_port")});
  }
  return c;
}

json to_json(const RankResult& r, std::string_view type) {
  json out = message(type, r.id);
  out["complete"] = r.complete;
  out["failure"] = r.failure;
  out["repeats"] = json::array();
  for (const RankResult::Repeat& repeat : r.repeats) out["repeats"].push_back({repeat.start_ns, repeat.finish_ns});
  out["wrong_octets"] = r.wrong_octets;
  out["wrong_repeat"] = r.wrong_repeat;
  out["wrong_offset"] = r.wrong_offset;
  out["wrong_messages"] = r.wrong_messages;
  out["messages"] = r.messages;
  out["octets"] = r.octets;
  out["computed_ns"] = r.computed_ns;
  out["send_ns"] = {r.send_min_ns, r.send_median_ns, r.send_max_ns};
  out["counters"] = r.counters;
  return out;
}

RankResult result_from_json(const json& value) {
  const Fields f(value, "done");
  RankResult r;
  r.id = rank_from_json(value);
  r.complete = f.flag("complete");
  r.failure = f.text("failure");
  for (const json& repeat : f.list("repeats", kMostRepeats)) {
    if (!repeat.is_array() || repeat.size() != 2) f.fail("repeats", "expected pairs of times");
    r.repeats.push_back({f.number_of<std::uint64_t>(repeat[0], "repeats", 0, kMostNs),
                         f.number_of<std::uint64_t>(repeat[1], "repeats", 0, kMostNs)});
  }
  r.wrong_octets = f.number<std::uint64_t>("wrong_octets");
  r.wrong_repeat = f.number<std::uint32_t>("wrong_repeat");
  r.wrong_offset = f.number<std::uint64_t>("wrong_offset");
  r.wrong_messages = f.number<std::uint64_t>("wrong_messages");
  r.messages = f.number<std::uint64_t>("messages");
  r.octets = f.number<std::uint64_t>("octets");
  r.computed_ns = f.number<std::uint64_t>("computed_ns");
  const json& send = f.list("send_ns", 3);
  if (send.size() != 3) f.fail("send_ns", "expected three times");
  r.send_min_ns = f.number_of<std::uint64_t>(send[0], "send_ns");
  r.send_median_ns = f.number_of<std::uint64_t>(send[1], "send_ns");
  r.send_max_ns = f.number_of<std::uint64_t>(send[2], "send_ns");
  r.counters = counters_of(f);
  return r;
}

json to_json(const FlowResult& r, std::string_view type) {
  json out = message(type, r.id);
  out["complete"] = r.complete;
  out["failure"] = r.failure;
  out["status"] = r.status;
  out["errors"] = r.errors;
  out["messages"] = r.messages;
  out["octets"] = r.octets;
  out["verified"] = r.verified;
  out["wrong"] = r.wrong;
  out["first_ns"] = r.first_ns;
  out["last_ns"] = r.last_ns;
  const MessageTimes& t = r.message_ns;
  out["message_ns"] = {t.p50, t.p90, t.p99, t.p999, t.p9999, t.max};
  out["counters"] = r.counters;
  return out;
}

FlowResult flow_result_from_json(const json& value) {
  const Fields f(value, "the result of a flow");
  FlowResult r;
  r.id = flow_end_from_json(value);
  r.complete = f.flag("complete");
  r.failure = f.text("failure");
  r.status = f.text("status", 128);
  r.errors = f.number<std::uint64_t>("errors");
  r.messages = f.number<std::uint64_t>("messages");
  r.octets = f.number<std::uint64_t>("octets");
  r.verified = f.number<std::uint64_t>("verified");
  r.wrong = f.number<std::uint64_t>("wrong");
  r.first_ns = f.number<std::uint64_t>("first_ns", 0, kMostNs);
  r.last_ns = f.number<std::uint64_t>("last_ns", 0, kMostNs);
  const json& times = f.list("message_ns", 6);
  if (times.size() != 6) f.fail("message_ns", "expected six times");
  MessageTimes& t = r.message_ns;
  std::size_t i = 0;
  for (std::uint64_t* const at : {&t.p50, &t.p90, &t.p99, &t.p999, &t.p9999, &t.max})
    *at = f.number_of<std::uint64_t>(times[i++], "message_ns", 0, kMostNs);
  r.counters = counters_of(f);
  return r;
}

}  // namespace railyard::agents
