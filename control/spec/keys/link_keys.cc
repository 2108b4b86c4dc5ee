// The keys of a link, and its form: [h1:1, leaf1:1, { rate: 400Gbps, cable: 30m }].
#include <fmt/format.h>

#include "control/spec/cable_medium.h"
#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr const char* kExpected =
    "[one end, other end] or [one end, other end, { rate, cable or delay, medium, mtu, bundle, weight, llr, framing }]";

Key<LinkSpec> cable() {
  return {"cable",
          "cable length; signals take 5 ns per metre",
          [form = length()](const Tree& tree, LinkSpec& into) {
            into.cable = form.read(tree);
            into.delay = propagation(*into.cable);
          },
          [form = length()](const LinkSpec& link) { return link.cable ? form.write(*link.cable) : Tree{}; },
          [](const LinkSpec& a, const LinkSpec& b) { return a.cable == b.cable; },
          length().schema};
}

Key<LinkSpec> delay() {
  const Form<Duration> form = duration({}, Duration{kPicosecondsPerSecond});
  return {"delay",
          "one-way propagation delay, instead of a cable length",
          [form](const Tree& tree, LinkSpec& into) {
            into.delay = form.read(tree);
            into.cable.reset();
          },
          [form](const LinkSpec& link) { return link.cable ? Tree{} : form.write(link.delay); },
          [](const LinkSpec& a, const LinkSpec& b) { return a.cable == b.cable && a.delay == b.delay; },
          form.schema};
}

Key<LinkSpec> medium() {
  std::vector<std::pair<std::string, CableMedium>> all;
  std::string help = "what the cable is; a longer one than it reaches at the rate of the link is an error";
  for (const CableMediumInfo& m : cable_media()) {
    all.emplace_back(m.name, m.medium);
    help += fmt::format("{} {}: {}", all.size() == 1 ? "." : ";", m.name, m.help);
  }
  return key("medium", &LinkSpec::medium, maybe(choice<CableMedium>(std::move(all))), help);
}

// off, on, or a map.
Form<std::optional<LlrSpec>> llr_form() {
  return {[](const Tree& tree) -> std::optional<LlrSpec> {
            LlrSpec llr;
            if (tree.kind == Tree::Kind::kMap)
              llr_keys().read(tree, llr);
            else if (tree.kind == Tree::Kind::kScalar && tree.text == "off")
              return {};
            else if (tree.kind != Tree::Kind::kScalar || tree.text != "on")
              tree.fail(fmt::format("found {}; expected off, on or a map such as {{ turnaround: 200ns }}",
                                    tree.described()));
            return llr;
          },
          [](const std::optional<LlrSpec>& llr) {
            if (!llr) return Tree::plain("off");
            return *llr == LlrSpec{} ? Tree::plain("on") : llr_keys().write(*llr);
          },
          any_of_schemas({choice_schema({"off", "on"}), reference(llr_keys().name())})};
}

void check_link(const Tree& map, const LinkSpec&) {
  if (const Tree* delay = map.find("delay"); delay != nullptr && map.find("cable") != nullptr)
    delay->fail("found with cable; expected one of the two");
}

// Without a bundle nothing is written.
Form<std::string> bundle_name() {
  Form<std::string> form = name_form();
  form.write = [write = form.write](const std::string& name) { return name.empty() ? Tree{} : write(name); };
  return form;
}

}  // namespace

const Table<LlrSpec>& llr_keys() {
  static const Table<LlrSpec> table{
      "llr",
      "Link-level retry (LLR) of Ultra Ethernet",
      {key("turnaround", &LlrSpec::turnaround, duration({}, Duration{1'000'000'000}),
           "time that both ends take to report a corrupted frame and to restart it, in addition to the time on the "
           "wire")
           .show()}};
  return table;
}

const Table<Framing>& framing_keys() {
  static const Table<Framing> table{
      "framing",
      "Link overhead of a frame, in addition to its own bytes. Values other than Ethernet's model lower layers "
      "(MACsec: 32 "
      "more). They also fit models whose headers are shorter than real ones (a negative preamble)",
      {key("preamble", &Framing::preamble, integer(Framing::kLeastPreamble, Framing::kMost),
           "bytes before a frame; Ethernet's preamble and SFD are 8")
           .show(),
       key("gap", &Framing::gap, integer(0, Framing::kMost), "bytes after a frame; Ethernet's interpacket gap is 12")
           .show()}};
  return table;
}

const Table<LinkSpec>& link_keys() {
  static const Table<LinkSpec> table{
      "link",
      "Properties of a link",
      {key("rate", &LinkSpec::rate, rate(BitRate{1'000'000}), "rate of each direction"), cable(), delay(), medium(),
       key("mtu", &LinkSpec::mtu, integer(576, 9216), "maximum IP packet size in bytes; IPv6 traffic needs 1280"),
       key("bundle", &LinkSpec::bundle, bundle_name(),
           "link aggregation: links of this name, all between the same two switches, are one for routing. A member that "
           "fails moves its own flows only, to the others. auto: named by its ends, such as leaf1-spine1"),
       key("weight", &LinkSpec::weight, integer(1, 1000),
           "for path: wcmp: weight among the links that have one (default 1 for the others). If no link has one: "
           "weights by the capacity beyond each link"),
       key("llr", &LinkSpec::llr, llr_form(),
           "link-level retry of Ultra Ethernet: retransmit corrupted frames (wrong FCS) on the link"),
       key("framing", &LinkSpec::framing, map_of(framing_keys()),
           "link overhead of a frame, in addition to its own bytes: preamble and gap")},
      check_link};
  return table;
}

LinkSpec read_link(const Tree& tree, const LinkSpec& defaults) {
  const Form<PortName> end = port_name();
  if (tree.kind != Tree::Kind::kList || tree.items.size() < 2 || tree.items.size() > 3)
    tree.fail(tree.kind == Tree::Kind::kList
                  ? fmt::format("found a list of {}; expected {}", tree.items.size(), kExpected)
                  : fmt::format("found {}; expected {}", tree.described(), kExpected));
  LinkSpec link = defaults;
  link.a = end.read(tree.items[0]);
  link.b = end.read(tree.items[1]);
  if (tree.items.size() == 3) link_keys().read(tree.items[2], link);
  link.place = tree.place;
  return link;
}

Tree write_link(const LinkSpec& link, const LinkSpec& defaults) {
  Tree tree = Tree::list({Tree::plain(format(link.a)), Tree::plain(format(link.b))});
  if (Tree rest = link_keys().write(link, defaults); !rest.entries.empty()) tree.items.push_back(std::move(rest));
  return tree;
}

Tree link_schema() {
  Tree ends = Tree::list({reference("port"), reference("port"), reference(link_keys().name())});
  return Tree::map({{"type", Tree::string("array")},
                    {"prefixItems", std::move(ends)},
                    {"items", Tree::plain("false")},
                    {"minItems", Tree::plain("2")}});
}

}  // namespace railyard::spec
