// What somebody who misspelt a word probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace railyard::spec {

// The word nearest to `misspelt`, if one is near: letters wrong, missing, too many or swapped count one each, '_' for
// '-' and capitals nothing.
std::optional<std::string> nearest(std::string_view misspelt, std::span<const std::string> words);

// "; did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view misspelt, std::span<const std::string> words);
// The same; if none is near, the first words there are: "; expected one of x, y, z and 12 more". Nothing without any.
std::string meant_or_known(std::string_view misspelt, std::span<const std::string> words);

}  // namespace railyard::spec
