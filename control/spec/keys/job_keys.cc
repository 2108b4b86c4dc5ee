// The keys of a job.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/jobs/gpu.h"
#include "control/spec/job_model.h"
#include "control/spec/keys/keys.h"
#include "control/spec/shipped.h"

namespace railyard::spec {
namespace {

using jobs::Axis;
using jobs::PipelineSchedule;
using jobs::Sharding;

// ---- The model -----------------------------------------------------------------------------------------------------

void check_model(const Tree& map, const jobs::Model& m) {
  if (m.hidden % m.heads != 0)
    map.at_or_self("heads").fail(fmt::format("{} does not divide hidden {}; expected a divisor", m.heads, m.hidden));
  if (m.kv_heads > 0 && m.heads % m.kv_heads != 0)
    map.at_or_self("kv-heads").fail(fmt::format("{} does not divide heads {}; expected a divisor", m.kv_heads, m.heads));
  if ((m.experts > 0) != (m.experts_per_token > 0) || m.experts_per_token > m.experts)
    map.at_or_self(m.experts > 0 ? "experts-per-token" : "experts")
        .fail(fmt::format("{} experts, {} per token; expected both or neither, and no more per token than there are", m.experts,
                          m.experts_per_token));
}

// A name or a file, or what it is.
Form<ModelSpec> model_form() {
  return {[](const Tree& tree) {
            if (tree.kind != Tree::Kind::kMap) {
              jobs::Model model = read_model(tree);
              const bool is_file = names_own_file(tree.text);
              return ModelSpec{is_file ? file_path(4095).read(tree) : tree.text, std::move(model)};
            }
            ModelSpec spec;
            model_keys().read(tree, spec.model);
            return spec;
          },
          [](const ModelSpec& spec) { return spec.said.empty() ? model_keys().write(spec.model) : Tree::string(spec.said); },
          any_of_schemas({Tree::map({{"type", Tree::string("string")}}), reference(model_keys().name())})};
}

// ---- Parallelism ---------------------------------------------------------------------------------------------------

// As the file says it.
struct Degrees {
  int tp = 1, cp = 1, pp = 1, ep = 1;
  std::optional<int> dp;
  std::vector<Axis> order{Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline};

