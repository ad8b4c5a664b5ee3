//===- Share.h - What both functions compute alike --------------*- C++ -*-===//

#ifndef MLC_VERIFIER_KERNEL_SHARE_H
#define MLC_VERIFIER_KERNEL_SHARE_H

#include "verifier/kernel/Statement.h"

namespace mlc::kernel {

/// The statement with every tensor that both sides compute alike, operation for
/// operation, as a further input, whatever it is made of; nothing where there
/// is none. It implies the statement: the sides are equal for all values of
/// these inputs, and so for the values that both compute. Elements of an input
/// that need not be defined (`isPartial`) must be read before where they are
/// read after.
/// As real numbers, floats are alike whatever the order in which they are
/// added.
std::optional<Statement> withSharedStages(const Statement &statement);

/// Whether both sides compute their results alike.
bool areAlike(const Statement &statement);

/// Whether the sides' results are alike as real numbers, and only the order of
/// sums tells their bits apart.
bool addsInOtherOrder(const Statement &statement);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_SHARE_H
