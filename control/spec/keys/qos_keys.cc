// The keys of a QoS profile: how frames are sorted into classes and what each class gets.
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

// A map of small numbers: { 26: 3, 48: 6 } over the array of all.
template <std::size_t size>
Key<QosProfile> class_map(std::string name, std::array<int, size> QosProfile::*member, std::string what,
                          std::string description) {
  constexpr int kMost = static_cast<int>(size) - 1;
  Tree schema = Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                           {"additionalProperties", integer(0, 7).schema}});
  return {std::move(name),
          std::move(description),
          [=, to_class = integer(0, 7)](const Tree& tree, QosProfile& into) {
            for (const Tree::Entry& e : tree.as_map(fmt::format("a map of {} to classes, such as {{ 3: 3 }}", what))) {
              const Parsed<std::int64_t> from = parse_integer(e.key, 0, kMost);
              if (!from) fail_at(e.place, tree.path, fmt::format("{}: {}", what, from.error()));
              (into.*member)[static_cast<std::size_t>(*from)] = to_class.read(e.value);
            }
          },
          [=](const QosProfile& from) {
            const QosProfile defaults;
            Tree map = Tree::map();
            for (std::size_t i = 0; i < size; ++i)
              if ((from.*member)[i] != (defaults.*member)[i])
                map.add(std::to_string(i), Tree::plain(std::to_string((from.*member)[i])));
            return map;
          },
          [=](const QosProfile& a, const QosProfile& b) { return a.*member == b.*member; },
          std::move(schema)};
}

// That what is trimmed goes somewhere else, where it may be dropped.
void check_trim(const Tree::Entry& of, const QosProfile& qos) {
  const auto number = static_cast<std::size_t>(*parse_integer(of.key, 0, 7));
  const std::optional<Trim>& trim = qos.classes[number].trim;
  if (!trim) return;
  const Tree& to = of.value.at_or_self("trim").at_or_self("class");
  if (static_cast<std::size_t>(trim->to_class) == number)
    to.fail(fmt::format("{} is the class whose queue is full; expected another class", number));
  if (qos.classes[static_cast<std::size_t>(trim->to_class)].lossless)
    to.fail(fmt::format("class {} is lossless; expected a lossy class for trimmed packets", trim->to_class));
}

Key<QosProfile> classes() {
  Tree schema = Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                           {"patternProperties", Tree::map({{"^[0-7]$", reference(class_keys().name())}})},
                           {"additionalProperties", Tree::plain("false")}});
  return {"classes",
          "classes by number, 0..7; a class without an entry is lossy and has weight 1",
          [](const Tree& tree, QosProfile& into) {
            for (const Tree::Entry& e : tree.as_map("a map of classes by number, 0..7")) {
              const Parsed<std::int64_t> number = parse_integer(e.key, 0, 7);
              if (!number) fail_at(e.place, tree.path, fmt::format("class: {}", number.error()));
              class_keys().read(e.value, into.classes[static_cast<std::size_t>(*number)]);
            }
            for (const Tree::Entry& e : tree.as_map()) check_trim(e, into);
          },
          [](const QosProfile& from) {
            Tree map = Tree::map();
            map.spread = true;
            for (std::size_t i = 0; i < from.classes.size(); ++i)
              if (WithDefaults::in_force() || from.classes[i] != TrafficClass{}) map.add(std::to_string(i), class_keys().write(from.classes[i]));
            return map;
          },
          [](const QosProfile& a, const QosProfile& b) { return a.classes == b.classes; },
          std::move(schema)};
}

// Of automatic thresholds, and where only one is said.
constexpr std::int64_t kKmaxPerKmin = 4;

