// Logs of NCCL (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL): which collectives a job did, in their order.
#pragma once

#include <expected>
#include <string_view>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// Whether a text has a line of such a log near its beginning.
bool is_nccl_log(std::string_view text);

// Logs of all processes, in one file in any order (each process's own lines in theirs). Lines that begin with
// "HOST:PID:TID [DEVICE] NCCL INFO ", also behind what a launcher or logger puts there ("[default0]:", "[1,0]<stdout>:", "0: ",
// "[2025-03-01 10:11:12] "), and go on with
//
//   ncclCommInitRank comm 0x.. rank 3 nranks 8 .. commId 0x.. - Init ..        (also InitRankConfig, InitAll)
//   ncclCommSplit comm 0x.. rank 1 nranks 4 .. parent 0x.. splitCount 1 color 0 key 1 - Init ..   (2.19 and later; also Shrink)
//   AllReduce: opCount 1 sendbuff .. recvbuff .. count 1024 datatype 7 op 0 root 0 comm 0x.. [nranks=8] stream 0x..
//
// Operations: AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Gather, Scatter, Send, Recv (root is the
// peer). What one process does on one stream goes one after the other; operations of one group (equal opCount, communicator
// and stream: sends and receives) go at once. All other lines are skipped.
//
// Ranks of the graph are those of the largest communicator; where several are as large, and none has all processes, they
// are numbered in the order in which their communicators begin. The log has no times: nothing is computed.
// Errors: an operation of a communicator without a line of its beginning, or with another number of ranks; ranks that are
// missing; an unknown operation or datatype. The graph is not checked yet (check()).
std::expected<JobGraph, TraceError> read_nccl_log(std::string_view text);

}  // namespace railyard::jobs
