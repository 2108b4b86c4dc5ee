// GPUs by what they compute at most.
#pragma once

#include <array>
#include <string_view>

namespace railyard::jobs {

struct Gpu {
  std::string_view name;
  double flops;  // in a second, dense, of 16-bit floating-point numbers (BF16; V100: FP16)
};

// Data sheets: NVIDIA V100 (2018), A100 (2020), H100 and H200 SXM, Blackwell architecture brief (B200, dense), AMD Instinct
// MI250X, MI300X.
inline constexpr std::array kGpus{Gpu{"v100", 125e12}, Gpu{"a100", 312e12},   Gpu{"h100", 989e12},   Gpu{"h200", 989e12},
                                  Gpu{"b200", 2250e12}, Gpu{"mi250x", 383e12}, Gpu{"mi300x", 1307e12}};

}  // namespace railyard::jobs
