// For programs that poll again and again.
#pragma once

namespace railyard::application {

// Gives the processor to others: with as many spinning programs as processors, a round trip takes milliseconds otherwise.
void give_way() noexcept;

}  // namespace railyard::application
