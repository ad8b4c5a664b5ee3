//===- RunMain.cpp - mlc-run, for users without a compiler ----------------===//

#include "runtime/RunCommand.h"

int main(int argc, char **argv) { return mlc::runtime::runMain(argc, argv); }
