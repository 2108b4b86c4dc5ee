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
    map.at_or_self("root").fail("has no meaning here; expected it under collective: broadcast");
  if (map.find("service") != nullptr && !c.is_uet())
    map.at_or_self("service").fail("has no meaning here; expected it under transport: uet");
  check_path_mtu(map, c.path_mtu, c.is_uet());
  for (const char* key : {"forward", "backward", "buckets"})
    if (map.find(key) != nullptr && c.collective != Operation::kAllReduce)
      map.at_or_self(key).fail("has no meaning here; expected it under collective: all-reduce");
  for (const char* key : {"buckets", "jitter", "stragglers"})
    if (map.find(key) != nullptr && !c.computes())
      map.at_or_self(key).fail("says how computing goes, and there is none; expected forward or backward beside it");
  if (!c.placement.empty())
    if (const Tree* ranks = map.find("ranks")) ranks->fail("beside placement, which says where the ranks are");
  if (c.chunk % c.element_octets() != 0)
    map.at_or_self("chunk").fail(
        fmt::format("{} octets are not a multiple of an element's {}", c.chunk, c.element_octets()));
}

// A placement says it in its place.
Key<CollectiveSpec> ranks_key() {
  Key<CollectiveSpec> k = key("ranks", &CollectiveSpec::ranks, one_or_list_of(selector()),
                              "hosts, or single NICs, in the order of their ranks; each NIC is one rank, once. A host "
                              "whose NICs are all cabled to hosts is one rank: it takes the NIC that leads to the "
                              "other rank")
                              .show();
  k.write = [write = k.write](const CollectiveSpec& c) { return c.placement.empty() ? write(c) : Tree{}; };
  return k;
}

}  // namespace

const Table<StragglerSpec>& straggler_keys() {
  const auto at_least_one = checked<Ratio>(ratio(), [](const Ratio& value) -> std::optional<std::string> {
    if (value.numerator >= value.denominator) return std::nullopt;
    return fmt::format("{} is below 1; expected how many times as long it takes", format(value));
  });
  static const Table<StragglerSpec> table{
      "straggler",
      "Ranks that compute more slowly than the others",
      {key("ranks", &StragglerSpec::ranks, one_or_list_of(integer(0, 65535)), "which").require(),
       key("factor", &StragglerSpec::factor, at_least_one, "how many times as long computing takes them").require()}};
  return table;
}

const Table<CollectiveSpec>& collective_keys() {
  constexpr Bytes kMostSize{std::int64_t{1} << 36};
  constexpr std::uint32_t kMostChunk = 1u << 30;
  static const Table<CollectiveSpec> table{
      "collective",
      "A collective operation of built-in NICs over RoCEv2 or UET, each NIC one rank: a message goes when its data are "
      "there",
      {key("name", &CollectiveSpec::name, name_form(), "name of this collective").require(),
       key("collective", &CollectiveSpec::collective,
           operation_form(),
           "what is done")
           .show(),
       key("algorithm", &CollectiveSpec::algorithm,
           algorithm_form(), collectives::algorithms_help()),
       key("transport", &CollectiveSpec::transport,
           choice<CollectiveTransport>({{"roce", CollectiveTransport::kRoce}, {"uet", CollectiveTransport::kUet}}),
           "roce: messages over QPs of RoCEv2 NICs (hosts.<name>.roce); uet: over PDCs of Ultra Ethernet NICs "
           "(hosts.<name>.uet)"),
       key("service", &CollectiveSpec::service,
           choice<CollectiveService>({{"rud", CollectiveService::kRud}, {"rod", CollectiveService::kRod}}),
           "uet: reliable unordered delivery over many paths, or ordered over one"),
       key("size", &CollectiveSpec::size, size(Bytes{4}, kMostSize),
           "as nccl-tests counts it: all-reduce, broadcast: of each rank's buffer; reduce-scatter: of what each puts "
           "in; all-gather: of what each gets; all-to-all: of what each sends, its own part included")
           .require(),
       key("chunk", &CollectiveSpec::chunk, octets(4, kMostChunk), "most octets of a message; what is longer is split"),
       key("channels", &CollectiveSpec::channels, integer(1, 64),
           "parts that go at once, each over QPs of its own with UDP source ports of their own, or over PDCs of its "
           "own"),
       ranks_key(),
       key("placement", &CollectiveSpec::placement, file_path(4095),
           "in the place of ranks, a file that says where each is: CSV with the columns rank, host and, if wanted, "
           "rail (a NIC of the host, 1 without it)"),
       key("pxn", &CollectiveSpec::pxn, boolean(),
           "what goes to another host and another rail goes over the scale-up network to the rank at that rail first, "
           "and from there through the fabric, along its rail"),
       key("root", &CollectiveSpec::root, integer(0, 65535), "broadcast: the rank that has the data"),
       key("datatype", &CollectiveSpec::datatype,
           choice<CollectiveDatatype>(
               {{"uint32", CollectiveDatatype::kUint32}, {"uint64", CollectiveDatatype::kUint64}}),
           "what elements are, and so how they are added"),
       key("repeats", &CollectiveSpec::repeats, integer(1, 10'000), "how often"),
       key("start", &CollectiveSpec::start, duration({}, kAnyTime), "when the first one starts"),
       key("gap", &CollectiveSpec::gap, duration({}, kAnyTime),
           "how long after the end of one each rank starts with the next"),
       key("reduce-rate", &CollectiveSpec::reduce_rate, either("unlimited", BitRate{}, rate(BitRate{1'000'000})),
           "how fast a rank adds what came to what it has"),
       key("forward", &CollectiveSpec::forward, duration({}, kAnyTime),
           "all-reduce: how long each rank computes before its backward pass; the repeat is a step of training then"),
       key("backward", &CollectiveSpec::backward, duration({}, kAnyTime),
           "all-reduce: how long the backward pass takes, in which the data are there bucket by bucket"),
       key("buckets", &CollectiveSpec::buckets, integer(1, 256), "of the backward pass, each an all-reduce of its own"),
       key("jitter", &CollectiveSpec::jitter_ppm, ppm(),
           "how much longer computing takes a rank in a repeat, at most; drawn for each"),
       key("stragglers", &CollectiveSpec::stragglers, list_of(map_of(straggler_keys())),
           "ranks that computing takes longer than the others, always"),
       key("path-mtu", &CollectiveSpec::path_mtu, any_path_mtu(),
           "octets of payload in a full packet: 256, 512, 1024, 2048 or 4096; of UET 1024, 2048, 4096 or 8192, or what "
           "a "
           "simulation has in between"),
       key("ip", &CollectiveSpec::ip_version, choice<int>({{"4", 4}, {"6", 6}}), "version of IP"),
       key("dscp", &CollectiveSpec::dscp, integer(0, 63), "code point that switches classify by"),
       key("ecn", &CollectiveSpec::ect, boolean(), "ECN-capable: ECT(0), else Not-ECT"),
       key("class", &CollectiveSpec::priority, integer(0, 7),
           "class at the sending NIC; without it what the host's QoS profile makes of the DSCP")},
      check_keys};
  return table;
}

}  // namespace railyard::spec
