// The keys of a fault: where, when, which frames, and exactly one that says what.
#include <fmt/format.h>

#include "control/spec/fault_match.h"
#include "control/spec/fault_place.h"
#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr Duration kLongestDelay{kPicosecondsPerSecond};

// A value that is text in the file and something else behind it.
template <class T>
Form<T> text_form(std::string expected, Parsed<T> (*parse)(std::string_view), std::string pattern) {
  return {[=](const Tree& tree) {
            auto value = parse(tree.as_text(expected));
            if (!value) tree.fail(value.error());
            return *value;
          },
          [](const T& value) { return Tree::string(format(value)); },
          Tree::map({{"type", Tree::string("string")}, {"pattern", Tree::string(std::move(pattern))}})};
}

// A key that says what goes wrong: an A of the variant.
template <class A>
Key<FaultSpec> action(std::string name, Form<A> form, std::string description) {
  Key<FaultSpec> made{name,
                      std::move(description),
                      [name, read = form.read](const Tree& tree, FaultSpec& into) {
                        if (!std::holds_alternative<std::monostate>(into.action))
                          tree.fail(
                              fmt::format("a fault does one thing, and this one says {} already; expected another "
                                          "fault for {}",
                                          word(into.action), name));
                        into.action = read(tree);
                      },
                      [write = form.write](const FaultSpec& from) {
                        const A* a = std::get_if<A>(&from.action);
                        return a == nullptr ? Tree{} : write(*a);
                      },
                      [](const FaultSpec& a, const FaultSpec& b) {
                        const A* x = std::get_if<A>(&a.action);
                        const A* y = std::get_if<A>(&b.action);
                        return x == nullptr || y == nullptr ? x == y : *x == *y;
                      },
                      form.schema};
  return std::move(made).without_default();
}

// For what has nothing more to say than that it is so.
template <class A>
Form<A> so() {
  return {[](const Tree& tree) {
            if (tree.kind != Tree::Kind::kScalar || tree.text != "true")
              tree.fail(fmt::format("found {}; expected true", tree.described()));
            return A{};
          },
          [](const A&) { return Tree::plain("true"); }, Tree::map({{"const", Tree::plain("true")}})};
}

// For what is one value.
template <class A, class M>
Form<A> only(M A::*member, Form<M> form) {
  return {[=, read = form.read](const Tree& tree) {
            A a{};
            a.*member = read(tree);
            return a;
          },
          [=, write = form.write](const A& a) { return write(a.*member); }, form.schema};
}

// One value, or a map of this and others.
template <class A, class M>
Form<A> only_or_map(M A::*member, Form<M> form, const Table<A>& table) {
  const Form<A> one = only(member, form);
  return {[=, &table](const Tree& tree) {
            if (tree.kind != Tree::Kind::kMap) return one.read(tree);
            A a{};
            table.read(tree, a);
            return a;
          },
          [=, &table](const A& a) {
            A alone{};
            alone.*member = a.*member;
            return a == alone ? one.write(a) : table.write(a);
          },
          any_of_schemas({form.schema, reference(table.name())})};
}

// Loss by probability, or a map with that of bursts: two of the variant under one key.
Key<FaultSpec> loss() {
  const Key<FaultSpec> share = action("loss", only(&fault::Loss::share, probability()), "");
  const Key<FaultSpec> bursts = action("loss", map_of(burst_loss_keys()), "");
  Key<FaultSpec> made{
      "loss",
      "of a link: frames are lost, each with this probability; or in bursts (Gilbert-Elliott)",
      [=](const Tree& tree, FaultSpec& into) { (tree.kind == Tree::Kind::kMap ? bursts : share).read(tree, into); },
      [=](const FaultSpec& from) {
        return (std::holds_alternative<fault::BurstLoss>(from.action) ? bursts : share).write(from);
      },
      [=](const FaultSpec& a, const FaultSpec& b) { return share.same(a, b) && bursts.same(a, b); },
      any_of_schemas({reference("probability"), reference(burst_loss_keys().name())})};
  return std::move(made).without_default();
}

Form<std::vector<int>> classes() { return one_or_list_of(integer(0, 7)); }

Form<fault::DscpMap> dscp_map() {
  return {[](const Tree& tree) {
            fault::DscpMap map;
            for (const Tree::Entry& e : tree.as_map("a map of DSCPs to classes, such as { 26: 0 }")) {
              const Parsed<std::int64_t> dscp = parse_integer(e.key, 0, 63);
              if (!dscp) fail_at(e.place, tree.path, fmt::format("DSCP: {}", dscp.error()));
              map.to_class[static_cast<int>(*dscp)] = integer(0, 7).read(e.value);
            }
            if (map.to_class.empty()) tree.fail("is empty; expected DSCPs with the class they are put into, { 26: 0 }");
            return map;
          },
          [](const fault::DscpMap& map) {
            Tree tree = Tree::map();
            for (const auto& [dscp, to] : map.to_class) tree.add(std::to_string(dscp), Tree::plain(std::to_string(to)));
            return tree;
          },
          Tree::map({{"type", Tree::string("object")}, {"additionalProperties", integer(0, 7).schema}})};
}

