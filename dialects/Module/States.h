//===- States.h - State that lives across runs ------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_MODULE_STATES_H
#define MLC_DIALECTS_MODULE_STATES_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/Training.h"
#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of an entry, and on a result: the name of a state, as a
/// StringAttr. The argument is the state's value at the start of a run, the
/// result its value at the end. Neither is an input or an output. All functions
/// that name a state share one memory, of one type with fixed dims
/// (docs/States.md).
inline constexpr llvm::StringLiteral kStateAttr = "mlc.state";

/// On an argument with kStateAttr: the state's elements until it is set or
/// written, as an ElementsAttr. Without it the state is empty until then.
inline constexpr llvm::StringLiteral kInitialAttr = "mlc.initial";

/// On the module: the roles of its states in training, by name.
inline constexpr llvm::StringLiteral kRolesAttr = "mlc.roles";

/// On an argument that is an input of training other than samples: its
/// runtime::InputRole, as a StringAttr of the role's name.
inline constexpr llvm::StringLiteral kInputRoleAttr = "mlc.role";

/// A state's role in training, and the weight or statistic that it is or
/// belongs to.
struct StateUse {
  runtime::StateRole role = runtime::StateRole::None;
  llvm::StringRef owner;
};

/// StateRole::None for states without a role.
StateUse getStateUse(mlir::ModuleOp module, llvm::StringRef state);
void setStateUse(mlir::ModuleOp module, llvm::StringRef state,
                 runtime::StateRole role, llvm::StringRef owner);
/// The state with that role for `owner`; empty if there is none.
llvm::StringRef findState(mlir::ModuleOp module, runtime::StateRole role,
                          llvm::StringRef owner);

} // namespace mlc

#endif // MLC_DIALECTS_MODULE_STATES_H
