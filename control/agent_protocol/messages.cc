#include "control/agent_protocol/messages.h"

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

json message(std::string_view type, RankId id) {
  json out = message(type);
  out["collective"] = id.collective;
  out["rank"] = id.rank;
  return out;
}

RankId rank_from_json(const json& value) {
  const Fields f(value, "a message");
  return {f.number<std::uint32_t>("collective"), f.number<std::uint32_t>("rank")};
}

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
  out["path_mtu"] = p.path_mtu;
  out["timeout"] = p.timeout;
  out["retry_cnt"] = p.retry_cnt;
  out["rnr_retry"] = p.rnr_retry;
  out["min_rnr_timer"] = p.min_rnr_timer;
  out["traffic_class"] = p.traffic_class;
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
      if (e.octets % p.element != 0) f.fail("program", "data are no whole elements");
  p.repeats = f.number<std::uint32_t>("repeats", 1, kMostRepeats);
  p.seed = f.number<std::uint64_t>("seed");
  p.jitter_ppm = f.number<std::uint32_t>("jitter_ppm", 0, 1'000'000);
  p.gap_ns = f.number<std::uint64_t>("gap_ns", 0, std::uint64_t{100'000} * 1'000'000'000);
  p.path_mtu = f.number<std::uint32_t>("path_mtu", 256, 4096);
  p.timeout = f.number<std::uint8_t>("timeout", 0, 31);
  p.retry_cnt = f.number<std::uint8_t>("retry_cnt", 0, 7);
  p.rnr_retry = f.number<std::uint8_t>("rnr_retry", 0, 7);
  p.min_rnr_timer = f.number<std::uint8_t>("min_rnr_timer", 0, 31);
  p.traffic_class = f.number<std::uint8_t>("traffic_class");
  return p;
}

json to_json(const Prepared& p) {
  json out = message("prepared", p.id);
  out["device"] = p.device;
  out["key"] = p.key;
  out["address"] = p.address;
  out["stride"] = p.stride;
  out["qpns"] = p.qpns;
  return out;
}

Prepared prepared_from_json(const json& value) {
  const Fields f(value, "prepared");
  Prepared p;
  p.id = rank_from_json(value);
  p.device = f.text("device", 64);
  p.key = f.number<std::uint32_t>("key");
  p.address = f.number<std::uint64_t>("address");
  p.stride = f.number<std::uint64_t>("stride");
  for (const json& qpn : f.list("qpns", kMostConnections))
    p.qpns.push_back(f.number_of<std::uint32_t>(qpn, "qpns", 2, kMost24Bits));
  return p;
}

json to_json(const Connect& c) {
  json out = message("connect", c.id);
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
  c.id = rank_from_json(value);
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
    // Within what an Instant can say.
    constexpr std::uint64_t kMostNs = std::uint64_t{1} << 52;
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
  const json& counters = f.at("counters");
  if (!counters.is_object() || counters.size() > kMostCounters) f.fail("counters", "expected a map of numbers");
  for (const auto& [name, count] : counters.items())
    r.counters[name.substr(0, 64)] = f.number_of<std::uint64_t>(count, "counters");
  return r;
}

}  // namespace railyard::agents