// off, auto, or a map: without kmin and kmax the thresholds are automatic too.
Form<Ecn> ecn_form() {
  return {[](const Tree& tree) {
            Ecn ecn;
            if (tree.kind == Tree::Kind::kMap) {
              ecn.enabled = true;
              ecn_keys().read(tree, ecn);
              const bool kmin = tree.find("kmin") != nullptr, kmax = tree.find("kmax") != nullptr;
              ecn.auto_thresholds = !kmin && !kmax;
              if (kmin && !kmax) ecn.kmax = Bytes{ecn.kmin.n * kKmaxPerKmin};
              if (kmax && !kmin) ecn.kmin = Bytes{ecn.kmax.n / kKmaxPerKmin};
            } else if (tree.kind == Tree::Kind::kScalar && tree.text == "auto") {
              ecn.enabled = ecn.auto_thresholds = true;
            } else if (tree.kind != Tree::Kind::kScalar || tree.text != "off") {
              tree.fail(fmt::format("found {}; expected off, auto or a map such as {{ kmin: 400KB, kmax: 1600KB }}",
                                    tree.described()));
            }
            return ecn;
          },
          [](const Ecn& ecn) {
            if (!ecn.enabled) return Tree::plain("off");
            Tree map = ecn_keys().write(ecn);
            return map.entries.empty() ? Tree::plain("auto") : map;
          },
          any_of_schemas({choice_schema({"off", "auto"}), reference(ecn_keys().name())})};
}

// kmin and kmax are said unless the thresholds are automatic.
Key<Ecn> threshold(std::string name, Bytes Ecn::*member, std::string description) {
  Key<Ecn> made = key(std::move(name), member, size(Bytes{0}, Bytes{std::int64_t{1} << 40}), std::move(description));
  made.write = [form = size(), member](const Ecn& ecn) {
    return ecn.auto_thresholds ? Tree{} : form.write(ecn.*member);
  };
  return std::move(made).show().without_default();
}

Key<Ecn> pmax() {
  Key<Ecn> made = key("pmax", &Ecn::pmax_ppm, ppm(), "mark probability at kmax");
  made.write = [form = ppm()](const Ecn& ecn) {
    const bool usual = ecn.auto_thresholds && ecn.pmax_ppm == Ecn{}.pmax_ppm;
    return usual && !WithDefaults::in_force() ? Tree{} : form.write(ecn.pmax_ppm);
  };
  return std::move(made).show();
}

constexpr Bytes kDeepest{std::int64_t{1} << 40};

// A member of the ramp of all packets, which is there as soon as one of them is said.
template <class M>
Key<Wred> ramp_key(std::string name, M WredRamp::*member, Form<M> form, std::string description) {
  return {std::move(name),
          std::move(description),
          [=](const Tree& tree, Wred& into) {
            if (!into.all) into.all.emplace();
            (*into.all).*member = form.read(tree);
          },
          [=](const Wred& from) { return from.all ? form.write((*from.all).*member) : Tree{}; },
          [](const Wred& a, const Wred& b) { return a.all == b.all; },
          form.schema};
}

void check_ramp(const Tree& map, const WredRamp& ramp) {
  if (ramp.min > ramp.max)
    map.at_or_self("min").fail(
        fmt::format("{} is above max ({}); expected min <= max", format(ramp.min), format(ramp.max)));
}

void check_wred(const Tree& map, const Wred& wred) {
  if (!wred.all) {
    if (!wred.any()) map.fail("no thresholds; expected min and max, or a map under ect or not-ect, or drop: off");
    return;
  }
  for (const char* key : {"min", "max"})
    if (map.find(key) == nullptr) map.fail(fmt::format("key '{}' is missing; expected both min and max", key));
  check_ramp(map, *wred.all);
}

// off, or a map.
Form<Wred> wred_form() {
  return {[](const Tree& tree) {
            Wred wred;
            if (tree.kind == Tree::Kind::kMap)
              wred_keys().read(tree, wred);
            else if (tree.kind != Tree::Kind::kScalar || tree.text != "off")
              tree.fail(fmt::format("found {}; expected off or a map such as {{ min: 800KB, max: 1600KB }}",
                                    tree.described()));
            return wred;
          },
          [](const Wred& wred) { return wred.any() ? wred_keys().write(wred) : Tree::plain("off"); },
          any_of_schemas({choice_schema({"off"}), reference(wred_keys().name())})};
}

