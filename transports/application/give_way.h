// For programs that poll again and again.
#pragma once

namespace railyard::application {

// Gives the processor to others: with as many spinning programs as processors, a round trip takes milliseconds
// otherwise.
void give_way() noexcept;
// The same to those who get nothing of a program that only yields: to other sessions (autogroups), where a program is
// bound to one processor.
void sleep_a_moment() noexcept;

}  // namespace railyard::application
