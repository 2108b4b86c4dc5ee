// Steps that several processes take at the same place.
#pragma once

#include <exception>

#include "control/lab/processes.h"

namespace railyard::tools {

// Takes a step in which each of several processes may fail: then all end, and one says why. `peers`: nullptr for a
// process alone. A step may take others inside: what another process says has been said once.
template <class Step>
void together(Peers* peers, Step step) {
  if (peers == nullptr) return step();
  std::exception_ptr error;
  try {
    step();
  } catch (const lab::SaidElsewhere&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  lab::meet(*peers, error);
}

}  // namespace railyard::tools
