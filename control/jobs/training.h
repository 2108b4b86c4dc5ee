// A step of training as a job graph: what each rank computes, and with whom it communicates meanwhile.
//
// Every rank goes through the passes of its stage (pipeline.h), and in a pass through the segments of the chunk's layers, in
// each of which it computes attention and then the MLP. What it communicates, with b octets per activation, B sequences of s
// tokens per microbatch, context parallelism c, hidden width h:
//
//   tp   tensor: after each half an all-reduce of b B s/c h octets, in both passes (Shoeybi et al., "Megatron-LM", 2019,
//        section 3); with sequence parallelism an all-gather before and a reduce-scatter after it instead (Korthikanti et
//        al., MLSys '23, section 4.2.2)
//   cp   context: keys and values are gathered before attention, their gradients reduce-scattered (Llama Team, "The Llama 3
//        Herd of Models", 2024, section 3.3.2)
//   ep   experts: an all-to-all of the tokens before the MLP and one after it (GShard, Lepikhin et al., ICLR '21)
//   pp   pipeline: activations to the next stage, their gradients back; with sequence parallelism a tp-th of them
//   dp   data: gradients of each segment, as soon as the last microbatch has left it. None sharded: all-reduce. ZeRO-1 and -2
//        (Rajbhandari et al., SC '20): reduce-scatter, and all-gather of the parameters at the end. ZeRO-3 (FSDP): all-gather
//        of a segment's parameters before each pass of it, reduce-scatter of its gradients after each backward pass.
//        In groups of `shard` ranks (hybrid sharding; Zhao et al., "PyTorch FSDP", VLDB '23, section 3.2.2), then an
//        all-reduce of each shard among the groups
//
//   storage  what a rank reads is asked for by a small message. Samples are of the next step. A checkpoint holds the next step
//        up until all ranks have stored theirs; parts are equal among those who have the same parameters
//
// Messages of tp, cp and ep hold computing up; those of dp go on beside it, one after the other, where `overlap` is set.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/jobs/job_graph.h"
#include "control/jobs/model.h"
#include "control/jobs/parallelism.h"
#include "control/jobs/pipeline.h"
#include "control/jobs/storage.h"

namespace railyard::jobs {

enum class Sharding : std::uint8_t { kNone, kZero1, kZero2, kZero3 };

struct Training {
  Model model;
  Parallelism parallelism;
  Sharding sharding = Sharding::kNone;
  int shard = 0;  // ranks of the data axis that share a copy of what is sharded; 0: all
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  int chunks = 1;  // of layers at each stage (kInterleaved)
  int microbatches = 1;
  int microbatch_size = 1;  // sequences
  int sequence = 0;         // tokens; 0: the model's
  int segments = 0;         // of a chunk's layers; 0: one per layer
  bool sequence_parallel = false;
  bool overlap = true;
  int activation_octets = 2;
  int parameter_octets = 2;
  int gradient_octets = 2;
  double compression = 1;  // of gradients: so many times fewer octets
  double expert_skew = 0;  // Zipf exponent by which experts are chosen
  std::uint64_t seed = 0;  // of which are popular
  // Of a microbatch at a stage, if they are given; else from the model and `flops`, what a GPU does in a second.
  Duration forward{};
  Duration backward{};
  double flops = 0;
  Duration optimizer{};
  Storage storage{};

  int used_sequence() const noexcept { return sequence > 0 ? sequence : model.sequence; }
  int used_segments() const noexcept;
  bool operator==(const Training&) const = default;
};

// What is wrong with it: the key of the fabric file, and the text.
struct TrainingError {
  std::string_view key;
  std::string text;
};
std::expected<void, TrainingError> check(const Training& training);

// Of a training that check() lets pass. Labels are "F0" (forward of microbatch 0), "B0", and the kind of what is
// communicated: "tp", "cp", "ep", "pp", "dp", and those of storage.h. Ranks of storage are the last ones.
JobGraph make_graph(const Training& training);
// The same, with another course than that of its storage.
JobGraph make_graph(const Training& training, const Course& course);

// What a rank sends in a step for each reason, in octets: of collectives the least that any algorithm can do with (the bus
// bandwidth's), rounded as they are sent. By label, in the order tp, cp, ep, pp, dp.
struct Volumes {
  double tensor = 0, context = 0, expert = 0, pipeline = 0, data = 0;
};
// What goes in some steps only is none of it.
Volumes volumes(const JobGraph& graph, std::uint32_t rank);

// Of a whole checkpoint, over all ranks.
std::uint64_t checkpoint_octets(const JobGraph& graph) noexcept;

// Floating-point operations of a step at all ranks together, for MFU: forward and backward passes of the model.
double step_flops(const Training& training) noexcept;

}  // namespace railyard::jobs
