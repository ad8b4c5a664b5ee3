//===- Exec.td - Programs for the runtime ------------------*- tablegen -*-===//
//
// One op for each entry of runtime/Program.h, with the same names.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_EXEC_EXEC
#define MLC_DIALECTS_EXEC_EXEC

include "dialects/Graph/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::mlc::exec";
  let summary = "programs that the runtime carries out";
  let description = [{
    An `exec.program` is what the runtime does in one run of an entry: symbols
    and where their values come from, checks, buffers, and steps in order. It
    names the kernels (`func.func` with `mlc.kernel`) of its module, which other
    programs may share.
  }];
  // Ops have dims as attributes of this dialect.
  let dependentDialects = ["::mlc::MlcDialect"];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{ void registerTypes(); }];
}

def Exec_BufferType : TypeDef<Exec_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "memory of one tensor";
  let description = "Which memory, and the tensor's dims, say the op that makes it.";
}

class Exec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Exec_Dialect, mnemonic, traits>;

def Exec_StepOpInterface : OpInterface<"StepOpInterface"> {
  let cppNamespace = "::mlc::exec";
  let description = [{
    An op that is one step of the kind that it is called after (runtime/Step.h).
    Attributes have the names of the kind's fields; `args` are its sizes, `nodes`
    the model's nodes that it computes.
  }];
  let methods = [
    InterfaceMethod<"The buffers that it reads.", "::mlir::ValueRange", "getInputs">,
    InterfaceMethod<"The buffers that it writes.", "::mlir::ValueRange", "getOutputs">,
    InterfaceMethod<"The step's name.", "::llvm::StringRef", "getStepName",
      (ins), [{}], [{ return ""; }]>,
  ];
}

/// An op that is a step of the kind `mnemonic`, with its fields; no pass needs
/// to know it.
class Exec_StepOp<string mnemonic, dag fields>
    : Exec_Op<mnemonic, [AttrSizedOperandSegments, Exec_StepOpInterface]> {
  let arguments = !con((ins Variadic<Exec_BufferType>:$inputs,
                            Variadic<Exec_BufferType>:$outputs), fields);
  let assemblyFormat = "`(` $inputs `)` `->` `(` $outputs `)` attr-dict";
}

/// An op that creates a buffer for a tensor with these dims and elements.
class Exec_BufferOp<string mnemonic, dag extraArguments>
    : Exec_Op<mnemonic> {
  let arguments = !con(extraArguments,
                       (ins Mlc_DimsAttr:$dims, TypeAttr:$element,
                            OptionalAttr<StrAttr>:$name));
  let results = (outs Exec_BufferType:$buffer);
}

