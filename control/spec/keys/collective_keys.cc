// The keys of a collective operation.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/collectives/registry.h"
#include "control/spec/keys/keys.h"
#include "control/spec/warning.h"

namespace railyard::spec {
namespace {

using Operation = CollectiveOperation;
using collectives::algorithms;

Form<Operation> operation_form() {
  std::vector<std::pair<std::string, Operation>> all;
  for (const Operation o : collectives::kOperations) all.emplace_back(name(o), o);
  return choice<Operation>(std::move(all));
}

// By name; some have an old one, which is read with a warning and never written.
Form<CollectiveAlgorithm> algorithm_form() {
  std::vector<std::pair<std::string, CollectiveAlgorithm>> all;
  std::vector<std::string> words;
  for (const CollectiveAlgorithm a : collectives::kAlgorithms) {
    all.emplace_back(a->name, a);
    words.emplace_back(a->name);
  }
  Form<CollectiveAlgorithm> form = choice<CollectiveAlgorithm>(std::move(all));
  form.read = [read = form.read](const Tree& tree) {
    for (const CollectiveAlgorithm a : collectives::kAlgorithms)
      if (tree.kind == Tree::Kind::kScalar && !a->also.empty() && tree.text == a->also) {
        warn(tree.place, fmt::format("{}: '{}' is now called '{}'; the old name will go", tree.path, a->also, a->name));
        return a;
      }
    return read(tree);
  };
  form.schema = choice_schema(words);
  return form;
}

void check_keys(const Tree& map, const CollectiveSpec& c) {
  const std::vector<CollectiveAlgorithm>& known = algorithms(c.collective);
  if (c.algorithm && std::ranges::find(known, *c.algorithm) == known.end()) {
    std::vector<std::string_view> expected;
    for (const CollectiveAlgorithm a : known) expected.push_back(a->name);
    map.at_or_self("algorithm")
        .fail(fmt::format("there is no {} for {}; expected {}", (*c.algorithm)->name, name(c.collective),
                          fmt::join(expected, " or ")));
  }
  if (c.root != 0 && c.collective != Operation::kBroadcast)
    map.at_or_self("root").fail("does not apply here; expected collective: broadcast");
  if (map.find("service") != nullptr && !c.is_uet())
    map.at_or_self("service").fail("does not apply here; expected transport: uet");
  check_path_mtu(map, c.path_mtu, c.is_uet());
  for (const char* key : {"forward", "backward", "buckets"})
    if (map.find(key) != nullptr && c.collective != Operation::kAllReduce)
      map.at_or_self(key).fail("does not apply here; expected collective: all-reduce");
  for (const char* key : {"buckets", "jitter", "stragglers"})
    if (map.find(key) != nullptr && !c.computes())
      map.at_or_self(key).fail("applies to compute steps only; expected forward or backward with it");
  if (!c.placement.empty())
    if (const Tree* ranks = map.find("ranks"))
      ranks->fail("found with placement, which places the ranks; expected one of the two");
  if (c.chunk % c.element_octets() != 0)
    map.at_or_self("chunk").fail(
        fmt::format("{} octets are not a multiple of an element's {}", c.chunk, c.element_octets()));
}

// A placement says it in its place.
Key<CollectiveSpec> ranks_key() {
  Key<CollectiveSpec> k = key("ranks", &CollectiveSpec::ranks, one_or_list_of(selector()),
                              "hosts or single NICs, in rank order. Each NIC is one rank and is listed once. A host "
                              "whose NICs are all cabled to hosts is one rank: it uses the NIC that leads to the other "
                              "rank")
                              .show();
  k.write = [write = k.write](const CollectiveSpec& c) { return c.placement.empty() ? write(c) : Tree{}; };
  return k;
}

}  // namespace

const Table<StragglerSpec>& straggler_keys() {
  const auto at_least_one = checked<Ratio>(ratio(), [](const Ratio& value) -> std::optional<std::string> {
    if (value.numerator >= value.denominator) return std::nullopt;
    return fmt::format("{} is below 1; expected a slowdown factor of 1 or more", format(value));
  });
  static const Table<StragglerSpec> table{
      "straggler",
      "Ranks that compute more slowly than the others",
      {key("ranks", &StragglerSpec::ranks, one_or_list_of(integer(0, 65535)), "ranks that are slower").require(),
       key("factor", &StragglerSpec::factor, at_least_one,
           "computing time of these ranks, as a multiple of the normal time").require()}};
  return table;
}

const Table<CollectiveSpec>& collective_keys() {
  constexpr Bytes kMostSize{std::int64_t{1} << 36};
  constexpr std::uint32_t kMostChunk = 1u << 30;
  static const Table<CollectiveSpec> table{
      "collective",
      "A collective operation of built-in NICs over RoCEv2 or UET. Each NIC is one rank and sends a message as soon as "
      "its data are available",
      {key("name", &CollectiveSpec::name, name_form(), "name of this collective").require(),
       key("collective", &CollectiveSpec::collective, operation_form(), "operation to run").show(),
       key("algorithm", &CollectiveSpec::algorithm, algorithm_form(), collectives::algorithms_help()),
       key("transport", &CollectiveSpec::transport,
           choice<CollectiveTransport>({{"roce", CollectiveTransport::kRoce}, {"uet", CollectiveTransport::kUet}}),
           "roce: messages over QPs of RoCEv2 NICs (hosts.<name>.roce); uet: over PDCs of Ultra Ethernet NICs "
           "(hosts.<name>.uet)"),
       key("service", &CollectiveSpec::service,
           choice<CollectiveService>({{"rud", CollectiveService::kRud}, {"rod", CollectiveService::kRod}}),
           "uet: reliable unordered delivery over many paths (rud), or ordered delivery over one path (rod)"),
       key("size", &CollectiveSpec::size, size(Bytes{4}, kMostSize),
           "as in nccl-tests: all-reduce, broadcast: each rank's buffer; reduce-scatter: each rank's input; "
           "all-gather: each rank's output; all-to-all: data that each rank sends, its own part included")
           .require(),
       key("chunk", &CollectiveSpec::chunk, octets(4, kMostChunk),
           "maximum message size in bytes; longer data are split"),
       key("channels", &CollectiveSpec::channels, integer(1, 64),
           "parallel parts of the operation, each over its own QPs with their own UDP source ports, or over its own "
           "PDCs. Default: 1; ring in hosts with a scale-up network: one per rank of the host, each through another NIC, "
           "as in NCCL")
           .show(),
       ranks_key(),
       key("placement", &CollectiveSpec::placement, file_path(4095),
           "file that places the ranks, instead of ranks: CSV with the columns rank, host and optionally rail (a NIC "
           "of the host, default 1)"),
       key("pxn", &CollectiveSpec::pxn, boolean(),
           "send data for another host and another rail over the scale-up network first, to the local rank at that "
           "rail; from there they cross the fabric on that rail"),
       key("root", &CollectiveSpec::root, integer(0, 65535), "broadcast: rank that has the data"),
       key("datatype", &CollectiveSpec::datatype,
           choice<CollectiveDatatype>(
               {{"uint32", CollectiveDatatype::kUint32}, {"uint64", CollectiveDatatype::kUint64}}),
           "type of the elements; it determines how they are added"),
       key("repeats", &CollectiveSpec::repeats, integer(1, 10'000), "number of repeats"),
       key("start", &CollectiveSpec::start, duration({}, kAnyTime), "start time of the first repeat"),
       key("gap", &CollectiveSpec::gap, duration({}, kAnyTime),
           "time between the end of one repeat and the start of the next, at each rank"),
       key("reduce-rate", &CollectiveSpec::reduce_rate, either("unlimited", BitRate{}, rate(BitRate{1'000'000})),
           "rate at which a rank adds received data to its own"),
       key("forward", &CollectiveSpec::forward, duration({}, kAnyTime),
           "all-reduce: computing time of each rank before its backward pass; each repeat is then a training step"),
       key("backward", &CollectiveSpec::backward, duration({}, kAnyTime),
           "all-reduce: duration of the backward pass; it makes the data available bucket by bucket"),
       key("buckets", &CollectiveSpec::buckets, integer(1, 256),
           "buckets of the backward pass; each is an all-reduce of its own"),
       key("jitter", &CollectiveSpec::jitter_ppm, ppm(),
           "maximum extra computing time of a rank in a repeat, as a fraction; drawn per rank and repeat"),
       key("stragglers", &CollectiveSpec::stragglers, list_of(map_of(straggler_keys())),
           "ranks that always compute more slowly than the others"),
       key("path-mtu", &CollectiveSpec::path_mtu, any_path_mtu(),
           "payload of a full packet in bytes: 256, 512, 1024, 2048 or 4096; for UET 1024, 2048, 4096 or 8192. "
           "Simulations also accept values in between"),
       key("ip", &CollectiveSpec::ip_version, choice<int>({{"4", 4}, {"6", 6}}), "IP version"),
       key("dscp", &CollectiveSpec::dscp, integer(0, 63), "DSCP by which switches classify the packets"),
       key("ecn", &CollectiveSpec::ect, boolean(), "true: ECN-capable, ECT(0); false: Not-ECT"),
       key("class", &CollectiveSpec::priority, integer(0, 7),
           "class at the sending NIC; default: the class that the host's QoS profile gives the DSCP")},
      check_keys};
  return table;
}

}  // namespace railyard::spec
