// What most unit tests include, compiled once (MLC.cmake).

#include "PrecompiledHeaders.h"
#include <catch2/catch.hpp>
