// A collective at several sizes, in the columns of nccl-tests, so that figures can be put beside those of a cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace railyard::report {

// One size. Sizes, counts and the root mean what they mean to nccl-tests (doc/PERFORMANCE.md there).
struct NcclRow {
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  // Mean time of an iteration: all measured ones together, over their number. Nothing: they were not completed.
  std::optional<double> time_us{};
  double algbw_bps = 0;
  double busbw_bps = 0;
  std::optional<double> share_of_limit{};  // of busbw: of what the fabric can carry (report.json: share_of_limit)
  std::uint64_t wrong = 0;               // elements
  // What carried it, if a model chose that by size: "tree", "LL128", as NCCL writes it. Empty: it is the same for all.
  std::string algorithm{};
  std::string protocol{};
};

struct NcclTable {
  std::string title;  // lines that begin with '#'
  std::string type;   // of elements: "uint32"
  std::string redop;  // "sum", "none"
  int root = -1;      // -1: the operation has none
  std::vector<NcclRow> rows{};
  bool estimated = false;  // no data were sent, so none were compared

  // Of the sizes that were completed; nccl-tests' "Avg bus bandwidth". Nothing: none was.
  std::optional<double> mean_busbw_bps() const;
  // Header, a line per size and the two closing lines. Behind nccl-tests' columns (GB/s) come busbw in Gb/s and its share of
  // what the fabric can carry, and what NCCL chose if any row says it. There are no in-place columns: memory costs no time here.
  std::string text() const;
};

}  // namespace railyard::report