void check_ecn(const Tree& map, const Ecn& ecn) {
  if (map.find("kmin") == nullptr || map.find("kmax") == nullptr) return;
  if (ecn.kmin > ecn.kmax)
    map.at_or_self("kmin").fail(
        fmt::format("{} is above kmax ({}); expected kmin <= kmax", format(ecn.kmin), format(ecn.kmax)));
}

// off, on, or a map.
Form<std::optional<CbfcSpec>> cbfc_form() {
  return {
      [](const Tree& tree) -> std::optional<CbfcSpec> {
        CbfcSpec cbfc;
        if (tree.kind == Tree::Kind::kMap)
          cbfc_keys().read(tree, cbfc);
        else if (tree.kind == Tree::Kind::kScalar && tree.text == "off")
          return {};
        else if (tree.kind != Tree::Kind::kScalar || tree.text != "on")
          tree.fail(fmt::format("found {}; expected off, on or a map such as {{ credits: 64KB }}", tree.described()));
        return cbfc;
      },
      [](const std::optional<CbfcSpec>& cbfc) {
        if (!cbfc) return Tree::plain("off");
        return *cbfc == CbfcSpec{} ? Tree::plain("on") : cbfc_keys().write(*cbfc);
      },
      any_of_schemas({choice_schema({"off", "on"}), reference(cbfc_keys().name())})};
}

// `lossless: false` is worth saying where keys rest that are for lossless classes.
Key<TrafficClass> lossless() {
  Key<TrafficClass> made =
      key("lossless", &TrafficClass::lossless, boolean(), "pause the sender (PFC, or cbfc) instead of dropping");
  made.same = [](const TrafficClass& a, const TrafficClass& b) {
    return a.lossless == b.lossless && a.headroom == b.headroom && a.accept_loss == b.accept_loss && a.accept_deadlock == b.accept_deadlock &&
           a.xon_offset == b.xon_offset && a.cbfc == b.cbfc && a.by_rate == b.by_rate;
  };
  return made;
}

// { 100Gbps: { xoff: 200KB }, 400Gbps: { xoff: 800KB } }
Key<TrafficClass> by_rate() {
  Tree schema = Tree::map({{"type", Tree::list({Tree::string("object"), Tree::string("null")})},
                           {"additionalProperties", reference(class_override_keys().name())}});
  return {"by-rate",
          "thresholds and headroom at ports with a given link rate; other ports use those of the class",
          [](const Tree& tree, TrafficClass& into) {
            into.by_rate.clear();
            for (const Tree::Entry& e : tree.as_map("a map by rate, such as { 400Gbps: { xoff: 800KB } }")) {
              const Parsed<BitRate> rate = parse_rate(e.key);
              if (!rate || rate->bps <= 0)
                fail_at(e.place, tree.path, "rate: " + (rate ? "0 is no rate of a link" : rate.error()));
              if (into.by_rate.contains(*rate))
                fail_at(e.place, tree.path, fmt::format("rate {} is given twice", e.key));
              class_override_keys().read(e.value, into.by_rate[*rate]);
            }
          },
          [](const TrafficClass& c) {
            if (c.by_rate.empty()) return Tree{};
            Tree map = Tree::map();
            for (const auto& [rate, over] : c.by_rate) map.add(format(rate), class_override_keys().write(over));
            return map;
          },
          [](const TrafficClass& a, const TrafficClass& b) { return a.by_rate == b.by_rate; },
          std::move(schema)};
}

void check_override(const Tree& map, const ClassOverride& over) {
  if (over.xoff && over.alpha_exponent)
    map.at_or_self("alpha").fail("no effect with xoff, a fixed threshold; expected one of the two");
}

