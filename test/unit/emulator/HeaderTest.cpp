#include "Gpu.h"
