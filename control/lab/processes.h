// The processes of a virtual run that something else has started together: mpirun.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "dataplane/run/peers.h"

namespace railyard::lab {

// Another process says what is wrong: this one ends without a word.
class SaidElsewhere : public std::exception {
 public:
  const char* what() const noexcept override { return "another process says why"; }
};

// Joins them; nullptr: nothing has started this program as one of several. Throws std::runtime_error: it has, but
// librailyard-mpi.so is missing or cannot be loaded.
std::unique_ptr<Peers> join_processes();

// All processes call it after a step in which each may have failed: if any has, `error` of the first of them is thrown
// there, and SaidElsewhere by the others. `same`: what all must agree in; where they do not, std::invalid_argument is
// thrown by the first, which calls it `what`.
void meet(Peers& peers, std::exception_ptr error, const std::string& same = {}, const std::string& what = {});

}  // namespace railyard::lab