Key<FaultSpec> match() {
  Tree properties = Tree::map();
  const Tree value = Tree::map({{"type", Tree::list({Tree::string("string"), Tree::string("integer")})}});
  for (const std::string& w : match_words()) properties.add(w, value);
  properties.add("nth", Tree::map({{"type", Tree::string("integer")}, {"minimum", Tree::plain("1")}}));
  properties.spread = true;
  return {"match",
          "only frames with these header fields, of this size or flow; nth: only the n-th of them",
          [](const Tree& tree, FaultSpec& into) {
            for (const Tree::Entry& e : tree.as_map("a map of header fields, such as { bth.opcode: 0x0a }")) {
              if (e.key == "nth") {
                into.nth = static_cast<std::uint64_t>(integer(1, 1'000'000'000).read(e.value));
                continue;
              }
              const MatchTerm term{e.key, e.value.as_text("a number or an address")};
              if (const Parsed<void> good = check_match_term(term); !good) fail_at(e.place, tree.path, good.error());
              into.match.push_back(term);
            }
          },
          [](const FaultSpec& from) {
            Tree map = Tree::map();
            for (const MatchTerm& t : from.match) map.add(t.field, Tree::string(t.value));
            if (from.nth != 0) map.add("nth", Tree::plain(std::to_string(from.nth)));
            return map;
          },
          [](const FaultSpec& a, const FaultSpec& b) { return a.match == b.match && a.nth == b.nth; },
          Tree::map({{"type", Tree::string("object")},
                     {"properties", std::move(properties)},
                     {"additionalProperties", Tree::plain("false")}})};
}

Form<std::uint64_t> count() {
  const Form<int> form = integer(1, 1'000'000'000);
  return {[=](const Tree& tree) { return static_cast<std::uint64_t>(form.read(tree)); },
          [=](const std::uint64_t& n) { return n == 0 ? Tree{} : form.write(static_cast<int>(n)); }, form.schema};
}

Form<Ratio> share_below_one() {
  return checked<Ratio>(ratio(), [](const Ratio& r) -> std::optional<std::string> {
    if (r.numerator < r.denominator) return std::nullopt;
    return fmt::format("{} is not below 1; expected a share such as 1/4", format(r));
  });
}

Form<Ratio> chance_above_zero() {
  return checked<Ratio>(probability(), [](const Ratio& r) -> std::optional<std::string> {
    if (r.numerator > 0) return std::nullopt;
    return "is 0; expected more";
  });
}

// What two of the keys of one fault must agree on.
void check_fault_keys(const Tree& map, const FaultSpec& f) {
  const auto refuse = [&](const char* key, const std::string& why) { map.at_or_self(key).fail(why); };
  if (std::holds_alternative<std::monostate>(f.action))
    map.fail(
        "says where and when, and not what goes wrong; expected one of loss, down, delay, ... (topologies/"
        "explicit.yaml has them all)");
  const std::string what = word(f.action);
  const bool frames = acts_on_frames(f.action);
  const bool flaps = std::holds_alternative<fault::Flap>(f.action);
  if (f.at && f.after) refuse("after", "beside at; expected one of the two");
  if (f.when && (f.at || f.every)) refuse(f.at ? "at" : "every", "beside when, which says when; expected none");
  if (f.when && flaps) refuse("when", "beside flap, which says when by itself; expected none, or down with for");
  if (f.every && flaps) refuse("every", "beside flap, which says how long it is down and up; expected none");
  if (f.every && !f.lasts) refuse("every", "no for beside it; expected how long it lasts each time");
  if (f.every && *f.lasts >= *f.every)
    refuse("for", fmt::format("{} is not below every ({}); expected an end before it begins again", format(*f.lasts),
                              format(*f.every)));
  if (!frames && f.count != 0 && !f.every && !flaps && !f.when)
    refuse("count", fmt::format("{} happens once; expected every beside it", what));
  if (!frames && (!f.match.empty() || f.nth != 0))
    refuse("match", fmt::format("{} is not about frames that pass; expected none", what));
  if (f.probability && std::holds_alternative<fault::Loss>(f.action))
    refuse("probability", "beside loss, which is one; expected one of the two");
}

void check_burst_loss(const Tree& map, const fault::BurstLoss& b) {
  if (b.in_good.numerator == 0 && b.in_bad.numerator == 0)
    map.at_or_self("in-bad").fail("nothing is lost in either state; expected more than 0 in one of them");
}

void check_wrong_ecn(const Tree& map, const fault::EcnThresholds& e) {
  if (e.kmin > e.kmax)
    map.at_or_self("kmin").fail(
        fmt::format("{} is above kmax ({}); expected kmin <= kmax", format(e.kmin), format(e.kmax)));
}

void check_skew(const Tree& map, const fault::Skew& s) {
  const bool drifts = s.fast.numerator != 0 || s.slow.numerator != 0;
  if (s.ahead > Duration{} && s.behind > Duration{})
    map.fail("expected how far its clock is ahead or behind, one of the two");
  if (s.fast.numerator != 0 && s.slow.numerator != 0)
    map.fail("expected how much faster or slower its clock runs, one of the two");
  if (!drifts && s.ahead == Duration{} && s.behind == Duration{})
    map.fail("expected how far its clock is ahead or behind, or how much faster or slower it runs");
}

}  // namespace

const Table<fault::Flap>& flap_keys() {
  static const Table<fault::Flap> table{
      "flap",
      "A link that goes down and up in turn",
      {key("down", &fault::Flap::down, duration(Duration{1}, kAnyTime), "how long it is down").require(),
       key("up", &fault::Flap::up, duration(Duration{1}, kAnyTime), "how long it is up").require()}};
  return table;
}

const Table<fault::Delay>& delay_keys() {
  static const Table<fault::Delay> table{
      "delay",
      "A longer way",
      {key("time", &fault::Delay::time, duration({}, kLongestDelay), "how much longer").require(),
       key("jitter", &fault::Delay::jitter, duration({}, kLongestDelay), "up to so much more, drawn evenly")}};
  return table;
}

const Table<fault::BurstLoss>& burst_loss_keys() {
  static const Table<fault::BurstLoss> table{
      "burst-loss",
      "Loss in bursts: Gilbert and Elliott's chain of a good and a bad state, one step per frame",
      {key("good-to-bad", &fault::BurstLoss::good_to_bad, chance_above_zero(), "probability p").require(),
       key("bad-to-good", &fault::BurstLoss::bad_to_good, chance_above_zero(), "probability r").require(),
       key("in-good", &fault::BurstLoss::in_good, probability(), "probability of loss in the good state, 1 - k"),
       key("in-bad", &fault::BurstLoss::in_bad, probability(), "probability of loss in the bad state, 1 - h")},
      check_burst_loss};
  return table;
}

const Table<fault::Reorder>& reorder_keys() {
  static const Table<fault::Reorder> table{
      "reorder",
      "A frame that others overtake",
      {key("behind", &fault::Reorder::behind, integer(1, 100'000), "it comes behind so many later frames").require(),
       key("within", &fault::Reorder::within, duration(Duration{1}, kLongestDelay), "it is held for so long at most")
           .require()}};
  return table;
}

const Table<fault::TrimPackets>& fault_trim_keys() {
  static const Table<fault::TrimPackets> table{
      "fault-trim",
      "A packet cut to its headers, as by a switch without room for it",
      {key("keep", &fault::TrimPackets::keep, octets(96, 9216),
           "what is left of the frame, from the Ethernet header on, without FCS"),
       key("dscp", &fault::TrimPackets::dscp, integer(0, 63), "of what is left").require()}};
  return table;
}

const Table<fault::EcnThresholds>& wrong_ecn_keys() {
  static const Table<fault::EcnThresholds> table{
      "wrong-ecn",
      "ECN thresholds that were not meant",
      {key("kmin", &fault::EcnThresholds::kmin, size(Bytes{0}, Bytes{std::int64_t{1} << 40}),
           "depth up to which nothing is marked")
           .require(),
       key("kmax", &fault::EcnThresholds::kmax, size(Bytes{0}, Bytes{std::int64_t{1} << 40}),
           "depth above which everything is")
           .require(),
       key("pmax", &fault::EcnThresholds::pmax_ppm, ppm(), "probability of a mark at kmax")},
      check_wrong_ecn};
  return table;
}

const Table<fault::Skew>& skew_keys() {
  static const Table<fault::Skew> table{
      "skew",
      "A clock that is wrong",
      {key("ahead", &fault::Skew::ahead, duration({}, kAnyTime), "it is ahead of the others"),
       key("behind", &fault::Skew::behind, duration({}, kAnyTime), "it is behind the others"),
       key("fast", &fault::Skew::fast, probability(), "it gains this share of the time that goes by: 0.01% is 100 ppm"),
       key("slow", &fault::Skew::slow, probability(), "it loses this share of the time that goes by")},
      check_skew};
  return table;
}

const Table<FaultSpec>& fault_keys() {
  static const std::string kPlace = "^(rail [1-8]|[A-Za-z0-9_*?-]+(:[1-9][0-9]{0,3})?(/[0-7])?)( in| out)?$";
  static const std::string kState = "^queue [A-Za-z0-9_-]+:[1-9][0-9]{0,3}/[0-7] (depth|paused) > .+$";
  static const Table<FaultSpec> table{
      "fault",
      "Something that goes wrong: one thing, somewhere, at some time",
      {key("name", &FaultSpec::name, name_form(),
           "how reports and the log call it; without one, what it is and a number")
           .show()
           .without_default(),
       key("on", &FaultSpec::on, one_or_list_of(text_form<FaultPlace>("a place", parse_fault_place, kPlace)),
           "where: leaf1, spine*, leaf1:3 (also the link there), leaf1:3 out (that direction), leaf1:3/5 (class 5 "
           "there), rail 2")
           .require(),
       key("at", &FaultSpec::at, duration({}, kAnyTime), "when it begins, since the run began"),
       key("after", &FaultSpec::after, duration({}, kAnyTime),
           "when it begins, since it was added or `when` came true"),
       key("every", &FaultSpec::every, duration(Duration{1}, kAnyTime), "it begins again and again, so far apart"),
       key("for", &FaultSpec::lasts, duration(Duration{1}, kAnyTime), "how long it lasts; without, to the end"),
       key("count", &FaultSpec::count, count(), "with every, flap or when: how often; else how many frames it touches")
           .without_default(),
       key("probability", &FaultSpec::probability, probability(),
           "of each frame that is meant; of faults that are not about frames, each time"),
       match(),
       key("when", &FaultSpec::when, text_form<FaultTrigger>("a state", parse_fault_trigger, kState),
           "it begins when a queue is deeper, or has been paused for longer, than this"),
       action("down", so<fault::Down>(), "of a link: no carrier at either end"),
       action("flap", map_of(flap_keys()), "of a link: down and up in turn"),
       action("rate", only(&fault::Rate::share, share_below_one()), "of a link: only this share of its rate"),
       action("delay", only_or_map(&fault::Delay::time, duration({}, kLongestDelay), delay_keys()),
              "of a link: frames take longer; all of them in order, or only those that are meant"),
       loss(),
       action("bit-errors", only(&fault::BitErrorRate::rate, chance_above_zero()),
              "of a link: bit error rate; the next MAC drops what is hit"),
       action("corrupt", so<fault::Corrupt>(), "of a link: payload is wrong and the FCS right; an ICRC finds it"),
       action("duplicate", so<fault::Duplicate>(), "of a link: frames arrive twice"),
       action("drop", so<fault::Drop>(), "of a link: frames are lost"),
       action("mark", so<fault::Mark>(), "of a link: ECN-capable packets get CE"),
       action("lose-pause", so<fault::LosePause>(), "of a link: PFC frames and messages about credits (cbfc) are lost"),
       action("reorder", map_of(reorder_keys()), "of a link: frames come behind later ones"),
       action("truncate", only(&fault::Truncate::octets, octets(1, 9216)),
              "of a link: frames are cut to this size, with FCS, and the next MAC drops them"),
       action("trim", map_of(fault_trim_keys()), "of a link: IP packets are cut to their headers"),
       action("pfc-storm", only(&fault::PfcStorm::classes, classes()),
              "of a port: it pauses its peer's classes without a gap, whatever its buffers say"),
       action("ignore-pause", so<fault::IgnorePause>(), "of a port: it sends on when it is paused"),
       action("mtu", only(&fault::Mtu::octets, integer(576, 9216)),
              "of a port: it takes and sends no longer IP packets"),
       action("dscp-map", dscp_map(), "of a switch or its port: DSCPs put into other classes"),
       action("ecn", map_of(wrong_ecn_keys()), "of a switch, port or queue: other marking thresholds"),
       action("buffer", only(&fault::BufferTaken::size, size(Bytes{1})), "of a switch: so much less shared memory"),
       action("crash", so<fault::Crash>(),
              "of a switch: all links down and all frames lost, until it has booted (for)"),
       action("stop-receiving", so<fault::StopReceiving>(), "of a host or NIC: it takes nothing out of its buffer"),
       action("receive", only(&fault::SlowReceiver::rate, rate(BitRate{1'000'000})),
              "of a built-in host or its NIC: it takes frames at this rate"),
       action("straggle", only(&fault::Straggle::share, share_below_one()),
              "of a built-in host or its NIC: it sends at this share of the link's rate at most"),
       action("skew", map_of(skew_keys()), "of a built-in host: its clock, and so its time stamps, are wrong")},
      check_fault_keys};
  return table;
}

}  // namespace railyard::spec
