// Needs <vector> and does not say so: what the check of the headers has to find.
#pragma once

inline std::vector<int> numbers() { return {1, 2, 3}; }
