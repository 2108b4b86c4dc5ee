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

Form<collectives::Protocol> protocol_form() {
  std::vector<std::pair<std::string, collectives::Protocol>> all;
  for (const collectives::Protocol p : collectives::kProtocols) all.emplace_back(name(p), p);
  return choice<collectives::Protocol>(std::move(all));
}

std::string size_help() {
  std::vector<std::string> meanings;
  for (const Operation o : collectives::kOperations)
    meanings.push_back(fmt::format("{}: {}", name(o), collectives::traits(o).size_means));
  return fmt::format("as in nccl-tests: {}", fmt::join(meanings, "; "));
}

void check_size(const Tree& map, const CollectiveSpec& c) {
  const Tree* const size = map.find("size");
  if (c.collective == Operation::kBarrier) {
    if (size != nullptr) size->fail("does not apply to a barrier, which has no data; expected no size");
    if (c.channels.value_or(1) != 1) map.at_or_self("channels").fail("does not apply to a barrier, which has no data");
    return;
  }
  for (const char* key : {"matrix", "skew"})
    if (map.find(key) != nullptr && c.collective != Operation::kAllToAll)
      map.at_or_self(key).fail("does not apply here; expected collective: all-to-all");
  if (!c.matrix.empty() && c.skew.numerator > 0)
    map.at_or_self("skew").fail("found with matrix, which says all sizes; expected one of the two");
  if (!c.matrix.empty() && size != nullptr)
    size->fail("found with matrix, which says all sizes; expected one of the two");
  if (c.matrix.empty() && size == nullptr) map.fail(fmt::format("key 'size' is missing: {}", size_help()));
}

void check_trace(const Tree& map) {
  for (const char* key : {"collective", "size", "matrix", "skew", "channels", "root", "datatype", "pxn",
                          "reduce-rate", "forward", "backward", "buckets"})
    if (const Tree* said = map.find(key)) said->fail("found with trace, which says what the ranks do; expected one of the two");
}

void check_keys(const Tree& map, const CollectiveSpec& c) {
  const std::vector<CollectiveAlgorithm>& known = algorithms(c.collective);
  if (c.algorithm && !c.is_graph() && std::ranges::find(known, *c.algorithm) == known.end()) {
    std::vector<std::string_view> expected;
    for (const CollectiveAlgorithm a : known) expected.push_back(a->name);
    map.at_or_self("algorithm")
        .fail(fmt::format("there is no {} for {}; expected {}", (*c.algorithm)->name, name(c.collective),
                          fmt::join(expected, " or ")));
  }
  const collectives::OperationTraits& traits = collectives::traits(c.collective);
  if (c.root != 0 && !traits.has_root)
    map.at_or_self("root").fail("does not apply here; expected collective: broadcast, reduce, gather or scatter");
  if (c.is_graph())
    check_trace(map);
  else
    check_size(map, c);
  if (map.find("service") != nullptr && !c.is_uet())
    map.at_or_self("service").fail("does not apply here; expected transport: uet");
  check_path_mtu(map, c.path_mtu, c.is_uet());
  for (const char* key : {"forward", "backward", "buckets"})
    if (map.find(key) != nullptr && c.collective != Operation::kAllReduce)
      map.at_or_self(key).fail("does not apply here; expected collective: all-reduce");
  for (const char* key : {"buckets", "jitter", "stragglers"})
    if (map.find(key) != nullptr && !c.computes() && !c.is_graph())
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
                              "hosts or single NICs, in rank order. Each GPU of hosts with gpus is one rank; of other "
                              "hosts each NIC. None is listed twice. A host "
                              "whose NICs are all cabled to hosts is one rank: it uses the NIC that leads to the other "
                              "rank")
                              .show();
  k.write = [write = k.write](const CollectiveSpec& c) { return c.placement.empty() ? write(c) : Tree{}; };
  return k;
}

// A barrier has none, and a matrix says it.
Key<CollectiveSpec> size_key() {
  constexpr Bytes kMostSize{std::int64_t{1} << 36};
  Key<CollectiveSpec> k = key("size", &CollectiveSpec::size, size(Bytes{4}, kMostSize), size_help()).show();
  k.write = [write = k.write](const CollectiveSpec& c) {
    return c.collective == Operation::kBarrier || !c.matrix.empty() || c.is_graph() ? Tree{} : write(c);
  };
  return k;
}

