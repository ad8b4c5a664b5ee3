//===- Dist.td - Tensors of many ranks ---------------------*- tablegen -*-===//

#ifndef MLC_DIALECTS_DIST_DIST
#define MLC_DIALECTS_DIST_DIST

include "dialects/Graph/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::mlc::dist";
  let summary = "programs of one rank among many, and what ranks exchange";
  let description = [{
    A function with operators of this dialect is what *each* rank does
    (docs/Partitioning.md). Its coordinate on the axis `data` of the mesh is the
    symbol `rank.data`, on which dims and attributes may depend. What a
    collective gives is defined over all ranks' tensors, stacked.
  }];
  let dependentDialects = ["::mlc::MlcDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

class Dist_Attr<string name, string attrMnemonic> : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Dist_AxisAttr : Dist_Attr<"Axis", "axis"> {
  let summary = "an axis of the mesh and how many ranks it has";
  let description = [{
    `#dist.axis<"data", 4>`, `#dist.axis<"data", N>`. Ranks that agree in all
    other coordinates are a group; collectives are among the ranks of one. The
    module's `dist.mesh` lists the axes; the last one's coordinate changes
    fastest with the rank.
  }];
  let parameters = (ins StringRefParameter<"name">:$name, "::mlc::IntExpr":$size);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The coordinate of a rank: the symbol `rank.NAME`.
    ::mlc::IntExpr getRank() const;
    /// Splits `extent` elements: part r begins at `getBegin` and has `getSize`
    /// elements. Parts differ by at most one, the larger ones first
    /// (runtime/transport/Schedule.h, partOf). Without a remainder there is no
    /// `rank` in the expressions.
    ::mlc::IntExpr getSize(::mlc::IntExpr extent) const;
    ::mlc::IntExpr getBegin(::mlc::IntExpr extent) const;
  }];
}

def Dist_ShardingAttr : Dist_Attr<"Sharding", "sharding"> {
  let summary = "which part of a tensor a rank has";
  let description = [{
    `#dist.sharding<["data", ""]>`: dim 0 is split over `data`, dim 1 is whole.
    `#dist.sharding<[["data", "fsdp"], ""]>`: dim 0 is split over `data`, and
    each part over `fsdp`. Axes of one dim stand in the order of the mesh.
    `#dist.sharding<["", ""], partial = ["data"]>`: the tensor is the sum of
    what the ranks of `data` have (or another reduction: `["data" max]`). On
    axes that are not named each rank has the same.

    On arguments and results of a function as `dist.sharding`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr">:$dims,
                        ArrayRefParameter<"::mlc::dist::Partial">:$partial);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// For each dim, the names of the axes that split it.
    using Axes = ::llvm::SmallVector<::llvm::SmallVector<::llvm::StringRef, 1>>;
    static ShardingAttr get(::mlir::MLIRContext *context, const Axes &dims);
    static ShardingAttr getReplicated(::mlir::MLIRContext *context, unsigned rank);
    bool isReplicated() const;
    /// Whether a rank has only a part of some dim.
    bool isSplit() const;
    /// The dim that is split over the axis.
    ::std::optional<unsigned> findDim(::llvm::StringRef axis) const;
  }];
}

def Dist_StackedOpInterface : OpInterface<"StackedOpInterface"> {
  let cppNamespace = "::mlc::dist";
  let description = [{
    What a collective gives, over the tensors of all ranks of a group: each
    operand and each result has the rank as its first dim.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the definition; input i is operand i of all ranks, [N, its dims],
      and result i likewise, N being the axis's size. For parts that are alike:
      an axis divides what is split on it, in parts that are not empty. That a
      root is one of the ranks, and a halo no more than a rank has, is required.
    }], "void", "defineStacked", (ins "::mlc::DefinitionBuilder &":$builder)>,
    InterfaceMethod<"The axis of whose groups the ranks exchange.",
      "::mlc::dist::AxisAttr", "getExchangeAxis", (ins), [{}],
      [{ return $_op.getAxis(); }]>,
    InterfaceMethod<[{
      Whether elements move along `dim` of the operand: no rank can do that to a
      part of it.
    }], "bool", "changesDim", (ins "unsigned":$operand, "unsigned":$dim), [{}],
      [{ return false; }]>,
  ];
}

