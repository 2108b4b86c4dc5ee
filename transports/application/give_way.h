// For programs that poll again and again.
#pragma once

namespace railyard::application {

// Gives the processor to others: with as many spinning programs as processors, a round trip takes milliseconds
// otherwise. `fruitless`: how often in a row it was called and nothing had come. Where many programs wait, one that has
// waited for long sleeps for longer, 1 ms at most: a hundred of them leave the fabric no processor otherwise.
void give_way(unsigned fruitless = 0) noexcept;
// The same to those who get nothing of a program that only yields: to other sessions (autogroups), where a program is
// bound to one processor.
void sleep_a_moment() noexcept;

}  // namespace railyard::application
