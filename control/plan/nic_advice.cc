#include "control/plan/nic_advice.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "control/plan/communication.h"
#include "control/plan/memory_need.h"
#include "control/plan/request.h"

namespace railyard::plan {
namespace {

// A published server with this kind of GPU: its NICs of the compute network.
struct Server {
  std::string_view gpu;
  int gpus_per_nic;
  std::int64_t gigabit;
  spec::PcieSlot slot;
  std::string_view name;
};
constexpr std::array kServers{Server{"v100", 2, 100, {3, 16}, "NVIDIA DGX-1"},
                              Server{"a100", 1, 200, {4, 16}, "NVIDIA DGX A100"},
                              Server{"h100", 1, 400, {5, 16}, "NVIDIA DGX H100"},
                              Server{"h200", 1, 400, {5, 16}, "NVIDIA DGX H200"},
                              Server{"b200", 1, 400, {5, 16}, "NVIDIA DGX B200"},
                              Server{"mi250x", 1, 200, {4, 16}, "a node of Frontier"},
                              Server{"mi300x", 1, 400, {5, 16}, "Azure ND MI300X v5"}};

enum class Size { kGpu, kNode, kNodes };

// Two small ports; one NIC for two GPUs; the server's own number.
enum class Rung { kFew, kHalf, kAll };

Size size_of(const Request& r, Workload workload) {
  const MemoryNeed need = memory_need(r.model, workload, gpu_memory(r.gpu), r.gpus_per_node);
  return need.gpus == 1 ? Size::kGpu : need.nodes == 1 ? Size::kNode : Size::kNodes;
}

Rung rung_for(Workload workload, Size size) {
  switch (workload) {
    case Workload::kFineTuning:
      return size == Size::kNodes ? Rung::kAll : Rung::kHalf;
    case Workload::kInferenceRag:
      return size == Size::kGpu ? Rung::kFew : size == Size::kNode ? Rung::kHalf : Rung::kAll;
    default:
      return Rung::kAll;
  }
}

// The fewest NICs that share out the GPUs evenly, `least` or more.
int even(int gpus, int least) {
  int n = std::clamp(least, 1, gpus);
  while (gpus % n != 0) ++n;
  return n;
}

NicAdvice of_rung(const Request& r, const Server& server, Rung rung) {
  NicAdvice a{.rate = BitRate{server.gigabit * 1'000'000'000}, .slot = server.slot};
  const int gpus = r.gpus_per_node;
  const auto for_each = [&](int per) { return even(gpus, (gpus + per - 1) / per); };
  switch (rung) {
    case Rung::kFew: {
      constexpr BitRate kMost{200'000'000'000};
      constexpr int kGpusEach = 4;
      a.nics = even(gpus, std::max(2, (gpus + kGpusEach - 1) / kGpusEach));
      a.rate = std::min(a.rate, kMost);
      a.source = "NVIDIA Enterprise RA, RTX PRO AI Factory: two 200 GbE ports; no compute network for inference in one GPU";
      break;
    }
    case Rung::kHalf:
      a.nics = for_each(std::max(2, server.gpus_per_nic));
      a.source = fmt::format("NVIDIA AI Enterprise RA, PCIe Optimized 2-8-5: four for eight GPUs; rate of {}", server.name);
      break;
    case Rung::kAll:
      a.nics = for_each(server.gpus_per_nic);
      a.source = server.name;
      break;
  }
  a.count = a.nics == gpus ? "one for each GPU" : fmt::format("one for {} GPUs", gpus / a.nics);
  return a;
}

}  // namespace

NicAdvice advise_nics(const Request& request, Workload workload) {
  Request r = request;
  r.workload = workload;
  const Server& server = *std::ranges::find(kServers, std::string_view(r.gpu), &Server::gpu);
  const Size size = size_of(r, workload);
  const std::int64_t needed = communication(r).rate_for(kWorthIt).bps;
  const Rung usual = rung_for(workload, size);
  Rung rung = usual;
  NicAdvice a = of_rung(r, server, rung);
  while (rung != Rung::kAll && a.rate.bps * a.nics / r.gpus_per_node < needed) {
    rung = rung == Rung::kFew ? Rung::kHalf : Rung::kAll;
    a = of_rung(r, server, rung);
  }
  const bool any_size = workload == Workload::kPretraining || workload == Workload::kMixed;
  a.reason = std::string(needs(workload).name);
  if (!any_size)
    a.reason += size == Size::kGpu    ? ", model in one GPU"
                : size == Size::kNode ? ", model in one node"
                                      : ", model in several nodes";
  if (rung != usual) a.reason += ", more for its communication";
  return a;
}

}  // namespace railyard::plan