void check_class(const Tree& map, const TrafficClass& c) {
  const auto refuse = [&](const char* key, const std::string& why) {
    if (const Tree* value = map.find(key)) value->fail(why);
  };
  if (c.lossless) {
    if (c.trim) map.at_or_self("trim").fail("a lossless class never trims; expected one of the two");
    refuse("queue-alpha", "does not apply to a lossless class: its queue is not limited, its ingress is paused");
    if (c.queue_limit)
      refuse("queue-limit", "does not apply to a lossless class: its queue is not limited, its ingress is paused");
    if (c.ecn.drop_not_ect) map.at_or_self("ecn").at_or_self("drop-not-ect").fail("does not apply to a lossless class");
    if (c.drop.any()) map.at_or_self("drop").fail("does not apply to a lossless class; expected one of the two");
    if (c.xoff && c.xon_offset >= *c.xoff)
      map.at_or_self("xon-offset")
          .fail(fmt::format("xon-offset ({}) is not below xoff ({}): the sender would never resume",
                            format(c.xon_offset), format(*c.xoff)));
  } else if (map.find("lossless") == nullptr) {
    // Where it says `lossless: false` beside them, they rest until it is turned on.
    constexpr const char* kLossy = "does not apply to a lossy class; expected lossless: true with it";
    if (c.headroom) refuse("headroom", kLossy);
    if (c.accept_loss) refuse("accept-loss", kLossy);
    if (c.accept_deadlock) refuse("accept-deadlock", kLossy);
    if (c.cbfc) refuse("cbfc", kLossy);
    for (const auto& [rate, over] : c.by_rate)
      if (over.headroom || over.xon_offset) refuse("by-rate", kLossy);
    refuse("xon-offset", kLossy);
  }
  if (c.lossless && c.cbfc && c.pfc != PfcMode::kAuto && c.pfc != PfcMode::kOff)
    refuse("pfc", "found with cbfc, whose senders are never paused; expected one of the two");
  if (c.xoff) refuse("alpha", "has no effect with xoff, a fixed threshold; expected one of the two");
  if (c.queue_limit) refuse("queue-alpha", "has no effect with queue-limit, a fixed limit; expected one of the two");
  if (c.strict) refuse("weight", "does not apply to a strict class; expected one of the two");
}

}  // namespace

const Table<Ecn>& ecn_keys() {
  static const Table<Ecn> table{
      "ecn",
      "ECN marking of a queue: no marks up to kmin, probability pmax at kmax, all ECT frames marked above (RFC 3168; "
      "the law of DCQCN)",
      {threshold("kmin", &Ecn::kmin,
                 "queue depth up to which no frame is marked; default a quarter of kmax, or 4 KB per Gb/s of the port"),
       threshold("kmax", &Ecn::kmax,
                 "queue depth above which every ECT frame is marked; default 4 x kmin, or 16 KB per Gb/s of "
                 "the port"),
       pmax(),
       key("mark", &Ecn::at_dequeue, choice<bool>({{"enqueue", false}, {"dequeue", true}}),
           "queue depth used: at enqueue, or remaining at dequeue"),
       key("drop-not-ect", &Ecn::drop_not_ect, boolean(),
           "lossy classes: drop Not-ECT frames with the probability with which ECT frames are marked"),
       key("last-hop", &Ecn::last_hop, either("auto", std::optional<bool>{}, maybe(boolean())),
           "whether ports towards hosts mark. auto: not towards hosts whose Ultra Ethernet NICs grant credit (congestion: "
           "rccc or both), if the class carries nothing but Ultra Ethernet")},
      check_ecn};
  return table;
}

const Table<WredRamp>& drop_ramp_keys() {
  static const Table<WredRamp> table{
      "drop-ramp",
      "Early drops whose probability rises with the queue depth",
      {key("min", &WredRamp::min, size(Bytes{0}, kDeepest), "queue depth up to which no packet is dropped")
           .require(),
       key("max", &WredRamp::max, size(Bytes{0}, kDeepest), "depth above which everything is dropped").require(),
       key("probability", &WredRamp::probability_ppm, ppm(), "drop probability at max").show()},
      check_ramp};
  return table;
}

const Table<Wred>& wred_keys() {
  static const Table<Wred> table{
      "drop",
      "Early drops of a lossy class (WRED), in addition to marking: one ramp for all packets, or one per ECN codepoint",
      {ramp_key("min", &WredRamp::min, size(Bytes{0}, kDeepest),
                "queue depth up to which no packet is dropped"),
       ramp_key("max", &WredRamp::max, size(Bytes{0}, kDeepest), "depth above which everything is dropped"),
       ramp_key("probability", &WredRamp::probability_ppm, ppm(), "drop probability at max; default 10%"),
       key("ect", &Wred::ect, map_of(drop_ramp_keys()), "separate ramp for ECN-capable packets"),
       key("not-ect", &Wred::not_ect, map_of(drop_ramp_keys()), "separate ramp for packets that are not ECN-capable")},
      check_wred};
  return table;
}

