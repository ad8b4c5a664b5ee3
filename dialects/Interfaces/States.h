//===- States.h - What lives across runs ------------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_STATES_H
#define MLC_DIALECTS_INTERFACES_STATES_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Training.h"
#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of an entry, and on a result: the name of a state, as a
/// StringAttr. The argument is what the state holds when the entry is run, the
/// result what it holds then. Neither is an input or an output. All functions
/// that name a state mean one memory, of one type of fixed dims
/// (docs/States.md).
inline constexpr llvm::StringLiteral kStateAttr = "mlc.state";

/// On an argument with kStateAttr: the elements that the state has until it is
/// set or written, as an ElementsAttr. Without one it holds nothing until then.
inline constexpr llvm::StringLiteral kInitialAttr = "mlc.initial";

/// On the module: what its states are to training, by their names.
inline constexpr llvm::StringLiteral kRolesAttr = "mlc.roles";

/// On an argument that is an input of training beside samples: its
/// runtime::InputRole, as a StringAttr of the role's name.
inline constexpr llvm::StringLiteral kInputRoleAttr = "mlc.role";

/// What a state is to training, and the weight or statistic that it is or
/// belongs to.
struct StateUse {
  runtime::StateRole role = runtime::StateRole::None;
  llvm::StringRef owner;
};

/// Of states without a role, StateRole::None.
StateUse getStateUse(mlir::ModuleOp module, llvm::StringRef state);
void setStateUse(mlir::ModuleOp module, llvm::StringRef state,
                 runtime::StateRole role, llvm::StringRef owner);
/// The state with that role of `owner`; empty where there is none.
llvm::StringRef findState(mlir::ModuleOp module, runtime::StateRole role,
                          llvm::StringRef owner);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_STATES_H
