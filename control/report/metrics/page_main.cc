// Prints the page of metrics: what docs/metrics.md is made by.
#include <cstdio>

#include "control/report/metrics/metric.h"

int main() { return std::fputs(railyard::report::metrics_page().c_str(), stdout) < 0 ? 1 : 0; }
