// The keys of a traffic pattern.
#include <initializer_list>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

using Pattern = TrafficSpec::Pattern;

constexpr BitRate kLeastRate{10'000};
constexpr int kMostFlows = 16384;  // one UDP source port each, 0xC000..0xFFFF
constexpr std::uint32_t kMostPayload = 9216;
constexpr std::size_t kLongestFile = 4096;

}  // namespace

Form<std::string> selector() {
  Form<std::string> form = checked<std::string>(any_text(), [](const std::string& text) -> std::optional<std::string> {
    constexpr std::string_view kExpected =
        "expected a host, with * and ? as wildcards, and optionally a NIC: h1, h*, h3:2";
    const std::size_t colon = text.find(':');
    const std::string_view host = std::string_view(text).substr(0, colon);
    const bool is_glob = !host.empty() && host.find_first_not_of(
                                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789-_*?") == std::string_view::npos;
    const bool is_port =
        colon == std::string::npos || parse_integer(std::string_view(text).substr(colon + 1), 1, 8).has_value();
    if (is_glob && is_port) return std::nullopt;
    return fmt::format("'{}' selects nothing; {}", text, kExpected);
  });
  form.write = [](const std::string& text) { return Tree::plain(text); };
  form.schema = Tree::map({{"type", Tree::string("string")}, {"pattern", Tree::string("^[A-Za-z0-9_*?-]+(:[1-8])?$")}});
  return form;
}

Form<int> path_mtu() {
  return choice<int>({{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}});
}

Form<int> any_path_mtu() { return integer(256, 8192); }

// DEVIATION UET page §1.5: a Payload MTU is 1024, 2048, 4096 or 8192. Published simulations have others (4086), and
// nothing but arithmetic depends on it.
void check_path_mtu(const Tree& map, int said, bool uet) {
  // DEVIATION IBTA Vol 1 §9.5: 256, 512, 1024, 2048 or 4096. Published simulations have 1000.
  if (!uet && said % 4 != 0)
    map.at_or_self("path-mtu")
        .fail(
            fmt::format("{} is not a RoCE path MTU; expected 256, 512, 1024, 2048 or 4096, or another multiple of 4 up "
                        "to 8192",
                        said));
  if (uet && said < 1024)
    map.at_or_self("path-mtu")
        .fail(fmt::format(
            "{} is not a UET Payload MTU; expected 1024..8192 (the standard has 1024, 2048, 4096 and 8192)", said));
}

namespace {

Form<std::uint32_t> payload() {
  return checked<std::uint32_t>(octets(4, kMostPayload), [](const std::uint32_t& n) -> std::optional<std::string> {
    if (n % 4 == 0) return std::nullopt;
    return fmt::format("{} bytes are not a multiple of 4", n);
  });
}

Form<Bytes> flow_size() { return either("unlimited", Bytes{}, size(Bytes{1})); }

// The name of a published one, or points: [[10KB, 50%], [1MB, 100%]].
Form<FlowSizes> flow_sizes() {
  const Form<Bytes> octets = size(Bytes{1}, Bytes{std::int64_t{1} << 40});
  const Form<std::uint32_t> part = ppm();
  std::vector<std::string> names;
  for (const FlowSizes& s : published_flow_sizes()) names.push_back(s.name);
  const auto read = [=](const Tree& tree) {
    if (tree.kind == Tree::Kind::kScalar) {
      for (const FlowSizes& s : published_flow_sizes())
        if (s.name == tree.text) return s;
      fail_choice(tree, names);
    }
    FlowSizes own;
    for (const Tree& item : tree.as_list("the name of a distribution, or points such as [[10KB, 50%], [1MB, 100%]]")) {
      const std::vector<Tree>& pair = item.as_list("a size and the share of flows up to it: [10KB, 50%]");
      if (pair.size() != 2) item.fail(fmt::format("{} values; expected a size and a share: [10KB, 50%]", pair.size()));
      const FlowSizes::Point point{octets.read(pair[0]), part.read(pair[1])};
      if (!own.points.empty() && (point.size <= own.points.back().size || point.ppm <= own.points.back().ppm))
        item.fail("is not above the previous point; expected ascending sizes and shares");
      if (point.ppm == 0) pair[1].fail("is 0; expected a share above 0");
      own.points.push_back(point);
    }
    if (own.points.empty() || own.points.back().ppm != 1'000'000)
      tree.fail("does not end at 100%; expected a last point such as [1MB, 100%]");
    return own;
  };
  const auto write = [=](const FlowSizes& s) {
    if (!s.name.empty()) return Tree::plain(s.name);
    Tree list = Tree::list({});
    for (const FlowSizes::Point& p : s.points)
      list.items.push_back(Tree::list({octets.write(p.size), part.write(p.ppm)}));
    return list;
  };
  return {read, write, any_of_schemas({choice_schema(names), Tree::map({{"type", Tree::string("array")}})})};
}

// A key of what is said of RoCE, among those of traffic.
Key<TrafficSpec> of_roce(Key<RoceTraffic> k) {
  return {k.name,
          k.description,
          [read = k.read](const Tree& tree, TrafficSpec& into) { read(tree, into.roce); },
          [write = k.write](const TrafficSpec& from) { return write(from.roce); },
          [same = k.same](const TrafficSpec& a, const TrafficSpec& b) { return same(a.roce, b.roce); },
          k.schema};
}

// InfiniBand's longest (roce/wire/reth.h); UET's field has room for twice as much.
constexpr std::uint32_t kMostMessage = 1u << 31;

// What a delivery mode of UET can carry.
void check_service(const Tree& map, const TrafficSpec& t) {
  const RoceOperation operation = t.roce.operation;
  if (operation == RoceOperation::kRping)
    map.at_or_self("operation").fail("rping is for transport: roce; expected write, send or read");
  if (t.service == UetService::kRudi && operation == RoceOperation::kSend)
    map.at_or_self("operation").fail("RUDI needs idempotent operations; expected write or read");
  if (t.tagged && (t.service == UetService::kUud || operation != RoceOperation::kSend))
    map.at_or_self("tagged").fail("tags need SENDs over rud or rod; expected operation: send with rud or rod");
  if (t.service != UetService::kUud) return;
  if (map.find("operation") != nullptr && operation != RoceOperation::kSend)
    map.at_or_self("operation").fail("UUD carries datagrams only; expected send");
  if (map.find("message") != nullptr && t.roce.message > static_cast<std::uint32_t>(t.roce.path_mtu))
    map.at_or_self("message").fail(fmt::format("{} exceeds a datagram; expected at most path-mtu ({})",
                                               format(Bytes{t.roce.message}), t.roce.path_mtu));
}

// A READ of RoCEv2 has all of its PSNs at once, less than half of what 24 bits count (roce::Psn::kMostAhead).
void check_read(const Tree& map, const TrafficSpec& t) {
  constexpr std::uint32_t kMostPackets = (1u << 23) - 1;
  const std::uint32_t packets = (t.roce.message - 1) / static_cast<std::uint32_t>(t.roce.path_mtu) + 1;
  if (t.roce.operation == RoceOperation::kRead && packets > kMostPackets)
    map.at_or_self("message")
        .fail(fmt::format("{} are {} packets of path-mtu ({}), and a READ has at most {}",
                          format(Bytes{t.roce.message}), packets, t.roce.path_mtu, kMostPackets));
}

// IBTA Vol 1 §9.8: nothing answers the requests of an unreliable connection, and so nothing can be read over it.
void check_qp_type(const Tree& map, const TrafficSpec& t) {
  const RoceOperation operation = t.roce.operation;
  if (t.roce.qp_type == RoceQpType::kUc &&
      (operation == RoceOperation::kRead || operation == RoceOperation::kRping))
    map.at_or_self("operation").fail("UC supports only write and send; use qp-type: rc for read");
}

// Keys that say something of one transport only.
void check_transport(const Tree& map, const TrafficSpec& t) {
  const auto only = [&](std::initializer_list<const char*> keys, bool has_meaning, const char* where) {
    for (const char* key : keys)
      if (const Tree* value = map.find(key); value != nullptr && !has_meaning)
        value->fail(fmt::format("does not apply here; expected {}", where));
  };
  const bool messages = t.has_messages();
  only({"operation", "message", "outstanding", "path-mtu", "qps", "receives", "repost-after"}, messages,
       "transport: roce or uet");
  only({"rping", "qp-type"}, t.is_roce(), "transport: roce");
  only({"service", "tagged"}, t.is_uet(), "transport: uet");
  only({"vlan", "pcp"}, !t.is_uet(), "transport: generator or roce; UET's tags are those of the host (vlan)");
  if (t.has_messages()) check_path_mtu(map, t.roce.path_mtu, t.is_uet());
  if (t.is_uet()) check_service(map, t);
  if (t.is_roce()) check_qp_type(map, t);
  if (t.is_roce()) check_read(map, t);
  const bool rping = t.is_rping();
  only({"rping"}, rping, "operation: rping");
  only({"message", "path-mtu", "bytes"}, !rping, "other operations; of pings, rping has size, path-mtu and count");
  only({"outstanding", "qps", "rate", "bidirectional"}, !rping,
       "other operations; a client of rping has one QP and one ping under way");
  only({"receives", "repost-after"}, t.roce.operation == RoceOperation::kSend || t.service == UetService::kUud,
       "operation: send");
  only({"payload"}, !messages, "transport: generator; RoCE and UET packets have path-mtu");
  only({"on", "off", "gap-jitter"}, !messages, "transport: generator");
  if (!messages && t.bytes.n % 4 != 0)
    map.at_or_self("bytes").fail(fmt::format("{} bytes are not a multiple of 4", t.bytes.n));
  if (messages && t.rate && t.rate->bps / t.roce.qps < kLeastRate.bps)
    map.at_or_self("rate").fail(
        fmt::format("{} over {} QPs is less than {} per QP", format(*t.rate), t.roce.qps, format(kLeastRate)));
}

// Who says how large flows are, and when they start.
void check_sizes(const Tree& map, const TrafficSpec& t) {
  const auto refuse_beside = [&](const char* key, const char* other, const char* why) {
    if (const Tree* value = map.find(key)) value->fail(fmt::format("beside {}: {}", other, why));
  };
  if (t.sizes) refuse_beside("bytes", "sizes", "each flow's size is drawn; expected one of them");
  if (t.load) {
    if (!t.sizes && t.bytes.n == 0)
      map.at_or_self("load").fail("without sizes or bytes; expected one of them, for finite flows");
    refuse_beside("stagger", "load", "flows arrive at random");
    refuse_beside("flows", "load", "load sets the number of flows");
    refuse_beside(
        "bidirectional", "load",
        "flows arrive at each sender independently; expected another traffic entry for the reverse direction");
    refuse_beside("on", "load", "flows arrive at random");
  }
  const bool listed = t.pattern == TrafficSpec::Pattern::kFile;
  if (listed && t.file.empty()) map.fail("key 'file' is missing: pattern: file needs a list of flows");
  if (!listed && !t.file.empty()) map.at_or_self("file").fail("is for pattern: file");
  if (listed)
    for (const char* key : {"bytes", "sizes", "load", "flows", "stagger", "bidirectional"})
      refuse_beside(key, "pattern: file", "the file lists the flows");
}

void check_traffic(const Tree& map, const TrafficSpec& t) {
  const auto refuse = [&](const char* key, const std::string& why) { map.at_or_self(key).fail(why); };
  if (t.fan_in > 0 && t.pattern != Pattern::kIncast) refuse("fan-in", "is for pattern: incast only");
  if (t.stop && *t.stop <= t.start)
    refuse("stop", fmt::format("{} is not after start ({})", format(*t.stop), format(t.start)));
  check_transport(map, t);
  check_sizes(map, t);
  const bool has_on = t.on > Duration{};
  if (has_on != (t.off > Duration{}))
    refuse(has_on ? "on" : "off", fmt::format("needs {}; expected both, for on-off flows", has_on ? "off" : "on"));
}

}  // namespace

const Table<TrafficSpec>& traffic_keys() {
  static const Table<TrafficSpec> table{
      "traffic",
      "Flows between built-in NICs: RoCEv2-shaped frames without responses, or messages over RoCEv2 or UET",
      {key("name", &TrafficSpec::name, name_form(),
           "name of this traffic; its flows are called name/source->destination")
           .require(),
       key("pattern", &TrafficSpec::pattern,
           choice<Pattern>({{"pairs", Pattern::kPairs},
                            {"incast", Pattern::kIncast},
                            {"permutation", Pattern::kPermutation},
                            {"all-to-all", Pattern::kAllToAll},
                            {"random", Pattern::kRandom},
                            {"file", Pattern::kFile}}),
           "pairs: the i-th of from to the i-th of to; incast: many to each of to; permutation: each of from to one of "
           "to; all-to-all: each to each; random: each of from to some of to; file: the flows in `file`. All but pairs "
           "and file stay within a rail: NIC k to NIC k")
           .show(),
       key("from", &TrafficSpec::from, one_or_list_of(selector()), "senders: hosts or single NICs").show(),
       key("to", &TrafficSpec::to, one_or_list_of(selector()), "receivers: hosts or single NICs").show(),
       key("fan-in", &TrafficSpec::fan_in, either("all", 0, integer(1, 65536)), "incast: senders per receiver"),
       key("flows", &TrafficSpec::flows, integer(1, kMostFlows),
           "number of flows; random: per sender; others: per pair. Each has its own UDP source port"),
       key("bidirectional", &TrafficSpec::bidirectional, boolean(),
           "add the reverse of each flow: receivers send the same amount back, in addition to what they receive"),
       key("transport", &TrafficSpec::transport,
           choice<TrafficSpec::Transport>({{"generator", TrafficSpec::Transport::kGenerator},
                                           {"roce", TrafficSpec::Transport::kRoce},
                                           {"uet", TrafficSpec::Transport::kUet}}),
           "generator: frames without responses; roce: messages over QPs of RoCEv2 NICs (hosts.<name>.roce); uet: "
           "messages over PDCs of Ultra Ethernet NICs (hosts.<name>.uet)"),
       key("service", &TrafficSpec::service,
           choice<UetService>({{"rud", UetService::kRud},
                               {"rod", UetService::kRod},
                               {"rudi", UetService::kRudi},
                               {"uud", UetService::kUud}}),
           "uet: reliable unordered delivery over many paths (rud), ordered delivery over one path (rod), idempotent "
           "operations without a PDC (rudi), or unacknowledged datagrams (uud)"),
       key("tagged", &TrafficSpec::tagged, boolean(),
           "uet, send: TAGGED_SENDs, which match receive requests by match bits and not only by order"),
       of_roce(key("qp-type", &RoceTraffic::qp_type,
                   choice<RoceQpType>({{"rc", RoceQpType::kRc}, {"uc", RoceQpType::kUc}}),
                   "roce: reliable connections (rc), or unreliable ones (uc). Over uc no packet is acknowledged or "
                   "retransmitted, and a message with a missing packet is lost")),
       of_roce(
           key("operation", &RoceTraffic::operation,
               choice<RoceOperation>({{"write", RoceOperation::kWrite},
                                      {"send", RoceOperation::kSend},
                                      {"read", RoceOperation::kRead},
                                      {"rping", RoceOperation::kRping}}),
               "how data move from sender to receiver. read: the receiver requests them. rping (roce): the sender "
               "connects by rdma_cm to an rping server, which may be a real one. The server READs its pings and WRITEs "
               "them back")),
       of_roce(key("message", &RoceTraffic::message, octets(1, kMostMessage),
                   "message size of each work request; the last message of a flow carries the rest of bytes")),
       of_roce(key("outstanding", &RoceTraffic::outstanding, integer(1, 4096),
                   "maximum work requests per QP that are posted and not complete")),
       of_roce(key("path-mtu", &RoceTraffic::path_mtu, any_path_mtu(),
                   "payload of a full packet in bytes: 256, 512, 1024, 2048 or 4096; for UET 1024, 2048, 4096 or 8192. "
                   "Simulations also accept values in between, for RoCE a multiple of 4")),
       of_roce(key("qps", &RoceTraffic::qps, integer(1, 256),
                   "QPs per flow, each with its own UDP source port, or PDCs; messages use them in turn")),
       of_roce(key("receives", &RoceTraffic::receives, integer(1, 4096),
                   "send: receive requests per QP at the receiver; default: the value of outstanding")),
       of_roce(key("repost-after", &RoceTraffic::repost_after, duration({}, kAnyTime),
                   "send: delay from a message's arrival until its receive request is reposted")),
       of_roce(key("rping", &RoceTraffic::rping, map_of(rping_keys()), "roce, rping: size, count and port")),
       key("ip", &TrafficSpec::ip_version, choice<int>({{"4", 4}, {"6", 6}}), "IP version"),
       key("dscp", &TrafficSpec::dscp, integer(0, 63), "DSCP by which switches classify the packets"),
       key("ecn", &TrafficSpec::ect, boolean(), "true: ECN-capable, ECT(0); false: Not-ECT"),
       key("class", &TrafficSpec::priority, integer(0, 7),
           "class at the sending NIC; default: the class that the host's QoS profile gives the DSCP"),
       key("vlan", &TrafficSpec::vlan, maybe(integer(0, 4094)),
           "generator, roce: VID of the 802.1Q tags, 0: priority tags; default: vlan of the host"),
       key("pcp", &TrafficSpec::pcp, maybe(integer(0, 7)),
           "generator, roce: PCP of the frames, including ACKs; default: the PCP that the host's QoS profile gives "
           "their class"),
       key("payload", &TrafficSpec::payload, payload(), "generator: payload bytes per frame, a multiple of 4"),
       key("rate", &TrafficSpec::rate, either("greedy", std::optional<BitRate>{}, maybe(rate(kLeastRate))),
           "rate of each flow on the wire; greedy: as fast as the link accepts frames"),
       key("bytes", &TrafficSpec::bytes, flow_size(), "payload bytes per flow; default: unlimited"),
       key("sizes", &TrafficSpec::sizes, flow_sizes(),
           "size distribution of the flows, instead of bytes: web-search, data-mining, storage, mice, or points of a "
           "cumulative distribution, [[10KB, 50%], [1MB, 100%]]"),
       key("load", &TrafficSpec::load, ratio(),
           "mean payload load as a fraction of each sender's link. Flows arrive at random (a Poisson process) until "
           "stop, or the end of the run. Without run.duration, the run lasts until all of them complete"),
       key("file", &TrafficSpec::file, file_path(kLongestFile),
           "pattern: file: flows as CSV (from,to,bytes,start), or a connection matrix of htsim (.cm), with triggers; "
           "its nodes are those of from"),
       key("start", &TrafficSpec::start, duration({}, kAnyTime), "start time of the first flow"),
       key("stagger", &TrafficSpec::stagger, duration({}, kAnyTime), "flow i starts i times this value later"),
       key("stop", &TrafficSpec::stop, duration(Duration{1}, kAnyTime),
           "end time of all flows; default: the end of the run. With load: time of the last arrival"),
       key("on", &TrafficSpec::on, duration(Duration{1}, kAnyTime),
           "generator, with off: duration of each sending phase"),
       key("off", &TrafficSpec::off, duration(Duration{1}, kAnyTime),
           "generator, with on: duration of the pause after each sending phase"),
       key("gap-jitter", &TrafficSpec::gap_jitter_ppm, maybe(ppm()),
           "generator, with rate: each frame waits for a random part of the gap, up to this fraction of it; the mean "
           "rate is unchanged. Default: 100%, or 0 where the NIC has clock-error: 0")},
      check_traffic};
  return table;
}

}  // namespace railyard::spec
