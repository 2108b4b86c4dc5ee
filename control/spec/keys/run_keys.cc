// The keys of a run: which clock, how long, on what.
#include <algorithm>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

Key<RunSpec> seed() {
  const Form<std::uint64_t> form = seed_form();
  return Key<RunSpec>{"seed",
                      "seed of all random choices; the same seed gives the same run",
                      [form](const Tree& tree, RunSpec& into) { into.seed = Seed{form.read(tree)}; },
                      [form](const RunSpec& run) { return form.write(run.seed.value); },
                      [](const RunSpec& a, const RunSpec& b) { return a.seed.value == b.seed.value; },
                      form.schema}
      .show();
}

Key<RunSpec> scale() {
  const Form<Ratio> form = ratio();
  const auto of = [](const RunSpec& run) { return Ratio{run.scale_numerator, run.scale_denominator}; };
  return {"scale",
          "wall clock: simulated time per real time; 1/100 runs a hundred times slower than real time",
          [form](const Tree& tree, RunSpec& into) {
            const Ratio value = form.read(tree);
            into.scale_numerator = value.numerator;
            into.scale_denominator = value.denominator;
          },
          [=](const RunSpec& run) { return form.write(of(run)); },
          [=](const RunSpec& a, const RunSpec& b) { return of(a) == of(b); },
          form.schema};
}

}  // namespace

const Table<IntSpec>& int_keys() {
  constexpr int kMostOneIn = 1'000'000'000;
  constexpr int kMostPackets = 1 << 20;
  static const Table<IntSpec> table{
      "int",
      "In-band telemetry: each hop of a sampled packet records its ports, its queue and the time",
      {key("one-in", &IntSpec::one_in, integer(1, kMostOneIn),
           "sample one packet in N; a hash of the seed, the flow and the packet selects it")
           .show(),
       key("classes", &IntSpec::classes, one_or_list_of(integer(0, 7)),
           "sample only packets of these classes at the sending NIC; default: all"),
       key("flows", &IntSpec::flows, one_or_list_of(any_text()),
           "sample only packets of these flows, or of all flows of these traffics; default: all, including packets "
           "from attached hosts"),
       key("packets", &IntSpec::packets, integer(1, kMostPackets),
           "maximum sampled packets of one sender in flight; further ones are only counted")}};
  return table;
}