// A trace says it.
Key<CollectiveSpec> without_trace(Key<CollectiveSpec> k) {
  k.write = [write = k.write](const CollectiveSpec& c) { return c.is_graph() ? Tree{} : write(c); };
  return k;
}

std::optional<std::string> at_most_four(const Ratio& value) {
  if (value.numerator <= 4 * value.denominator) return std::nullopt;
  return fmt::format("{} is above 4; expected an exponent of 0 to 4", format(value));
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
  constexpr std::uint32_t kMostChunk = 1u << 30;
  static const Table<CollectiveSpec> table{
      "collective",
      "A collective operation of built-in NICs over RoCEv2 or UET. Each NIC is one rank and sends a message as soon as "
      "its data are available",
      {key("name", &CollectiveSpec::name, name_form(), "name of this collective").require(),
       without_trace(key("collective", &CollectiveSpec::collective, operation_form(), "operation to run").show()),
       key("trace", &CollectiveSpec::trace, file_path(4095),
           "file of what the ranks do, instead of collective and size: a schedule in GOAL, a workload of SimAI, a log of "
           "NCCL, or the Chakra execution trace of rank 0 (NAME.0.et, in one folder with the others). It says how many ranks "
           "there are; of more NICs or GPUs the first ones are used"),
       key("algorithm", &CollectiveSpec::algorithm, algorithm_form(),
           "with trace: for those of its collectives that it can do. " + collectives::algorithms_help()),
       key("transport", &CollectiveSpec::transport,
           choice<CollectiveTransport>({{"roce", CollectiveTransport::kRoce}, {"uet", CollectiveTransport::kUet}}),
           "roce: messages over QPs of RoCEv2 NICs (hosts.<name>.roce); uet: over PDCs of Ultra Ethernet NICs "
           "(hosts.<name>.uet)"),
       key("service", &CollectiveSpec::service,
           choice<CollectiveService>({{"rud", CollectiveService::kRud}, {"rod", CollectiveService::kRod}}),
           "uet: reliable unordered delivery over many paths (rud), or ordered delivery over one path (rod)"),
       size_key(),
       key("chunk", &CollectiveSpec::chunk, octets(4, kMostChunk),
           "maximum message size in bytes; longer data are split"),
       without_trace(key("channels", &CollectiveSpec::channels, integer(1, 128),
           "parallel parts of the operation, each over its own QPs with their own UDP source ports, or over its own "
           "PDCs. Default: 1; ring in hosts with a scale-up network: one per rank of the network, each through another "
           "NIC, as in NCCL")
           .show()),
       ranks_key(),
       key("placement", &CollectiveSpec::placement, file_path(4095),
           "file that places the ranks, instead of ranks: CSV with the columns rank, host and optionally rail (a NIC "
           "of the host, default 1), or gpu where hosts have GPUs"),
       key("pxn", &CollectiveSpec::pxn, boolean(),
           "send data for another host and another rail over the scale-up network first, to the local rank at that "
           "rail; from there they cross the fabric on that rail"),
       key("root", &CollectiveSpec::root, integer(0, 65535),
           "broadcast, scatter: rank that has the data; reduce, gather: rank that gets them"),
       key("matrix", &CollectiveSpec::matrix, file_path(4095),
           "all-to-all: file of what each rank sends to each, instead of size: CSV, a line per sender and in it the "
           "bytes for rank 0, 1, ..., each a multiple of an element (datatype). Every rank must send to or receive from another"),
       key("skew", &CollectiveSpec::skew, checked<Ratio>(ratio(), at_most_four),
           "all-to-all, as of a mixture of experts: exponent of the Zipf distribution by which ranks are sent to; which "
           "rank is popular is drawn from run.seed. 0: all parts are equal"),
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
       key("protocol", &CollectiveSpec::protocol,
           protocol_form(),
           "protocol of NCCL: fixed costs of launch and messages, bytes on the wire (ll twice, ll128 128/120 of the data), and "
           "80 % of the scale-up network's rate. auto: what NCCL's model chooses by size, also of ring and tree if no algorithm "
           "is set. none: no costs (docs/jobs.md)"),
       key("launch-cost", &CollectiveSpec::launch_cost, duration({}, kAnyTime),
           "time from a rank's start of a repeat to its first message, as a kernel launch takes it. Default: as protocol says"),
       key("step-cost", &CollectiveSpec::step_cost, duration({}, kAnyTime),
           "fixed time from the arrival of a message to whatever depends on it, in addition to reduce-rate; messages do not "
           "wait for each other. Default: as protocol says"),
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
