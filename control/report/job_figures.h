// What a job makes of its time: figures that follow from its model and its schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/build/collective.h"
#include "control/report/inference_figures.h"
#include "control/spec/spec.h"

namespace railyard::report {

// Of a job or a trace.
struct JobFigures {
  // A step if messages took no time: computing, and what ranks wait for each other's computing (jobs::ideal_time()).
  std::int64_t ideal_ns = 0;
  // ideal_ns / the median step: what the network leaves of the schedule's speed.
  std::optional<double> efficiency;

  // Of a job of training:
  struct Training {
    std::string parallelism;  // "tp 8, pp 4, dp 2"
    int microbatches = 1;
    double tokens = 0;        // of a step, all copies
    // Tokens over the median step; and model FLOPs utilisation: the model's floating-point operations of a step, over what
    // all GPUs can do in that time (Chowdhery et al., "PaLM", 2022, appendix B). Nothing: no step was complete; of MFU,
    // computing times are the file's own.
    std::optional<double> tokens_per_second;
    std::optional<double> mfu;
    // What the rank that sends most for this reason sends in a step, at least (jobs::volumes()).
    struct Volume {
      std::string kind;  // "tp"
      double bytes = 0;
    };
    std::vector<Volume> volumes;
  };
  std::optional<Training> training;
  // Of a job of inference. Set by those who know when its ranks did what.
  std::optional<InferenceFigures> inference{};

  // Of training all tokens, of inference those that are made.
  std::optional<double> tokens_per_second() const noexcept {
    if (training) return training->tokens_per_second;
    return inference ? inference->tokens_per_second : std::nullopt;
  }
};

// `median_ns`: of its steps. Nothing: it is neither.
std::optional<JobFigures> job_figures(const spec::CollectiveSpec& job, std::optional<std::int64_t> median_ns);

// Lines for people, each beginning with the name; empty if there are none.
std::string job_text(const std::string& name, const JobFigures& figures);

}  // namespace railyard::report