  bool operator==(const Degrees&) const = default;
};

Form<Axis> axis_form() {
  std::vector<std::pair<std::string, Axis>> all;
  for (const Axis a : jobs::kAxes) all.emplace_back(jobs::name(a), a);
  return choice<Axis>(std::move(all));
}

void check_degrees(const Tree& map, const Degrees& d) {
  std::vector<Axis> sorted = d.order;
  std::ranges::sort(sorted);
  if (!std::ranges::equal(sorted, jobs::kAxes)) map.at_or_self("order").fail("expected tp, cp, dp and pp, each once");
}

constexpr int kMostRanks = 65536;

const Table<Degrees>& degree_keys() {
  static const Table<Degrees> table{
      "parallelism",
      "How a job is spread over its ranks",
      {key("tp", &Degrees::tp, integer(1, kMostRanks), "tensor parallelism: ranks that share out each layer's matrices").show(),
       key("cp", &Degrees::cp, integer(1, kMostRanks), "context parallelism: ranks that share out each sequence's tokens"),
       key("pp", &Degrees::pp, integer(1, kMostRanks), "pipeline parallelism: stages, each with part of the layers").show(),
       key("ep", &Degrees::ep, integer(1, kMostRanks),
           "expert parallelism: ranks that share out each layer's experts; they are neighbours among the dp ranks, so dp is a "
           "multiple"),
       key("dp", &Degrees::dp, integer(1, kMostRanks),
           "data parallelism: copies of the model. Default: as many as there are ranks for; with a number, further ranks are "
           "idle"),
       key("order", &Degrees::order, list_of(axis_form()),
           "axes from the one along which neighbouring ranks differ to the outermost, as in Megatron-LM")},
      check_degrees};
  return table;
}

// ---- Jobs ----------------------------------------------------------------------------------------------------------

// A key of a JobSpec, as one of what has it.
Key<CollectiveSpec> of_job(Key<JobSpec> k) {
  const auto job = [](const CollectiveSpec& c) { return c.job ? *c.job : JobSpec{}; };
  return {k.name,
          k.description,
          [read = k.read](const Tree& tree, CollectiveSpec& into) {
            if (!into.job) into.job.emplace();
            read(tree, *into.job);
          },
          [write = k.write, job](const CollectiveSpec& from) { return write(job(from)); },
          [same = k.same, job](const CollectiveSpec& a, const CollectiveSpec& b) { return same(job(a), job(b)); },
          k.schema,
          k.required,
          k.shown,
          k.has_default,
          k.old_names};
}

// Of a member of the training.
template <class M>
Key<CollectiveSpec> training_key(std::string name, M jobs::Training::*member, Form<M> form, std::string description) {
  return of_job({std::move(name), std::move(description),
                 [=](const Tree& value, JobSpec& into) { into.training.*member = form.read(value); },
                 [=](const JobSpec& from) { return form.write(from.training.*member); },
                 [=](const JobSpec& a, const JobSpec& b) { return a.training.*member == b.training.*member; }, form.schema});
}

// Of a member of its storage.
template <class M>
Key<CollectiveSpec> storage_key(std::string name, M jobs::Storage::*member, Form<M> form, std::string description) {
  return of_job({std::move(name), std::move(description),
                 [=](const Tree& value, JobSpec& into) { into.training.storage.*member = form.read(value); },
                 [=](const JobSpec& from) { return form.write(from.training.storage.*member); },
                 [=](const JobSpec& a, const JobSpec& b) { return a.training.storage.*member == b.training.storage.*member; },
                 form.schema});
}

Key<CollectiveSpec> checkpoint_key() {
  const Form<jobs::Storage> form = map_of(checkpoint_keys());
  // What the map does not say stays.
  const auto said = [](const jobs::Storage& s) {
    return jobs::Storage{.every = s.every, .parameter_octets = s.parameter_octets, .restore = s.restore};
  };
  return of_job({"checkpoint", "checkpoints that ranks write to storage at the end of steps, and read after failures",
                 [=](const Tree& value, JobSpec& into) {
                   const jobs::Storage read = form.read(value);
                   jobs::Storage& s = into.training.storage;
                   s.every = read.every;
                   s.parameter_octets = read.parameter_octets;
                   s.restore = read.restore;
                 },
                 [=](const JobSpec& from) { return form.write(said(from.training.storage)); },
                 [=](const JobSpec& a, const JobSpec& b) { return said(a.training.storage) == said(b.training.storage); }, form.schema});
}

Degrees degrees_of(const JobSpec& job) {
  const jobs::Parallelism& p = job.training.parallelism;
  return {p.degree(Axis::kTensor), p.degree(Axis::kContext), p.degree(Axis::kPipeline), p.expert, job.data,
          {p.order.begin(), p.order.end()}};
}

Key<CollectiveSpec> parallelism_key() {
  const Form<Degrees> form = map_of(degree_keys());
  return of_job({"parallelism", "how the job is spread over its ranks",
                 [=](const Tree& value, JobSpec& into) {
                   const Degrees d = form.read(value);
                   jobs::Parallelism& p = into.training.parallelism;
                   p.degrees = {d.tp, d.cp, d.dp.value_or(1), d.pp};
                   p.expert = d.ep;
                   std::ranges::copy(d.order, p.order.begin());
                   into.data = d.dp;
                 },
                 [=](const JobSpec& from) { return from.inference ? Tree{} : form.write(degrees_of(from)); },
                 [](const JobSpec& a, const JobSpec& b) { return degrees_of(a) == degrees_of(b); }, form.schema})
      .show();
}

// What follows from other keys is no part of what this one says.
Key<CollectiveSpec> inference_key() {
  Key<JobSpec> k = key("inference", &JobSpec::inference, map_of(inference_keys()),
                       "requests are served instead of steps of training: prefill and decode on GPUs of their own");
  k.same = [](const JobSpec& a, const JobSpec& b) {
    if (!a.inference || !b.inference) return !a.inference && !b.inference;
    return std::ranges::all_of(inference_keys().keys(),
                               [&](const Key<jobs::Inference>& one) { return one.same(*a.inference, *b.inference); });
  };
  return of_job(std::move(k));
}

// Integers are whole octets in a file that says "bf16".
Form<int> precision() { return choice<int>({{"fp32", 4}, {"bf16", 2}, {"fp8", 1}}); }

Form<double> factor(double least, double most) {
  const Form<Ratio> as_ratio = ratio();
  Form<double> form;
  form.read = [=](const Tree& tree) {
    const Ratio r = as_ratio.read(tree);
    const double value = static_cast<double>(r.numerator) / static_cast<double>(r.denominator);
    if (value < least || value > most) tree.fail(fmt::format("{} is out of range; expected {} to {}", tree.text, least, most));
    return value;
  };
  form.write = [](const double& value) { return Tree::plain(fmt::format("{}", value)); };
  form.schema = as_ratio.schema;
  return form;
}

Form<Ratio> share_of_peak() {
  return checked<Ratio>(ratio(), [](const Ratio& value) -> std::optional<std::string> {
    if (value.numerator <= value.denominator) return std::nullopt;
    return fmt::format("{} is above 1, the peak itself; expected a share such as 0.4", format(value));
  });
}

std::string model_help() {
  std::vector<std::string_view> names;
  for (const ShippedFile& f : model_files()) names.push_back(f.name);
  return fmt::format("what is trained or serves: {}; the path of a file with such a map; or the map", fmt::join(names, ", "));
}

Form<std::string> gpu_form() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const jobs::Gpu& g : jobs::kGpus) all.emplace_back(g.name, std::string(g.name));
  return choice<std::string>(std::move(all));
}

