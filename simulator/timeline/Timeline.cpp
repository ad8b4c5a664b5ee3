//===- Timeline.cpp - When the actions of a table run ---------------------===//

#include "simulator/timeline/Timeline.h"
