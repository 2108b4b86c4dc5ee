// Which processors threads run on.
#pragma once

#include <thread>
#include <vector>

namespace railyard {

// Those that the calling thread may run on, ascending.
std::vector<int> own_processors();
// Binds a thread to one. Throws std::runtime_error: it is not there, or not for this process.
void bind_to(std::thread::native_handle_type thread, int processor);
void bind_to(int processor);  // the calling thread

}  // namespace railyard