def Exec_ProgramOp : Exec_Op<"program", [IsolatedFromAbove, NoTerminator,
                                         SingleBlock, Symbol]> {
  let summary = "what the runtime does in one run of an entry";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Exec_SymbolOp : Exec_Op<"symbol"> {
  let summary = "an integer that is dim `dim` of input `input`";
  let arguments = (ins StrAttr:$name, I64Attr:$input, I64Attr:$dim);
  let assemblyFormat = "$name `from` `input` $input `dim` $dim attr-dict";
}

def Exec_CoordinateOp : Exec_Op<"coordinate"> {
  let summary = "an integer that is this rank's coordinate on an axis of the mesh";
  let arguments = (ins StrAttr:$name, StrAttr:$axis);
  let assemblyFormat = "$name `on` $axis attr-dict";
}

def Exec_BindOp : Exec_Op<"bind"> {
  let summary = "sets a symbol to element `element` of an integer tensor";
  let arguments = (ins StrAttr:$name, Exec_BufferType:$buffer, I64Attr:$element);
  let assemblyFormat = "$name `from` $buffer `[` $element `]` attr-dict";
}

def Exec_CheckOp : Exec_Op<"check"> {
  let summary = "a condition on symbols that must hold";
  let description = "`predicate` is eq, le or lt.";
  let arguments = (ins Mlc_IntExpr:$lhs,
                       Mlc_WordAttr<Mlc_ComparePredicate>:$predicate, Mlc_IntExpr:$rhs,
                       StrAttr:$message);
  let assemblyFormat = "$lhs $predicate $rhs `,` $message attr-dict";
}

/// For each dim, the axes of the mesh that split it; each splits the parts that
/// the one before it makes.
def Exec_SplitAttr : TypedArrayAttrBase<StrArrayAttr, "lists of axes">;

def Exec_InputOp : Exec_BufferOp<"input", (ins I64Attr:$index, OptionalAttr<Exec_SplitAttr>:$split)> {
  let summary = "the memory of an input of the program; never written";
  let description = "Dims that have axes in `split` are this rank's part of a whole.";
  let assemblyFormat = "$index `:` $element $dims (`split` $split^)? attr-dict";
}

def Exec_ConstantOp : Exec_BufferOp<"constant", (ins ElementsAttr:$value)> {
  let summary = "a weight, stored in the artifact; never written";
  let assemblyFormat = "$value `:` $element $dims attr-dict";
}

def Exec_ParameterOp : Exec_BufferOp<"parameter", (ins ElementsAttr:$value)> {
  let summary = "a weight that may be written between runs";
  let description = [{
    `value`, which the artifact stores, is what it holds until then. No step
    writes it.
  }];
  let assemblyFormat = "$value `:` $element $dims attr-dict";
}

def Exec_StateOp : Exec_BufferOp<"state", (ins StrAttr:$state, OptionalAttr<ElementsAttr>:$value,
    OptionalAttr<Exec_SplitAttr>:$split, OptionalAttr<DenseI64ArrayAttr>:$whole)> {
  let summary = "memory that lives across runs, shared by all programs of the module";
  let description = [{
    Where a `split` dim names an axis of the mesh, each of its ranks has a part:
    `dims` are the part's, `whole` and `value` the whole tensor's.

    It is called `state`; `value` is what it holds until it is set or assigned,
    and without one it holds nothing. Steps read what it held when the run
    began, whatever is assigned to it.
  }];
  let assemblyFormat = "$state (`=` $value^)? `:` $element $dims (`split` $split^ `of` $whole)? attr-dict";
}

def Exec_AssignOp : Exec_Op<"assign"> {
  let summary = "a buffer that a state's value is when the run has ended";
  let arguments = (ins Exec_BufferType:$state, Exec_BufferType:$value);
  let assemblyFormat = "$state `,` $value attr-dict";
}

def Exec_AllocOp : Exec_BufferOp<"alloc", (ins)> {
  let summary = "memory of the arena, placed by the planner";
  let assemblyFormat = "`:` $element $dims attr-dict";
}

def Exec_AliasOp : Exec_BufferOp<"alias", (ins Exec_BufferType:$source, Mlc_IntExpr:$offset)> {
  let summary = "a part of another buffer, `offset` bytes into it";
  let assemblyFormat = "$source `[` $offset `]` `:` $element $dims attr-dict";
}

def Exec_LaunchOp : Exec_Op<"launch", [AttrSizedOperandSegments, Exec_StepOpInterface]> {
  let summary = "runs a kernel";
  let description = [{
    `args` are the values of the kernel's `mlc.symbols`; `nodes` the model's
    nodes that it computes.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_BufferType>:$inputs,
                       Variadic<Exec_BufferType>:$outputs, Mlc_DimsAttr:$args,
                       OptionalAttr<Mlc_IntExpr>:$work, StrArrayAttr:$nodes);
  let assemblyFormat = "$kernel `(` $inputs `)` `->` `(` $outputs `)` `args` $args (`work` $work^)? `nodes` $nodes attr-dict";
}

def Exec_LibraryOp : Exec_Op<"library", [AttrSizedOperandSegments, Exec_StepOpInterface]> {
  let summary = "calls a kernel of the runtime's library";
  let arguments = (ins StrAttr:$kernel, Variadic<Exec_BufferType>:$inputs,
                       Variadic<Exec_BufferType>:$outputs, Mlc_DimsAttr:$args,
                       StrArrayAttr:$nodes);
  let assemblyFormat = "$kernel `(` $inputs `)` `->` `(` $outputs `)` `args` $args `nodes` $nodes attr-dict";
  let extraClassDeclaration = [{
    ::llvm::StringRef getStepName() { return getKernel(); }
  }];
}

def Exec_StartOp : Exec_Op<"start", [AttrSizedOperandSegments, Exec_StepOpInterface]> {
  let summary = "begins a collective among the ranks of an axis";
  let description = [{
    Each input with its output is a message; all_reduce and broadcast work in
    place. Nothing writes inputs, or touches outputs, until the `exec.wait` of
    the same ticket. What `args` are, of each `collective`, says CollectiveKind
    (runtime/Step.h).
  }];
  let arguments = (ins I64Attr:$ticket, StrAttr:$collective, StrAttr:$axis,
                       Variadic<Exec_BufferType>:$inputs,
                       Variadic<Exec_BufferType>:$outputs, Mlc_DimsAttr:$args,
                       OptionalAttr<Mlc_WordAttr<Mlc_Reduction>>:$reduction,
                       OptionalAttr<StrAttr>:$algorithm, StrArrayAttr:$nodes);
  let assemblyFormat = [{
    $ticket $collective `over` $axis `(` $inputs `)` `->` `(` $outputs `)`
    `args` $args (`reduction` $reduction^)? (`algorithm` $algorithm^)?
    `nodes` $nodes attr-dict
  }];
  let extraClassDeclaration = [{
    ::llvm::StringRef getStepName() { return getCollective(); }
  }];
}

def Exec_WaitOp : Exec_Op<"wait", [AttrSizedOperandSegments, Exec_StepOpInterface]> {
  let summary = "waits for a collective, whose buffers these are";
  let arguments = (ins I64Attr:$ticket, Variadic<Exec_BufferType>:$inputs,
                       Variadic<Exec_BufferType>:$outputs);
  let assemblyFormat = "$ticket `(` $inputs `)` `->` `(` $outputs `)` attr-dict";
}

def Exec_InverseTransformOp : Exec_Op<"inverse_transform", [Pure]> {
  let summary = "in a kernel: the tensor whose form for a faster algorithm is given";
  let description = [{
    `transform` is the back end's name of the algorithm (Backend::findTransform).
    The emitter of that algorithm reads `form` itself, so that nobody computes
    the result, which says what the kernel means: Winograd's convolution takes
    the transform U of a filter W with U = G W G^T, from which W follows.
  }];
  let arguments = (ins AnyRankedTensor:$form, StrAttr:$transform);
  let results = (outs AnyRankedTensor:$original);
  let assemblyFormat = "$transform $form attr-dict `:` type($form) `to` type($original)";
}

def Exec_OutputOp : Exec_Op<"output"> {
  let summary = "a buffer that is the program's next output";
  let description = "Dims that have axes in `split` are this rank's part of a whole.";
  let arguments = (ins StrAttr:$name, Exec_BufferType:$buffer, OptionalAttr<Exec_SplitAttr>:$split);
  let assemblyFormat = "$name $buffer (`split` $split^)? attr-dict";
}

#endif // MLC_DIALECTS_EXEC_EXEC
