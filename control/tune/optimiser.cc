#include "control/tune/optimiser.h"

#include <exception>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlopt.h>

namespace railyard::tune {
namespace {

constexpr double kLeastStep = 1.0 / 500;
constexpr double kFirstStep = 0.2;

// What NLopt, which is C, carries through to the objective and back.
struct Call {
  nlopt_opt opt;
  const std::function<double(const std::vector<double>&)>& objective;
  std::exception_ptr thrown;
};

double called(unsigned n, const double* x, double*, void* data) {
  Call& call = *static_cast<Call*>(data);
  try {
    return call.objective({x, x + n});
  } catch (...) {
    call.thrown = std::current_exception();
    nlopt_force_stop(call.opt);
    return 0;
  }
}

void check(nlopt_result result, const char* what) {
  if (result < 0) throw std::runtime_error(fmt::format("NLopt: {}: {}", what, nlopt_result_to_string(result)));
}

}  // namespace

void minimise(Method method, const std::vector<double>& start, std::size_t most_calls,
              const std::function<double(const std::vector<double>&)>& objective) {
  const std::unique_ptr<nlopt_opt_s, void (*)(nlopt_opt)> opt(
      nlopt_create(method == Method::kGlobal ? NLOPT_GN_DIRECT_L : NLOPT_LN_SBPLX, static_cast<unsigned>(start.size())),
      nlopt_destroy);
  if (!opt) throw std::runtime_error("NLopt: out of memory");
  Call call{opt.get(), objective, {}};
  check(nlopt_set_lower_bounds1(opt.get(), 0), "bounds");
  check(nlopt_set_upper_bounds1(opt.get(), 1), "bounds");
  check(nlopt_set_min_objective(opt.get(), called, &call), "objective");
  check(nlopt_set_maxeval(opt.get(), static_cast<int>(most_calls)), "calls");
  if (method == Method::kLocal) {
    check(nlopt_set_xtol_abs1(opt.get(), kLeastStep), "step");
    check(nlopt_set_initial_step1(opt.get(), kFirstStep), "first step");
  }
  std::vector<double> x = start;
  double least = 0;
  const nlopt_result result = nlopt_optimize(opt.get(), x.data(), &least);
  if (call.thrown) {
    try {
      std::rethrow_exception(call.thrown);
    } catch (const BudgetSpent&) {
      return;
    }
  }
  // Steps below what doubles resolve are an end like others.
  if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED) check(result, "search");
}

}  // namespace railyard::tune
