//===- States.cpp - State that lives across runs --------------------------===//

#include "dialects/Module/States.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using llvm::StringRef;

namespace mlc {

static StateUse read(Attribute attribute) {
  auto pair = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!pair || pair.size() != 2 || !isa<StringAttr>(pair[0]) ||
      !isa<StringAttr>(pair[1]))
    return {};
  auto role = runtime::findStateRole(cast<StringAttr>(pair[0]).str());
  return role ? StateUse{*role, cast<StringAttr>(pair[1]).getValue()}
              : StateUse();
}

StateUse getStateUse(ModuleOp module, StringRef state) {
  auto roles = module->getAttrOfType<DictionaryAttr>(kRolesAttr);
  return roles ? read(roles.get(state)) : StateUse();
}

void setStateUse(ModuleOp module, StringRef state, runtime::StateRole role,
                 StringRef owner) {
  Builder b(module.getContext());
  NamedAttrList roles(module->getAttrOfType<DictionaryAttr>(kRolesAttr));
  roles.set(state, b.getArrayAttr({b.getStringAttr(runtime::name(role)),
                                   b.getStringAttr(owner)}));
  module->setAttr(kRolesAttr, roles.getDictionary(module.getContext()));
}

StringRef findState(ModuleOp module, runtime::StateRole role, StringRef owner) {
  auto roles = module->getAttrOfType<DictionaryAttr>(kRolesAttr);
  if (roles)
    for (NamedAttribute entry : roles)
      if (StateUse use = read(entry.getValue());
          use.role == role && use.owner == owner)
        return entry.getName().getValue();
  return {};
}

} // namespace mlc
