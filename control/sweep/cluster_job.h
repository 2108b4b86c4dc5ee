// A sweep as a job of a cluster's scheduler: its parts run on many machines and share a folder for results.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railyard::sweep {

// Which of the runs: those whose place, from 0, leaves number - 1 when divided by `of`. So a part has early and late values.
struct Part {
  std::size_t number = 1;  // 1..of
  std::size_t of = 1;

  bool has(std::size_t run) const noexcept { return run % of == number - 1; }
};
// "3/16". Error: what is wrong with it.
std::expected<Part, std::string> parse_part(std::string_view text);

enum class Scheduler { kSlurm, kKubernetes, kRay };
std::optional<Scheduler> parse_scheduler(std::string_view text);  // "slurm", "k8s", "ray"

struct ClusterJob {
  std::vector<std::string> command;  // railyard sweep ..., with --resume, without --part
  std::size_t parts = 1;
};

// A file to hand to it: of Slurm an array job (sbatch(1)), of Kubernetes an Indexed Job (batch/v1), of Ray a Python program.
std::string job_file(const ClusterJob& job, Scheduler scheduler);

}  // namespace railyard::sweep
