#include "control/sweep/cluster_job.h"

#include <charconv>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/report/shell_word.h"

namespace railyard::sweep {
namespace {

const std::map<std::string, Scheduler, std::less<>> kSchedulers{
    {"slurm", Scheduler::kSlurm}, {"k8s", Scheduler::kKubernetes}, {"ray", Scheduler::kRay}};

std::optional<std::size_t> whole(std::string_view text) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(n) : std::nullopt;
}

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + report::shell_word(word);
  return line;
}

std::string slurm(const ClusterJob& job) {
  return fmt::format(R"(#!/bin/bash
#SBATCH --job-name=railyard-sweep
#SBATCH --array=1-{1}
#SBATCH --cpus-per-task=1
# Submit it in the folder of the fabric file, on a file system that all nodes share. railyard check prints the memory of a run.
# When all parts have ended, this command prints the table:
#   {0}
{0} --part "$SLURM_ARRAY_TASK_ID/{1}" --jobs "$SLURM_CPUS_PER_TASK"
)",
                     line_of(job.command), job.parts);
}

std::string kubernetes(const ClusterJob& job) {
  const std::string shell =
      fmt::format("exec {} --part \"$((JOB_COMPLETION_INDEX + 1))/{}\" --jobs 1", line_of(job.command), job.parts);
  return fmt::format(R"(# Edit two names: the claim "railyard", a volume that all nodes share (ReadWriteMany) and that has the fabric file, and the image
# "railyard" with the program. When all parts have ended, this command prints the table:
#   {0}
apiVersion: batch/v1
kind: Job
metadata:
  name: railyard-sweep
spec:
  completionMode: Indexed
  completions: {1}
  parallelism: {1}
  template:
    spec:
      restartPolicy: OnFailure
      containers:
        - name: sweep
          image: railyard
          workingDir: /work
          command: ["/bin/sh", "-c", {2}]
          resources:
            requests: {{ cpu: "1" }}
          volumeMounts:
            - {{ name: work, mountPath: /work }}
      volumes:
        - name: work
          persistentVolumeClaim:
            claimName: railyard
)",
                     line_of(job.command), job.parts, nlohmann::json(shell).dump());
}

std::string ray(const ClusterJob& job) {
  return fmt::format(R"(# Run it with `ray job submit -- python FILE`, where all nodes share the folder of the fabric file.
# When all parts have ended, this command prints the table:
#   {0}
import subprocess
import sys

import ray

COMMAND = {1}
PARTS = {2}


@ray.remote(num_cpus=1)
def part(number):
    return subprocess.run([*COMMAND, "--part", f"{{number}}/{{PARTS}}", "--jobs", "1"]).returncode


ray.init()
sys.exit(max(ray.get([part.remote(number) for number in range(1, PARTS + 1)])))
)",
                     line_of(job.command), nlohmann::json(job.command).dump(), job.parts);
}

}  // namespace

std::expected<Part, std::string> parse_part(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto number = whole(text.substr(0, slash));
  const auto of = slash == text.npos ? std::nullopt : whole(text.substr(slash + 1));
  if (!number || !of || *number < 1 || *number > *of)
    return std::unexpected(fmt::format("'{}'; expected K/N, 1 <= K <= N, such as 3/16", text));
  return Part{*number, *of};
}

std::optional<Scheduler> parse_scheduler(std::string_view text) {
  const auto found = kSchedulers.find(text);
  return found == kSchedulers.end() ? std::nullopt : std::optional(found->second);
}

std::string job_file(const ClusterJob& job, Scheduler scheduler) {
  if (scheduler == Scheduler::kSlurm) return slurm(job);
  return scheduler == Scheduler::kKubernetes ? kubernetes(job) : ray(job);
}

}  // namespace railyard::sweep
