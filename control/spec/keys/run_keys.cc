// The keys of a run: which clock, how long, on what.
#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {


Key<RunSpec> seed() {
  const Form<std::uint64_t> form = seed_form();
  return Key<RunSpec>{"seed",
                      "all chance follows from it: the same seed gives the same run",
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
          "wall clock: modelled time per time; 1/100 runs a hundred times slower than the clock on the wall",
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
      "In-band telemetry: each hop of a sampled packet notes its ports, its queue and when",
      {key("one-in", &IntSpec::one_in, integer(1, kMostOneIn),
           "of so many packets one is sampled, chosen by a hash of the seed, the flow and the packet")
           .show(),
       key("classes", &IntSpec::classes, one_or_list_of(integer(0, 7)),
           "only packets of these classes at the sending NIC; without it all"),
       key("flows", &IntSpec::flows, one_or_list_of(any_text()),
           "only packets of these flows, or of all flows of these traffics; without it all, and what attached hosts "
           "send"),
       key("packets", &IntSpec::packets, integer(1, kMostPackets),
           "sampled packets of one sender that may be on their way; beyond that they are counted only")}};
  return table;
}

const Table<BudgetSpec>& budget_keys() {
  static const Table<BudgetSpec> table{
      "budgets",
      "What the report holds the run against",
      {key("scale-out", &BudgetSpec::scale_out, duration(Duration{1}, kAnyTime),
           "latency of a packet between two NICs, from its first octet sent to its arrival; without it there is no "
           "latency verdict"),
       key("scale-up", &BudgetSpec::scale_up, duration(Duration{1}, kAnyTime),
           "latency of the first octet of a message between two ranks of a host with a scale-up network; without it "
           "there is no scale-up-latency verdict"),
       key("percentile", &BudgetSpec::percentile,
           choice<int>(
               {{"p50", 5000}, {"p90", 9000}, {"p99", 9900}, {"p99.9", 9990}, {"p99.99", 9999}, {"max", 10000}}),
           "which part of the packets, or messages, must be within it"),
       key("pause-share", &BudgetSpec::pause_share,
           either<std::optional<Ratio>>("off", std::nullopt, maybe(probability())),
           "largest share of the steady state for which a class of a port may be paused by PFC"),
       key("xoff-rate", &BudgetSpec::xoff_rate,
           either<std::optional<int>>("off", std::nullopt, maybe(integer(0, 1'000'000'000))),
           "most PFC frames with a pause time that a class of a port may send a second in the steady state"),
       key("warm-up", &BudgetSpec::warm_up, duration(Duration{1}, kAnyTime),
           "when the steady state begins, from the start of the run; without it after a tenth of run.duration, or after "
           "1 ms in runs without a duration")}};
  return table;
}

const Table<RunSpec>& run_keys() {
  static const Table<RunSpec> table{
      "run",
      "How the lab is run",
      {key("clock", &RunSpec::clock, choice<Clock>({{"virtual", Clock::kVirtual}, {"wall", Clock::kWall}}),
           "virtual: deterministic, as fast as the machine goes; wall: live, paced by the machine's clock")
           .show(),
       seed(),
       key("duration", &RunSpec::duration, duration(Duration{1}, kAnyTime),
           "when traffic stops; without it when all flows are done"),
       key("drain", &RunSpec::drain, duration({}, kAnyTime), "after that, how long frames may still be on their way")
           .show(),
       scale(),
       key("workers", &RunSpec::workers, integer(1, 64), "threads; the result is the same with any number").show(),
       key("payload", &RunSpec::payload, choice<Payload>({{"elided", Payload::kElided}, {"real", Payload::kReal}}),
           "elided: payload is only counted; real: it is written and verified octet by octet")
           .show(),
       key("memory", &RunSpec::memory, size(Bytes{1 << 20}, Bytes{std::int64_t{1} << 44}), "ceiling for packets")
           .show(),
       key("deadlock", &RunSpec::deadlock, either("off", Duration{}, duration(Duration{1'000'000}, kAnyTime)),
           "queues that PFC has wait for each other in a circle for so long are reported as a deadlock"),
       key("hugepages", &RunSpec::hugepages, boolean(), "use huge pages, which the machine must provide"),
       key("lag-limit", &RunSpec::lag_limit, duration(Duration{1}, kAnyTime),
           "wall clock: further behind than this, modelled time slips"),
       key("idle", &RunSpec::busy_poll, choice<bool>({{"adaptive", false}, {"busy", true}}),
           "wall clock: whether a worker that has nothing to do may sleep"),
       key("int", &RunSpec::in_band, map_of(int_keys()),
           "in-band telemetry: what every hop of a sampled packet knows of it, as records and in captures"),
       key("budgets", &RunSpec::budgets, map_of(budget_keys()), "what the report holds the run against"),
       key("gpu-hour", &RunSpec::gpu_hour, ratio(),
           "what an hour of a rank's GPU costs, e.g. 2.5, in whatever currency: the report says what idle ones cost"),
       key("agents", &RunSpec::agents, udp_endpoint(),
           "address and TCP port of this machine at which agents (railyard-agent) may join; without it they come by a "
           "UNIX socket only")}};
  return table;
}

}  // namespace railyard::spec