const Table<Trim>& trim_keys() {
  static const Table<Trim> table{
      "trim",
      "Packet trimming: a frame of a lossy class that does not fit into the buffer is cut instead of dropped",
      {key("keep", &Trim::keep, octets(96, 9238), "bytes that remain, counted from the Ethernet header, without FCS")
           .show(),
       key("dscp", &Trim::dscp, integer(0, 63), "DSCP of trimmed packets; it selects their class at later switches")
           .require(),
       key("class", &Trim::to_class, integer(0, 7), "class of trimmed packets at this port").require(),
       key("last-hop-dscp", &Trim::last_hop_dscp, maybe(integer(0, 63)),
           "DSCP of packets trimmed at ports that lead to a host (UET: DSCP_TRIMMED_LASTHOP); default: dscp"),
       key("which", &Trim::coin, choice<bool>({{"arriving", false}, {"coin", true}}),
           "frame that a full queue trims: the arriving one, or by coin flip the arriving or the last waiting one")}};
  return table;
}

const Table<CbfcSpec>& cbfc_keys() {
  static const Table<CbfcSpec> table{
      "cbfc",
      "Credit-based flow control (CBFC) of Ultra Ethernet: the sender tracks the free space of a class at the receiver",
      {key("credits", &CbfcSpec::credits, either("auto", std::optional<Bytes>{}, maybe(size(Bytes{1}))),
           "receive buffer of the class at each port, granted to the other end as credits; auto: the size that keeps "
           "the link busy"),
       key("update", &CbfcSpec::update, either("auto", std::optional<Bytes>{}, maybe(size(Bytes{1}))),
           "free space after which the receiver updates the sender's credits; auto: the longest frame of the link"),
       key("sync", &CbfcSpec::sync, duration(Duration{1'000'000}),
           "interval at which both ends compare their counters while not all credits are free; this restores credits "
           "that lost frames used")
           .show()}};
  return table;
}

Form<PfcMode> pfc_form() {
  return choice<PfcMode>({{"auto", PfcMode::kAuto},
                          {"on", PfcMode::kOn},
                          {"off", PfcMode::kOff},
                          {"rx", PfcMode::kRx},
                          {"tx", PfcMode::kTx}});
}

const Table<ClassOverride>& class_override_keys() {
  static const Table<ClassOverride> table{
      "class-override",
      "Class settings that differ at some ports; keys that are absent keep the value of the QoS profile",
      {key("pfc", &ClassOverride::pfc, pfc_form(),
           "PFC of the class at this port: on, off, rx (obeys pauses only) or tx (sends them only)"),
       key("alpha", &ClassOverride::alpha_exponent, power_of_two(), "alpha of the ingress group; also replaces xoff"),
       key("xoff", &ClassOverride::xoff, size(Bytes{1}), "fixed limit of the ingress group, instead of alpha"),
       key("xon-offset", &ClassOverride::xon_offset, size(),
           "lossless: XON is sent when the ingress group is this far below the XOFF threshold"),
       key("headroom", &ClassOverride::headroom, size(Bytes{1}), "lossless: buffer for frames that arrive after XOFF"),
       key("remap-to", &ClassOverride::remap_to, maybe(integer(0, 7)),
           "switches: class in which frames of this class leave by this port, such as the next one at the date line of a "
           "ring")},
      check_override};
  return table;
}

