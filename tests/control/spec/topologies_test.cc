// The labs that we ship.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/spec/to_yaml.h"

namespace railyard::spec {
namespace {

const std::filesystem::path kTopologies = RAILYARD_SOURCE_DIR "/topologies";

TEST(Topologies, AllLoadAndAreNamedAsTheirFiles) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTopologies)) {
    const auto folder = entry.path().parent_path().filename();
    if (entry.path().extension() != ".yaml" || folder == "profiles" || folder == "servers" || folder == "models") continue;
    try {
      const Lab lab = load(entry.path());
      EXPECT_EQ(lab.name, entry.path().stem().string());
      EXPECT_FALSE(lab.description.empty()) << entry.path();
      for (const Defaults defaults : {Defaults::kLeftOut, Defaults::kWritten})
        EXPECT_TRUE(parse(to_yaml(lab, defaults), "shown") == lab) << entry.path();
      names.insert(lab.name);
    } catch (const SpecError& e) {
      ADD_FAILURE() << e.what();
    }
  }
  for (const char* name : {"explicit", "incast-8to1", "lossy-vs-lossless", "permutation-128", "rails-4x8"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// explicit.yaml says which of its values are no defaults; the congestion control is not among them.
TEST(Topologies, ExplicitShowsTheDefaultCongestionControl) {
  std::ifstream file(kTopologies / "explicit.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\n      congestion: auto "), std::string::npos);
  EXPECT_EQ(load(kTopologies / "explicit.yaml").hosts.at("default").roce.congestion,
            load(kTopologies / "explicit.yaml", {"hosts.default.roce.congestion=auto"}).hosts.at("default").roce.congestion);
}

// What the comments at the top of the files tell people to try.
TEST(Topologies, TheOverridesInTheirCommentsWork) {
  const auto loads = [](const char* file, const std::vector<std::string>& overrides) {
    try {
      load(kTopologies / file, overrides);
    } catch (const SpecError& e) {
      ADD_FAILURE() << e.what();
    }
  };
  loads("incast-8to1.yaml", {"qos.default.classes.3.ecn=off"});
  loads("incast-8to1.yaml", {"topology.spines=4"});
  loads("incast-8to1.yaml", {"traffic.incast.rate=10Gbps"});
  for (const char* file : {"incast-8to1.yaml", "explicit.yaml", "lossy-vs-lossless.yaml", "permutation-128.yaml"})
    loads(file, {"qos.default.classes.3.lossless=false"});
  loads("permutation-128.yaml", {"topology.fabric-link.rate=200Gbps"});
  loads("permutation-128.yaml", {"run.seed=2"});
  loads("permutation-128.yaml", {"qos.default.classes.3.path=spray"});
  loads("rails-4x8.yaml", {"topology.oversubscription=1"});
  loads("rails-4x8.yaml", {"traffic.across.rate=400Gbps"});
  loads("lossy-vs-lossless.yaml", {"qos.default.classes.1.queue-alpha=1/8"});
  loads("lossy-vs-lossless.yaml", {"qos.default.classes.3.ecn.kmin=50KB"});
  for (const char* file : {"ecmp-collisions.yaml", "spray.yaml", "adaptive-permutation.yaml", "adaptive-degraded.yaml"})
    for (const char* path : {"ecmp", "spray", "adaptive", "{ policy: spray, order: random }",
                             "{ policy: adaptive, per: flowlet, gap: 20us }"})
      loads((std::string("scenarios/") + file).c_str(), {std::string("qos.default.classes.3.path=") + path});
  for (const char* set : {"path=adaptive", "path.sample-every=10us", "path.average=1"})
    loads("scenarios/adaptive-sampled.yaml", {std::string("qos.default.classes.3.") + set});
  loads("scenarios/trimming.yaml", {"qos.default.classes.3.trim="});
  loads("scenarios/trimming.yaml", {"qos.default.classes.5.queue-alpha=1/256", "switches.default.buffer=1MiB"});
  loads("scenarios/incast-64.yaml", {"qos.default.classes.3.lossless=false"});
  loads("scenarios/incast-64.yaml", {"switches.default.buffer=1GiB"});
  loads("scenarios/ce-before-xoff.yaml", {"defaults.link.rate=400Gbps"});
  loads("scenarios/ce-before-xoff.yaml", {"qos.default.classes.3.alpha=", "qos.default.classes.3.xoff=100KB",
                                          "qos.default.classes.3.ecn={ kmin: 2MB, kmax: 4MB }"});
  loads("scenarios/ecn-ramp.yaml", {"qos.default.classes.3.ecn.mark=dequeue"});
  loads("scenarios/ecmp-resilience.yaml", {"switches.default.ecmp.resilient=false"});
  loads("scenarios/headroom.yaml", {"defaults.link.rate=400Gbps", "defaults.link.cable=300m"});
  loads("scenarios/headroom.yaml", {"qos.default.classes.3.headroom=40KB"});
  loads("scenarios/headroom.yaml", {"switches.default.pause-quanta=1000", "hosts.slow.pause-quanta=1000"});
  loads("scenarios/pfc-incast.yaml", {"qos.default.classes.3.lossless=false"});
  loads("scenarios/pfc-expiry.yaml", {"faults.no-xon.at=900us"});
  loads("scenarios/when-depth.yaml", {"faults.late.when=queue leaf1:2/3 depth > 100MiB"});
  loads("scenarios/int.yaml", {"run.int.flows=aside"});
  loads("scenarios/int.yaml", {"run.int.one-in=1", "run.int.packets=16384"});
  loads("scenarios/roce-incast.yaml", {"hosts.default.roce.congestion=none"});
  loads("scenarios/roce-incast.yaml", {"qos.default.classes.3.ecn={ kmin: 10MB, kmax: 20MB }",
                                       "switches.default.buffer=16MiB"});
  loads("scenarios/roce-incast.yaml", {"traffic.incast.operation=read"});
  for (const char* set : {"faults.bad.loss=1%", "hosts.default.roce.window=16", "traffic.t.operation=read",
                          "traffic.t.qps=4", "faults.bad.loss=100%"})
    loads("scenarios/roce-loss.yaml", {set});
  loads("scenarios/roce-mtu-mismatch.yaml", {"traffic.large.path-mtu=1024"});
  loads("scenarios/roce-pfc-misaligned.yaml", {"qos.default.classes.3={ lossless: true, alpha: 1/8 }"});
  loads("scenarios/roce-pfc-misaligned.yaml", {"traffic.incast.dscp=34"});
  loads("scenarios/roce-ecn-thresholds.yaml", {"qos.default.classes.3.ecn={ kmin: 400KB, kmax: 1600KB, pmax: 20% }"});
  loads("scenarios/roce-ecn-thresholds.yaml", {"qos.default.classes.3.ecn={ kmin: 1KB, kmax: 2KB, pmax: 100% }"});
  loads("scenarios/roce-mixed-priority.yaml", {"traffic.backup.dscp=0"});
  loads("scenarios/roce-incast-headroom.yaml", {"qos.default.classes.3.headroom=auto"});
  loads("scenarios/roce-one-drop.yaml", {"hosts.default.roce.ack-timeout=6"});
  loads("scenarios/roce-one-drop.yaml",
        {"faults.one.match.nth=300", "traffic.t.outstanding=8", "hosts.default.roce.loss-recovery=selective-repeat"});
  for (const char* set : {"faults.bad-cable.bit-errors=1e-12", "hosts.default.roce.loss-recovery=selective-repeat",
                          "traffic.t.path-mtu=1024"})
    loads("scenarios/roce-degraded-link.yaml", {set});
  for (const char* set : {"switches.spine.qos=default", "topology.spines=8", "collectives.all.algorithm=ring"})
    loads("scenarios/roce-pair-passes.yaml", {set});
  loads("scenarios/roce-pair-passes.yaml", {"hosts.default.roce.ack-timeout=4", "switches.spine.buffer=4MiB"});
  for (const char* set : {"switches.default.ecmp={ fields: [addresses, ports, destination-qp] }",
                          "qos.default.classes.3.path=adaptive", "qos.default.classes.3.path=spray",
                          "traffic.elephants.qps=1"})
    loads("scenarios/roce-polarisation.yaml", {set});
  for (const char* set : {"traffic.storage.dscp=34", "traffic.storage=", "qos.default.classes.4.weight=90",
                          "hosts.default.roce.congestion=dcqcn"})
    loads("scenarios/storage-burst.yaml", {set});
  loads("scenarios/fidelity-uet-fat-tree.yaml", {"hosts.default.uet.path-policy=mixed"});
  for (const char* what : {"from: h128", "pattern: incast, fan-in: 8"})
    loads("scenarios/fidelity-uet-fat-tree.yaml",
          {std::string("traffic=[{ name: t, transport: uet, path-mtu: 4086, message: 2MB, bytes: 2MB, to: h1, ") +
           what + " }]"});
  for (const char* set :
       {"hosts.default.uet.congestion=both",
        "topology={ preset: fat-tree, pods: 8, leaves-per-pod: 4, spines-per-pod: 4, hosts-per-leaf: 4, cores-per-spine: 1 }",
        "traffic=[{ name: incast, pattern: incast, fan-in: 32, to: h1, transport: uet, path-mtu: 4086, message: 2MB, "
        "bytes: 2MB }]"})
    loads("scenarios/fidelity-uet-credit.yaml", {set});
  for (const char* set : {"collectives.ring.algorithm=halving-doubling", "collectives.ring.service=rod"})
    loads("scenarios/fidelity-uet-ring.yaml", {set});
  loads("scenarios/fidelity-dcqcn.yaml", {"hosts.default.roce.congestion=none", "qos.default.classes.3.ecn=off"});
  loads("web-search.yaml", {"traffic.search.load=70%", "traffic.search.sizes=data-mining"});
  for (const char* set : {"hosts.default.roce.ack-timeout=10", "collectives.rail2.algorithm=tree",
                          "faults=[{ on: \"h3:2\", at: 500us, down: true }]"})
    loads("scenarios/allreduce-rails.yaml", {set});
  loads("scenarios/allreduce-rails.yaml", {"run.payload=real", "collectives.rail1.size=1MiB"});
  for (const char* set : {"collectives.flat.ranks=[h*]", "topology.spines=4"})
    loads("scenarios/hierarchical-vs-ring.yaml", {set});
  for (const char* set : {"collectives.overlapped.buckets=64", "collectives.overlapped.jitter=10%",
                          "defaults.link.rate=400Gbps"})
    loads("scenarios/training-step.yaml", {set});
  for (const char* set : {"collectives.direct.pxn=true", "hosts.default.scale-up.rate=400Gbps"})
    loads("scenarios/pxn.yaml", {set});
  loads("scenarios/pxn.yaml", {"hosts.default.scale-up=off", "collectives.pxn="});
  for (const char* set : {"collectives.straggling.stragglers=[]", "collectives.even.jitter=20%",
                          "collectives.straggling.stragglers=[{ ranks: [3, 5], factor: 2 }]"})
    loads("scenarios/slow-rank.yaml", {set});
  for (const char* set : {"jobs.across.parallelism={ tp: 2, dp: 2 }", "jobs.across.parallelism={ tp: 2, pp: 2 }",
                          "topology.host-link.rate=400Gbps", "hosts.default.scale-up.hosts=2"})
    loads("scenarios/tensor-across-hosts.yaml", {set});
  for (const char* set : {"jobs.train.checkpoint.every=2", "jobs.train.storage=[h6:1]", "jobs.train.failures=[]"})
    loads("scenarios/checkpoints.yaml", {set});
  for (const char* set : {"topology.host-link.rate=10Gbps", "jobs.chat.inference.rate=400/s", "jobs.chat.inference.segments=1",
                          "jobs.chat.inference.lengths=exponential"})
    loads("scenarios/inference-disaggregated.yaml", {set});
  for (const char* set : {"hosts.default.scale-up.hosts=1", "hosts.default.scale-up.hosts=9", "collectives.both.transport=uet"})
    loads("scenarios/nvl72.yaml", {set});
  for (const char* set : {"jobs.chat.dscp=26", "traffic.requests.dscp=26", "jobs.train.checkpoint.every=2"})
    loads("scenarios/mixed-cluster.yaml", {set});
  for (const char* set : {"jobs.pretrain.microbatches=16", "jobs.pretrain.sharding=zero-3", "topology.host-link.rate=100Gbps"})
    loads("scenarios/pretraining.yaml", {set});
  for (const char* set : {"jobs.tune.model=llama-1b", "jobs.tune.shard=0", "jobs.tune.compression=1", "topology.host-link.rate=100Gbps"})
    loads("scenarios/fine-tuning.yaml", {set});
  for (const char* set : {"traffic.queries.dscp=26", "jobs.answers.inference.prompt=2048", "jobs.answers.inference.rate=400/s"})
    loads("scenarios/inference-rag.yaml", {set});
  for (const char* set : {"collectives.switches.transport=uet", "switches.default.reduction.rate=400Gbps"})
    loads("scenarios/in-network-reduction.yaml", {set});
  loads("scenarios/in-network-reduction.yaml", {"run.payload=real", "collectives.switches.size=1MiB"});
  loads("scenarios/headroom-pool.yaml", {"traffic.incast.fan-in=16"});
  loads("scenarios/headroom-pool.yaml", {"switches.default.headroom-pool=0", "switches.default.buffer=16MiB"});
  for (const char* action : {"off", "{ action: forward, detect: 100us, restore: 100us, poll: 10us }"})
    loads("scenarios/pfc-watchdog.yaml", {std::string("switches.default.pfc-watchdog=") + action});
  loads("scenarios/pfc-watchdog.yaml", {"switches.default.pfc-watchdog.action=alert"});
  for (const char* file : {"scenarios/deadlock-ring.yaml", "scenarios/deadlock-down-up.yaml"})
    loads(file, {"switches.default.pfc-watchdog={ detect: 200us, restore: 200us, poll: 100us }"});
  loads("scenarios/deadlock-ring.yaml", {"traffic.round.rate=40Gbps"});
  loads("scenarios/deadlock-ring.yaml", {"qos.default.classes.3.lossless=false"});
  loads("scenarios/deadlock-down-up.yaml", {"traffic.far.to=[h2, h3, h4, h5, h1]"});
  loads("scenarios/torus-tornado.yaml", {"topology.date-lines=false"});
  for (const char* policy : {"ecmp", "valiant"})
    loads("scenarios/dragonfly-adversarial.yaml", {"qos.default.classes.3.path=" + std::string(policy)});
  loads("labs/rails-4x8.yaml",
        {"topology.host-link.rate=500Mbps", "qos.default.classes.0.ecn={ kmin: 20KB, kmax: 60KB }"});
}

TEST(Topologies, AreAsLargeAsTheirNamesSay) {
  EXPECT_EQ(load(kTopologies / "permutation-128.yaml").nodes.size(), 8u + 8 + 128);
  const Lab rails = load(kTopologies / "rails-4x8.yaml");
  EXPECT_EQ(rails.nodes.size(), 4u + 2 + 8);
  EXPECT_EQ(rails.find("h8")->nics.size(), 4u);
}

}  // namespace
}  // namespace railyard::spec
