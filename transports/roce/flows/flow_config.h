// A flow over QPs: as of any transport.
#pragma once

#include "transports/base/flow_config.h"

namespace railyard::roce {

using railyard::FlowConfig;
using railyard::FlowOperation;

}  // namespace railyard::roce
