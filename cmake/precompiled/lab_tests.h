// What most tests of labs include, read once by the compiler (cmake/Precompiled.cmake).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled/control.h"