const Table<BudgetSpec>& budget_keys() {
  static const Table<BudgetSpec> table{
      "budgets",
      "Limits that the report checks the run against",
      {key("scale-out", &BudgetSpec::scale_out, duration(Duration{1}, kAnyTime),
           "latency budget of a packet between two NICs, from its first byte sent to its arrival; default: no latency "
           "verdict"),
       key("scale-up", &BudgetSpec::scale_up, duration(Duration{1}, kAnyTime),
           "latency budget of a message's first byte between two ranks of a scale-up network; default: no "
           "scale-up-latency verdict"),
       key("percentile", &BudgetSpec::percentile,
           choice<int>(
               {{"p50", 5000}, {"p90", 9000}, {"p99", 9900}, {"p99.9", 9990}, {"p99.99", 9999}, {"max", 10000}}),
           "percentile of packets or messages that must meet the budget"),
       key("pause-share", &BudgetSpec::pause_share,
           either<std::optional<Ratio>>("off", std::nullopt, maybe(probability())),
           "maximum fraction of the steady state for which PFC may pause a class of a port"),
       key("xoff-rate", &BudgetSpec::xoff_rate,
           either<std::optional<int>>("off", std::nullopt, maybe(integer(0, 1'000'000'000))),
           "maximum rate of PFC frames with a pause time that a class of a port may send in the steady state, per "
           "second"),
       key("warm-up", &BudgetSpec::warm_up, duration(Duration{1}, kAnyTime),
           "start of the steady state, from the start of the run; default: a tenth of run.duration, or 1 ms in runs "
           "without a duration, or whose traffic ends before that tenth")}};
  return table;
}

namespace {

// Also reads the words of `idle`, as the key was called before: adaptive, busy.
Form<Polling> polling() {
  Form<Polling> form = choice<Polling>(
      {{"latency", Polling::kLatency}, {"balanced", Polling::kBalanced}, {"idle", Polling::kIdle}});
  form.read = [read = form.read](const Tree& tree) {
    if (tree.kind == Tree::Kind::kScalar && tree.text == "busy") return Polling::kLatency;
    if (tree.kind == Tree::Kind::kScalar && tree.text == "adaptive") return Polling::kBalanced;
    return read(tree);
  };
  return form;
}

void check_run(const Tree& map, const RunSpec& run) {
  if (run.cores.empty()) return;
  if (run.cores.size() != static_cast<std::size_t>(run.workers))
    map.at_or_self("cores").fail(fmt::format("{} for {} worker{}; expected one each", run.cores.size(), run.workers, run.workers == 1 ? "" : "s"));
  std::vector<int> sorted = run.cores;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) map.at_or_self("cores").fail("found twice; expected each once");
}

}  // namespace

const Table<RunSpec>& run_keys() {
  static const Table<RunSpec> table{
      "run",
      "Run settings",
      {key("clock", &RunSpec::clock, choice<Clock>({{"virtual", Clock::kVirtual}, {"wall", Clock::kWall}}),
           "virtual: deterministic, as fast as the machine can run; wall: live, paced by the machine's clock")
           .show(),
       seed(),
       key("duration", &RunSpec::duration, duration(Duration{1}, kAnyTime),
           "time at which traffic stops; default: when all flows have completed"),
       key("drain", &RunSpec::drain, duration({}, kAnyTime), "maximum time for frames to leave the fabric after that")
           .show(),
       scale(),
       key("workers", &RunSpec::workers, integer(1, 64), "number of worker threads; it does not change the result")
           .show(),
       key("payload", &RunSpec::payload, choice<Payload>({{"elided", Payload::kElided}, {"real", Payload::kReal}}),
           "elided: payload is only counted; real: payload is written and verified byte by byte")
           .show(),
       key("memory", &RunSpec::memory, size(Bytes{1 << 20}, Bytes{std::int64_t{1} << 44}), "maximum memory for packets")
           .show(),
       key("deadlock", &RunSpec::deadlock, either("off", Duration{}, duration(Duration{1'000'000}, kAnyTime)),
           "report a deadlock when queues with PFC wait for each other in a cycle for this time"),
       key("hugepages", &RunSpec::hugepages, boolean(), "use huge pages; the machine must provide them"),
       key("lag-limit", &RunSpec::lag_limit, duration(Duration{1}, kAnyTime),
           "wall clock: maximum lag; beyond it, simulated time slips"),
       key("polling", &RunSpec::polling, polling(),
           "wall clock: what idle workers do. latency: never sleep; balanced: sleep after a while without traffic; idle: sleep "
           "at once")
           .alias("idle"),
       key("cores", &RunSpec::cores, list_of(integer(0, 1023)),
           "wall clock: processors that the workers are bound to, one each; `railyard exec` keeps programs off them. Default: "
           "any"),
       key("int", &RunSpec::in_band, map_of(int_keys()),
           "in-band telemetry: per-hop data of sampled packets, as records and in captures"),
       key("budgets", &RunSpec::budgets, map_of(budget_keys()), "limits that the report checks the run against"),
       key("gpu-hour", &RunSpec::gpu_hour, ratio(),
           "cost of a rank's GPU per hour, e.g. 2.5, in any currency; the report gives the cost of idle GPUs"),
       key("timeline", &RunSpec::timeline, boolean(),
           "record when each step of collectives and traces begins and ends: the report has a timeline per rank and the "
           "critical path. It takes up to 256 MiB of memory per collective"),
       key("agents", &RunSpec::agents, udp_endpoint(),
           "local address and TCP port where agents (railyard-agent) may join; default: a UNIX socket only")},
      check_run};
  return table;
}

}  // namespace railyard::spec
