//===- Remedy.cpp - Remedies of errors ------------------------------------===//

#include "passes/Base/Remedy.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace mlc {

std::string withRemedies(std::string message, ArrayRef<Remedy> remedies,
                         DescribeRemedy describe) {
  if (!describe)
    return message;
  for (size_t i = 0; i < remedies.size(); ++i) {
    bool isSameKind = i > 0 && remedies[i].kind == remedies[i - 1].kind;
    message += i == 0 ? "; " : isSameKind ? " and " : ", or ";
    message += describe(remedies[i]);
  }
  return message;
}

// A diagnostic's metadata holds attributes; a remedy is two of them.
InFlightDiagnostic &operator<<(InFlightDiagnostic &diagnostic,
                               Remedy &&remedy) {
  Diagnostic *found = diagnostic.getUnderlyingDiagnostic();
  if (!found)
    return diagnostic;
  MLIRContext *context = found->getLocation().getContext();
  auto kind =
      IntegerAttr::get(IntegerType::get(context, 64), int64_t(remedy.kind));
  auto subject = StringAttr::get(context, remedy.subject);
  found->getMetadata().push_back(DiagnosticArgument(kind));
  found->getMetadata().push_back(DiagnosticArgument(subject));
  return diagnostic;
}

InFlightDiagnostic &&operator<<(InFlightDiagnostic &&diagnostic,
                                Remedy &&remedy) {
  return std::move(diagnostic << std::move(remedy));
}

llvm::SmallVector<Remedy> remediesOf(Diagnostic &diagnostic) {
  llvm::SmallVector<Remedy> remedies;
  ArrayRef<DiagnosticArgument> metadata = diagnostic.getMetadata();
  auto attributeAt = [&](size_t i) {
    return i < metadata.size() &&
                   metadata[i].getKind() ==
                       DiagnosticArgument::DiagnosticArgumentKind::Attribute
               ? metadata[i].getAsAttribute()
               : Attribute();
  };
  for (size_t i = 0; i < metadata.size(); ++i) {
    auto kind = dyn_cast_or_null<IntegerAttr>(attributeAt(i));
    auto subject = dyn_cast_or_null<StringAttr>(attributeAt(i + 1));
    if (kind && subject)
      remedies.push_back(
          {Remedy::Kind(kind.getInt()), subject.getValue().str()});
  }
  return remedies;
}

} // namespace mlc
