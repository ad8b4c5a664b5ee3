//===- NoProofs.cpp - Empty tables, for the tool that makes the tables ----===//

#include "rewrites/Rules/Rule.h"

using namespace mlc;

llvm::ArrayRef<ProvedRule> mlc::provedRules() { return {}; }

llvm::ArrayRef<VerifiedRuleFile> mlc::verifiedRuleFiles() { return {}; }