/// A collective over the ranks of a group. Several tensors are one transfer, in
/// the order of the operands. The runtime executes it (runtime/Collectives.def
/// has a row of the same name). `changes` is the body of changesDim.
class Dist_Collective<string mnemonic, dag more, string changes = "return false;">
    : Op<Dist_Dialect, mnemonic, [Pure,
        DeclareOpInterfaceMethods<OpaqueOpInterface>,
        DeclareOpInterfaceMethods<Dist_StackedOpInterface,
                                  ["defineStacked", "changesDim"]>]> {
  // No library kernel of the runtime: Fuse turns these into program steps.
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getLibraryKernel() {
      return (*this)->getName().getStringRef();
    }
    ::llvm::SmallVector<::mlc::IntExpr> $cppClass::getLibraryArguments() {
      return {};
    }
    ::mlc::IntExpr $cppClass::countOperations() { return countExchanged(*this); }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Type>> $cppClass::inferOpaqueTypes() {
      return inferCollectiveTypes(*this);
    }
    bool $cppClass::changesDim(unsigned operand, unsigned dim) {
      }] # changes # [{
    }
  }];
  let arguments = !con((ins Variadic<Mlc_Tensor>:$operands, Dist_AxisAttr:$axis),
                       more);
  let results = (outs Variadic<Mlc_Tensor>:$results);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Dist_AllReduceOp : Dist_Collective<"all_reduce",
    (ins Mlc_WordAttr<Mlc_Reduction>:$reduction, OptionalAttr<StrAttr>:$algorithm)> {
  let summary = "every rank gets the reduction of what all have";
  let description = [{
    `reduction` is sum, max, min or prod; `algorithm` one of
    runtime/transport/Algorithms.def, or "own", the engine's (the default).
  }];
}

/// Each operand's `dims[i]` is whole on one side and split on the other. It has
/// `extents[i] * units[i]` elements: the rank has part `rank` of `extents[i]`,
/// in units of `units[i]` elements, which are never split. `algorithm` is
/// "own", the engine's, or a ring.
class Dist_PartCollective<string mnemonic, dag more>
    : Dist_Collective<mnemonic, !con((ins DenseI64ArrayAttr:$dims,
        Mlc_DimsAttr:$extents, Mlc_DimsAttr:$units,
        OptionalAttr<StrAttr>:$algorithm), more),
        "return getDims()[operand] == int64_t(dim);">;

def Dist_ReduceScatterOp : Dist_PartCollective<"reduce_scatter",
    (ins Mlc_WordAttr<Mlc_Reduction>:$reduction)> {
  let summary = "every rank gets its part of the reduction of what all have";
}

def Dist_AllGatherOp : Dist_PartCollective<"all_gather",
    (ins OptionalAttr<I64Attr>:$occasion)> {
  let summary = "every rank gets the parts of all";
  let description = [{
    Gatherings of one part on different occasions stay several: nobody keeps
    the whole from one to the next.
  }];
}

def Dist_AllToAllOp : Dist_Collective<"all_to_all",
    (ins I64Attr:$split, Mlc_IntExpr:$splitExtent, I64Attr:$join,
         Mlc_IntExpr:$joinExtent),
    "return getSplit() == dim || getJoin() == dim;"> {
  let summary = "what is split along `join` is split along `split` instead";
  let description = [{
    Of dim `split`, which is whole, each rank keeps its part; of dim `join`,
    which is split, it gets all. Extents are of the whole dims.
  }];
}

def Dist_BroadcastOp : Dist_Collective<"broadcast", (ins I64Attr:$root)> {
  let summary = "every rank gets what the rank `root` has";
}

def Dist_ShiftOp : Dist_Collective<"shift", (ins I64Attr:$by)> {
  let summary = "every rank gets what the rank `by` before it has";
  let description = [{
    A send to the rank `by` behind and a receive from the one as far before;
    where there is none, zeros. The operands have the same dims on all ranks.
  }];
}

def Dist_HaloOp : Dist_Collective<"halo",
    (ins I64Attr:$dim, I64Attr:$low, I64Attr:$high), "return getDim() == dim;"> {
  let summary = "a part with the elements beside it, which neighbours have";
  let description = [{
    Along `dim`, which is split, `low` elements of the ranks before and `high`
    of those behind; zeros where the tensor ends. Every rank has at least as
    many elements as its neighbours ask for.
  }];
}

#endif // MLC_DIALECTS_DIST_DIST