// What is said of a collective as well.
Key<CollectiveSpec> of_collective(std::string_view name) {
  return *std::ranges::find(collective_keys().keys(), name, &Key<CollectiveSpec>::name);
}
Key<CollectiveSpec> described(Key<CollectiveSpec> k, std::string name, std::string description) {
  k.name = std::move(name);
  k.description = std::move(description);
  return k;
}

std::vector<Key<CollectiveSpec>> all_job_keys() {
  using jobs::Training;
  std::vector<Key<CollectiveSpec>> keys{
      described(of_collective("name"), "name", "name of this job"),
      of_job(key("model", &JobSpec::model, model_form(), model_help()).require()),
      parallelism_key(),
      training_key("sharding", &Training::sharding,
                   choice<Sharding>({{"none", Sharding::kNone}, {"zero-1", Sharding::kZero1}, {"zero-2", Sharding::kZero2},
                                     {"zero-3", Sharding::kZero3}}),
                   "what data-parallel ranks share out: nothing (all-reduce of gradients); optimizer states, gradients "
                   "(reduce-scatter, then all-gather of parameters); parameters, too (zero-3, as FSDP: all-gather before each "
                   "pass)"),
      training_key("shard", &Training::shard, integer(0, kMostRanks),
                   "ranks that share out one copy (hybrid sharding): what is in a shard is all-reduced among copies. 0: all"),
      training_key("schedule", &Training::schedule,
                   choice<PipelineSchedule>({{"gpipe", PipelineSchedule::kGpipe}, {"1f1b", PipelineSchedule::k1F1B},
                                             {"interleaved", PipelineSchedule::kInterleaved}}),
                   "order of forward and backward passes in a pipeline"),
      training_key("chunks", &Training::chunks, integer(1, 1024), "interleaved: chunks of layers at each stage"),
      training_key("microbatches", &Training::microbatches, integer(1, 65536),
                   "microbatches of a step, at each data-parallel copy (gradient accumulation)"),
      training_key("microbatch-size", &Training::microbatch_size, integer(1, 65536), "sequences of a microbatch"),
      training_key("sequence", &Training::sequence, integer(0, 1 << 24), "tokens of a sequence. 0: as the model says"),
      training_key("segments", &Training::segments, integer(0, 4096),
                   "parts in which the layers of a stage are computed; each has its own messages. 0: one per layer. Fewer are "
                   "faster to simulate and have the same bytes in larger messages"),
      training_key("sequence-parallel", &Training::sequence_parallel, boolean(),
                   "tensor-parallel ranks share out activations between layers: all-gather and reduce-scatter instead of "
                   "all-reduce"),
      training_key("overlap", &Training::overlap, boolean(),
                   "data-parallel messages go while the next segment is computed; false: computing waits for them"),
      training_key("activations", &Training::activation_octets, precision(), "precision of activations"),
      training_key("parameters", &Training::parameter_octets, precision(), "precision of parameters that are gathered"),
      training_key("gradients", &Training::gradient_octets, precision(), "precision of gradients that are reduced"),
      training_key("compression", &Training::compression, factor(1, 10'000), "gradient compression: gradients have 1/N of their bytes"),
      training_key("expert-skew", &Training::expert_skew, factor(0, 4),
                   "exponent of the Zipf distribution by which tokens choose experts. 0: all alike"),
      training_key("forward", &Training::forward, duration({}, kAnyTime),
                   "computing time of a microbatch's forward pass at a stage, instead of by model and GPU"),
      training_key("backward", &Training::backward, duration({}, kAnyTime), "the same of its backward pass"),
      training_key("optimizer", &Training::optimizer, duration({}, kAnyTime), "computing time of the optimizer, at the end"),
      inference_key(),
      of_job(key("gpu", &JobSpec::gpu, gpu_form(), "GPU, whose peak rate of 16-bit operations says how long computing takes")),
      of_job(key("mfu", &JobSpec::mfu, share_of_peak(), "share of that peak that computing reaches while it computes")),
      of_job(key("mbu", &JobSpec::mbu, share_of_peak(),
                 "inference: share of the peak rate of the GPU's memory that reading weights and KV caches reaches")),
      of_job(key("storage", &JobSpec::storage, one_or_list_of(selector()),
                 "hosts or NICs that store samples and checkpoints: each is a rank that computes nothing, behind those of the job")),
      of_job(key("storage-dscp", &JobSpec::storage_dscp, integer(0, 63),
                 "DSCP of messages to and from storage, which puts samples and checkpoints into a class of their own; default: dscp")),
      checkpoint_key(),
      storage_key("sample-size", &jobs::Storage::sample, size(Bytes{0}, Bytes{std::int64_t{1} << 40}),
                  "bytes of a sequence's samples, read from storage for the next step by the first stage. 0: none"),
      storage_key("failures", &jobs::Storage::failures, list_of(map_of(job_failure_keys())),
                  "steps in which a rank fails: the job starts again, and goes on from the last checkpoint"),
      described(of_collective("repeats"), "steps", "number of steps, those that are done again after a failure included"),
      described(of_collective("start"), "start", "start time of the first step"),
      described(of_collective("algorithm"), "algorithm",
                "algorithm of those of its collectives that it can do; the others have their usual one. "
                "in-network: switches and scale-up networks that reduce do them"),
      described(of_collective("launch-cost"), "launch-cost",
                "time between a rank's start of a step and its first operation, beside what protocol says of each collective"),
  };
  for (const char* name : {"gap", "ranks", "placement", "transport", "service", "chunk", "reduce-rate", "protocol", "step-cost", "jitter", "stragglers",
                           "path-mtu", "ip", "dscp", "ecn", "class"})
    keys.push_back(of_collective(name));
  return keys;
}

// Keys of one kind of job that the other does not have.
void check_kind(const Tree& map, const CollectiveSpec& c) {
  if (!c.job->inference) {
    if (const Tree* mbu = map.find("mbu")) mbu->fail("applies to inference only; expected inference");
    return;
  }
  for (const char* name : {"parallelism", "sharding", "shard", "schedule", "chunks", "microbatches", "microbatch-size", "sequence",
                           "segments", "sequence-parallel", "overlap", "activations", "parameters", "gradients", "compression",
                           "expert-skew", "forward", "backward", "optimizer", "storage", "storage-dscp", "checkpoint", "sample-size", "failures"})
    if (const Tree* found = map.find(name)) found->fail("is a key of training, found with inference; expected one of the two");
  if (c.repeats > 1) map.at_or_self("steps").fail("does not apply to inference, which has requests instead of steps");
}

void check_job(const Tree& map, const CollectiveSpec& c) {
  check_kind(map, c);
  const jobs::Training& t = c.job->training;
  if ((t.forward > Duration{}) != (t.backward > Duration{}))
    map.at_or_self(t.forward > Duration{} ? "forward" : "backward").fail("found alone; expected forward and backward, or neither");
  if (c.job->storage_dscp && c.job->storage.empty())
    map.at_or_self("storage-dscp").fail("found without storage; expected storage: [hosts that store]");
  if (map.find("service") != nullptr && !c.is_uet())
    map.at_or_self("service").fail("does not apply here; expected transport: uet");
  check_path_mtu(map, c.path_mtu, c.is_uet());
  if (!c.placement.empty())
    if (const Tree* ranks = map.find("ranks"))
      ranks->fail("found with placement, which places the ranks; expected one of the two");
  if (c.chunk % 4 != 0) map.at_or_self("chunk").fail(fmt::format("{} octets are not a multiple of an element's 4", c.chunk));
}

}  // namespace

const Table<jobs::Model>& model_keys() {
  using jobs::Model;
  static const Table<Model> table{
      "model",
      "A transformer, as far as training computes and communicates",
      {key("layers", &Model::layers, integer(1, 10'000), "layers").require(),
       key("hidden", &Model::hidden, integer(1, 1 << 20), "width of activations").require(),
       key("heads", &Model::heads, integer(1, 1 << 16), "attention heads").require(),
       key("kv-heads", &Model::kv_heads, integer(0, 1 << 16), "heads of keys and values (grouped-query attention). 0: as heads"),
       key("feed-forward", &Model::feed_forward, integer(1, 1 << 20), "width between the matrices of the MLP").require(),
       key("gated", &Model::gated, boolean(), "the MLP has three matrices (SwiGLU); false: two"),
       key("vocabulary", &Model::vocabulary, integer(0, 1 << 24), "tokens that there are").require(),
       key("sequence", &Model::sequence, integer(1, 1 << 24), "tokens of a sequence").require(),
       key("experts", &Model::experts, integer(0, 4096), "experts of each layer (mixture of experts). 0: none"),
       key("experts-per-token", &Model::experts_per_token, integer(0, 4096), "experts that a token goes to")},
      check_model};
  return table;
}

const std::string& parallelism_table_name() { return degree_keys().name(); }
Tree parallelism_schema() { return degree_keys().schema(); }

const Table<CollectiveSpec>& job_keys() {
  static const Table<CollectiveSpec> table{
      "job",
      "A job of built-in NICs, training or inference: each rank is a GPU, computes, and exchanges the messages of its kinds of "
      "parallelism",
      all_job_keys(), check_job};
  return table;
}

}  // namespace railyard::spec
