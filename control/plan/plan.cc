#include "control/plan/plan.h"

#include "control/spec/yaml/tree.h"

namespace railyard::plan {

Plan make_plan(const Request& request, const Prices& prices) {
  Plan p{.request = request, .prices = prices, .nic = check_nics(request), .chosen = choose_switch(request)};
  p.shape = size(request, p.chosen);
  p.cables = cables(request, p.shape);
  p.buffers = buffers(request, p.shape, p.chosen);
  const std::uint64_t octets = gpu_memory(request.gpu);
  bool is_usual = false;
  for (const char* size : {"8B", "70B", "405B"}) {
    const jobs::Model model = model_named(spec::Tree::plain(size));
    is_usual = is_usual || model == request.model;
    p.memory.push_back(memory_need(model, request.workload, octets, request.gpus_per_node));
    p.memory.back().model = size;
  }
  if (!is_usual) p.memory.push_back(memory_need(request.model, request.workload, octets, request.gpus_per_node));
  p.ports = ports_by_tier(p.shape);
  p.now = bill(parts_of(p.shape, p.shape.now, p.chosen, p.cables, false), prices);
  p.later = bill(parts_of(p.shape, p.shape.later, p.chosen, p.cables, true), prices);
  p.step = step_up(request, prices, p.shape, p.chosen, p.cables, p.now);
  return p;
}

}  // namespace railyard::plan
