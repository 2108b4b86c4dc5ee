// What the columns of a comparison are: how each transport controls congestion, recovers and takes paths, and every
// setting in which they differ.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::compare {

// Of the first traffic or collective of a lab that RDMA NICs carry, in the words of the fabric file.
struct ColumnFacts {
  std::string transport;   // "RoCEv2 RC", "UET RUD"
  std::string congestion;  // "dcqcn (vendor)", "nscc", "none"
  std::string recovery;    // "go-back-n", "selective-repeat", "selective", "none"
  std::string path;        // of the fabric: "ecmp"; of UET also its own: "reps over spray"
  std::string traffic_class;  // "3 lossless", "3 lossy", "3 lossy, trims"

  bool operator==(const ColumnFacts&) const = default;
};
ColumnFacts facts_of(const spec::Lab& lab);

// A setting in which columns differ; "-": not said.
struct SettingRow {
  std::string path;
  std::vector<std::string> values;  // by column

  bool operator==(const SettingRow&) const = default;
};
// `labs`: one per column. Ordered by path; without settings of NICs of a transport that only columns use which agree.
std::vector<SettingRow> differing_settings(const std::vector<spec::Lab>& labs);

}  // namespace railyard::compare
