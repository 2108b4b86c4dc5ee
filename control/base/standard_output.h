// Standard output at the end of a program: a full disk must not look like success.
#pragma once

namespace railyard {

// `exit_code`, if all that was printed has arrived; else says why not as `program` on standard error, and `failed`.
int finish_standard_output(const char* program, int exit_code, int failed);

}  // namespace railyard
