// What is known of one kind of fault, in one place. Keys and schema of the fabric file, checks, the reference in
// topologies/explicit.yaml, random labs and what these excuse all follow from it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/spec/draw.h"
#include "control/spec/keys/table.h"
#include "control/spec/reference.h"
#include "control/spec/spec.h"
#include "dataplane/base/drop_reason.h"

namespace railyard::spec {

// What a fault of this kind acts on.
enum class FaultScope {
  kLink,        // links of the places
  kPort,        // ports of switches and hosts
  kSwitch,      // whole switches
  kSwitchPort,  // ports of switches
  kQueue,       // classes of ports of switches
  kHost,        // whole hosts
  kNic,         // NICs of hosts
};

// What the random tester must know of a fault, beside the drops that it explains.
enum class FaultEffect {
  kLosesFrames,      // on the link
  kDuplicates,       // frames arrive more often than they were sent
  kReorders,         // frames of one flow and path overtake each other
  kBreaksLink,       // frames on the wire are lost with it, and pauses are forgotten
  kHindersPauses,    // pause frames are lost or late: their sender's headroom may overflow
  kRepeatsForLong,   // with LLR frames, and pause frames behind them, wait for more than one retry
  kLosesPauseState,  // an XOFF may be missing until it is refreshed
  kIgnoresPauses,    // of the port where it is
  kBunches,          // frames arrive closer together than they were sent
  kChangesClass,     // frames get into another class: a pause finds the wrong queue
  kMakesFcsWrong,    // of frames; the next MAC, or one behind switches that cut through, drops them
  kSlowsLink,
};

// A drop that is no mistake once the fault has acted.
struct ExplainedDrop {
  enum class Where { kPort, kDevice, kAnyHost };

  DropReason reason;
  Where where;  // the port or device where the fault is; or any host, however far away
};

// From what a fault is drawn.
struct FaultDraw {
  Draw& draw;
  std::int64_t nanoseconds;  // that the run takes
  std::vector<int> dscps;    // of its traffic
  std::vector<int> classes;  // that these are in
};

// Where a fault is said to be, for checks: `where` and `said` point into the file.
struct FaultAt {
  const Lab& lab;
  const FaultSpec& fault;
  const NodeSpec& node;
  const Tree& where;
  const Tree& said;
};

struct FaultKind {
  std::string name = {};  // in statistics: the key, unless two kinds share one
  std::string key = {};   // of the fabric file; reports and logs call it so
  std::string help = {};  // of the key, for editors; of kinds that share one, that of the first
  std::vector<std::string> old_keys = {};  // still read, with a warning
  FaultScope scope = FaultScope::kLink;

  // ---- Where and when it may be ----
  bool one_direction = false;      // of a link: " in" and " out" are allowed
  bool one_class = false;          // "/3" is allowed
  bool built_in_hosts = false;     // not of hosts with something attached, which have a speed and a clock of their own
  bool store_and_forward = false;  // not of links to switches that cut through, or to another daemon
  bool own_times = false;          // it says itself when it begins and ends: no `every` and `when`
  bool endless_work = false;       // a run does not end by itself while it acts
  bool own_chance = false;         // it says itself how likely it is
  std::function<void(const Tree& map, const FaultSpec& fault)> check = {};  // keys of the fault together
  std::function<void(const FaultAt& at)> check_node = {};                   // each node of its places

  // ---- The random tester ----
  std::function<std::string(FaultDraw& from)> draw = {};  // a value, as in the file
  std::vector<FaultEffect> effects = {};
  std::function<std::vector<FaultEffect>(const FaultSpec& fault)> more_effects = {};  // that depend on the values
  std::vector<ExplainedDrop> explains = {};

  // ---- Documentation ----
  std::vector<ReferenceLine> reference = {};

  // ---- Its value in the file; set by described() ----
  std::function<FaultAction(const Tree& value)> read = {};
  std::function<Tree(const FaultAction& action)> write = {};
  Tree schema = {};
  std::vector<Tree::Entry> definitions = {};                  // of the schema: the tables of its keys
  std::function<bool(const Tree& value)> is_meant_by = {};  // for kinds that share a key; nothing: any value is

  // ---- Set by fault_kinds() ----
  bool on_frames = false;  // it acts on frames that pass a link; else on the state of links and devices
};

// All kinds, in the order of FaultAction.
const std::vector<FaultKind>& fault_kinds();
// That of an action; not of std::monostate.
const FaultKind& fault_kind(const FaultAction& action);
bool has_effect(const FaultSpec& fault, FaultEffect effect);
// Whether it touches some of a link's frames only, at this place or at any: others may overtake these.
bool picks_frames(const FaultSpec& fault, const FaultPlace& place);
bool picks_frames(const FaultSpec& fault);
// The keys that say what goes wrong, in order: "down", "flap", ...; for completion.
std::vector<std::string> fault_words();

// The lines of topologies/explicit.yaml that name all kinds.
std::string fault_reference();

// ---- Forms of values -----------------------------------------------------------------------------------------------

// `kind` with the form of its value.
template <class A>
FaultKind described(FaultKind kind, Form<A> form) {
  if (kind.name.empty()) kind.name = kind.key;
  kind.read = [read = form.read](const Tree& tree) { return FaultAction(read(tree)); };
  kind.write = [write = form.write](const FaultAction& action) { return write(std::get<A>(action)); };
  kind.schema = form.schema;
  return kind;
}
// The same with a table of keys, which the schema defines.
template <class A>
FaultKind described(FaultKind kind, Form<A> form, const Table<A>& table) {
  kind.definitions.push_back({table.name(), table.schema()});
  return described(std::move(kind), std::move(form));
}

// `true`, for what has no parameters.
template <class A>
Form<A> so() {
  return {[](const Tree& tree) {
            if (tree.kind != Tree::Kind::kScalar || tree.text != "true")
              tree.fail("found " + tree.described() + "; expected true");
            return A{};
          },
          [](const A&) { return Tree::plain("true"); }, Tree::map({{"const", Tree::plain("true")}})};
}

// One value.
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

// A share below 1; a probability above 0.
Form<Ratio> share_below_one();
Form<Ratio> chance_above_zero();

// No fault delays a frame for longer.
inline constexpr Duration kLongestDelay{kPicosecondsPerSecond};

}  // namespace railyard::spec
