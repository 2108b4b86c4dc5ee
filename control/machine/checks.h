// The checks, by what they look at.
#pragma once

#include <optional>
#include <vector>

#include "control/machine/check.h"

namespace railyard::machine {

using Checks = std::vector<Check>;

// What checks of processors share.
struct Processors {
  std::vector<int> online;
  std::vector<int> isolated;
  std::vector<int> tickless;  // nohz_full
  std::vector<int> workers;   // run.cores; else the isolated ones; else those that a lab should have
  bool named = false;         // `workers` are those of run.cores

  Processors(const Files& files, const std::optional<Wanted>& wanted);
};

void check_processors(const Files& files, const Processors& processors, const std::optional<Wanted>& wanted, Checks& out);
void check_power(const Files& files, const Processors& processors, Checks& out);
void check_interrupts(const Files& files, const Processors& processors, Checks& out);
void check_memory(const Files& files, const std::optional<Wanted>& wanted, Checks& out);
void check_kernel(const Files& files, const std::optional<Wanted>& wanted, Checks& out);
void check_devices(const Files& files, const std::optional<Wanted>& wanted, Checks& out);
void check_measured(const Measured& measured, const Processors& processors, Checks& out);

}  // namespace railyard::machine
