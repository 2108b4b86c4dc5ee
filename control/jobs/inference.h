// Serving a model as a job graph, with prefill and decode on GPUs of their own (Zhong et al., "DistServe", OSDI '24; Patel
// et al., "Splitwise", ISCA '24).
//
// Ranks are the GPUs of all prefill replicas, then those of all decode replicas; each replica has the model, shared out among
// its tp ranks. A request goes through these stages:
//
//   arrival    at a time that is drawn (a Poisson process)
//   prefill    at the replica that will be free first, one request after the other. Computing is the prompt's operations, in
//              segments of layers; after each an all-reduce of 2 x layers x tokens x hidden activations (Shoeybi et al.,
//              "Megatron-LM", 2019, section 3)
//   KV cache   keys and values of each segment go to the decode ranks that have these heads, while the next one is computed
//   decode     at the replica with the fewest requests, in one of `batch` slots. All requests of a batch make a token in each
//              iteration, and who comes waits for the iteration under way (continuous batching: Yu et al., "Orca", OSDI '22)
//
// How long a part takes is a roofline: the longer of its operations at the GPU's rate and of the weights and KV caches that
// it reads at the rate of the GPU's memory.
//
// A graph says beforehand what ranks do. So replicas, slots, and who is in a batch with whom are planned as if messages took
// no time (plan()). In a run a request is as late as the network makes it, and its iterations take what was planned.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/jobs/job_graph.h"
#include "control/jobs/model.h"

namespace railyard::jobs {

// Replicas of the model that do one of the two phases.
struct Pool {
  int tp = 1;        // ranks of each, which share out all matrices and heads
  int replicas = 1;

  int ranks() const noexcept { return tp * replicas; }
  bool operator==(const Pool&) const = default;
};

enum class Lengths : std::uint8_t { kFixed, kExponential };

struct Inference {
  Model model;
  Pool prefill, decode;
  int requests = 100;
  double rate = 0;  // arrivals in a second; 0: all at once, at the start
  int prompt = 1024;  // tokens, in the mean
  int output = 128;
  Lengths lengths = Lengths::kFixed;
  int batch = 64;    // the most requests that a decode replica has in an iteration; kMostBatch at most
  int segments = 8;  // of the layers; 0, or more than there are: one per layer
  int weight_octets = 2;  // of a parameter
  int kv_octets = 2;      // of a number of the KV cache
  double flops = 0;   // that a GPU does in a second
  double memory = 0;  // octets that it reads of its memory in a second
  std::uint64_t seed = 0;  // of arrivals and lengths

  int ranks() const noexcept { return prefill.ranks() + decode.ranks(); }
  int used_segments() const noexcept { return segments > 0 && segments < model.layers ? segments : model.layers; }
  bool operator==(const Inference&) const = default;
};

// A slot is a stream of computing (Operation::stream).
inline constexpr int kMostBatch = 256;

// What is wrong with it: the key of `inference` in the fabric file, and the text.
struct InferenceError {
  std::string_view key;
  std::string text;
};
std::expected<void, InferenceError> check(const Inference& inference);

// ---- How long, how much --------------------------------------------------------------------------------------------

// Of a prompt's prefill, without messages: each segment on its own, and all of them.
Duration segment_time(const Inference& inference, int tokens, int segment);
Duration prefill_time(const Inference& inference, int tokens);
// Of an iteration of so many requests, which have so many tokens before it, all together.
Duration iteration_time(const Inference& inference, int requests, std::int64_t context);
// Of the KV cache of so many tokens, at all ranks of a replica together.
std::uint64_t kv_octets(const Inference& inference, int tokens) noexcept;

// ---- Requests ------------------------------------------------------------------------------------------------------

struct Request {
  Duration arrival{};  // since the start
  int prompt = 1;      // tokens
  int output = 1;
  int prefill = 0;     // replica
  int decode = 0;      // replica, and its slot there
  int slot = 0;
  // As planned. `wait`: from when its KV cache and its slot are there until the next iteration begins; then its first
  // iteration, and all others together.
  Duration prefilled{};  // since the start
  Duration wait{};
  Duration first{};
  Duration rest{};
};

// In the order of their arrival.
std::vector<Request> plan(const Inference& inference);

// Operations of a request at the ranks of its replicas, by number, so that its times can be looked up.
struct PrefillOperations {
  std::uint32_t rank = 0;
  std::uint32_t arrival = 0;  // done when it has arrived
  std::uint32_t first = 0;    // computing of its first segment
  std::uint32_t last = 0;     // done when it is prefilled
  std::uint32_t first_send = 0;  // of its KV cache
};
struct DecodeOperations {
  std::uint32_t rank = 0;
  std::uint32_t first_receive = 0, end_receives = 0;  // of its KV cache
  std::uint32_t first_token = 0;
  std::uint32_t last_token = 0;
};
struct RequestOperations {
  std::vector<PrefillOperations> prefill;
  std::vector<DecodeOperations> decode;
};

struct Serving {
  JobGraph graph;
  std::vector<Request> requests;
  std::vector<RequestOperations> operations;  // by request
};

// Of an inference that check() lets pass. Labels are "P0" (prefill of request 0), "D0" (its decode), "kv" and "tp" of what is
// communicated, and "wait".
Serving serve(const Inference& inference);

}  // namespace railyard::jobs