const Table<TrafficClass>& class_keys() {
  static const Table<TrafficClass> table{
      "class",
      "One traffic class, at every port of the switches that use the profile",
      {lossless(),
       key("pfc", &TrafficClass::pfc, pfc_form(),
           "PFC of the class: on, off, rx (obeys pauses only) or tx (sends them only); auto: on if it is lossless and "
           "has no cbfc"),
       key("cbfc", &TrafficClass::cbfc, cbfc_form(),
           "lossless: credit-based flow control of Ultra Ethernet instead of PFC, at both ends of a link; headroom and "
           "XOFF are unused"),
       key("alpha", &TrafficClass::alpha_exponent, power_of_two(),
           "the ingress group may use alpha x the free shared buffer; above that it pauses or drops"),
       key("xoff", &TrafficClass::xoff, size(Bytes{1}), "fixed limit of the ingress group, instead of alpha"),
       key("headroom", &TrafficClass::headroom, either("auto", std::optional<Bytes>{}, maybe(size(Bytes{1}))),
           "lossless: buffer per port for frames that arrive after XOFF; auto: computed from the link"),
       by_rate(),
       key("accept-loss", &TrafficClass::accept_loss, boolean(),
           "lossless: accept less headroom than computed, without an error"),
       key("accept-deadlock", &TrafficClass::accept_deadlock, boolean(),
           "lossless: accept that buffers can wait for each other in a circle; `railyard check` then warns"),
       key("reserved", &TrafficClass::reserved, size(), "buffer guaranteed to the ingress group, per port"),
       key("xon-offset", &TrafficClass::xon_offset, size(),
           "lossless: resume the sender when the ingress group is this far below the XOFF threshold"),
       key("queue-alpha", &TrafficClass::queue_alpha_exponent, power_of_two(),
           "lossy: the egress queue may use this x the free shared buffer"),
       key("queue-limit", &TrafficClass::queue_limit, maybe(size(Bytes{1})),
           "lossy: fixed limit of the egress queue, instead of queue-alpha; includes the frame in transmission"),
       key("queue-reserved", &TrafficClass::queue_reserved, size(), "buffer guaranteed to the egress queue, per port"),
       key("trim", &TrafficClass::trim, map_of(trim_keys()),
           "lossy: forward only the headers of frames that do not fit, in another class; default: drop these frames"),
       key("ecn", &TrafficClass::ecn, ecn_form(),
           "ECN marking; auto: thresholds by the port's rate, 4 and 16 KB per Gb/s"),
       key("drop", &TrafficClass::drop, wred_form(),
           "lossy: early drops (WRED) by queue depth, including ECN-capable packets; these packets are not trimmed"),
       key("strict", &TrafficClass::strict, boolean(),
           "strict priority: sent before all classes that are not strict; among strict classes the higher number "
           "first"),
       key("weight", &TrafficClass::weight, integer(1, 1000),
           "weight among the classes that are not strict (DWRR), by bytes"),
       key("path", &TrafficClass::path, path_form(),
           "path selection among equal-cost paths: a policy, or a map with its settings"),
       {"remap-to", "class in which frames of this class leave; default: the same class",
        [form = integer(0, 7)](const Tree& tree, TrafficClass& into) { into.remap_to = form.read(tree); },
        [](const TrafficClass& c) { return c.remap_to < 0 ? Tree{} : Tree::plain(std::to_string(c.remap_to)); },
        [](const TrafficClass& a, const TrafficClass& b) { return a.remap_to == b.remap_to; }, integer(0, 7).schema},
       key("min-frame-size", &TrafficClass::least_frame, octets(64, 9238),
           "shortest frame of the class, with FCS; rounding short frames to cells needs more headroom")
           .alias("least-frame")},
      check_class};
  return table;
}

const Table<QosProfile>& qos_keys() {
  static const Table<QosProfile> table{
      "qos-profile",
      "Classification of frames into eight classes, and the settings of each class",
      {key("trust", &QosProfile::trust, choice<Trust>({{"dscp", Trust::kDscp}, {"pcp", Trust::kPcp}}),
           "code point by which a port classifies frames")
           .show(),
       class_map("dscp", &QosProfile::dscp_to_class, "DSCP",
                 "class by DSCP (0..63); default: DSCP >> 3"),
       class_map("pcp", &QosProfile::pcp_to_class, "PCP",
                 "class by PCP (0..7); default: the number of the PCP"),
       key("default-class", &QosProfile::default_class, integer(0, 7), "class of frames without that code point"),
       classes()}};
  return table;
}

}  // namespace railyard::spec
