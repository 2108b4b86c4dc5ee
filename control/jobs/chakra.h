// Execution traces of Chakra (github.com/mlcommons/chakra, schema/protobuf/et_def.proto): a file per rank.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "control/jobs/trace_file_error.h"

namespace railyard::jobs {

struct ChakraFile {
  std::string name;  // for errors
  std::string_view octets;
};

// Files of ranks 0, 1, ...: each a GlobalMetadata and then Nodes, all behind their length. `groups`: who is in which
// communicator, as ASTRA-sim reads it: JSON, {"name": [rank, ...], ...}; empty: all ranks are in the only one.
//
// COMP_NODE, MEM_LOAD_NODE and MEM_STORE_NODE compute for duration_micros (those with is_cpu_op on a stream of their own);
// METADATA_NODE takes no time. COMM_SEND_NODE and COMM_RECV_NODE: comm_dst or comm_src, comm_tag, comm_size.
// COMM_COLL_NODE: comm_type, comm_size (as nccl-tests counts it), pg_name (a name in `groups`), root_rank; the n-th of a
// communicator at a rank, in the order of the file, belongs to the n-th at its other ranks. Nodes wait for their data_deps
// and ctrl_deps.
//
// Errors name the file and the node, or the line of `groups`: other types of nodes; a dependency that is not there; a computing node without a
// duration (num_ops alone says no time); a group that is not known. The graph is not checked yet (check()).
std::expected<JobGraph, TraceFileError> read_chakra(const std::vector<ChakraFile>& files, const ChakraFile& groups = {});

}  // namespace railyard::jobs
