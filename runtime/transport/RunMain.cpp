//===- RunMain.cpp - mlc-run, for users without a compiler ----------------===//

#include "runtime/RunCommand.h"
#include "runtime/transport/RunEngines.h"

int main(int argc, char **argv) {
  mlc::runtime::transport::RunEngines engines;
  return mlc::runtime::runMain(argc, argv, &engines);
}
