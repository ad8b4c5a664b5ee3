//===- Attributes.td - The mlc dialect and its attributes --*- tablegen -*-===//

#ifndef MLC_DIALECTS_SYMBOLIC_ATTRIBUTES
#define MLC_DIALECTS_SYMBOLIC_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpBase.td"

def Mlc_Dialect : Dialect {
  let name = "mlc";
  let cppNamespace = "::mlc";
  let summary = "graphs of tensor operators, each with one definition";
  let description = [{
    Values are builtin ranked tensors. Unknown dims are symbolic: the type
    carries them as encoding, `tensor<?x3xf32, #mlc.dims<[N, 3]>>`. Every
    operator states its meaning once, in index notation (Definition.h).
  }];
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser,
                                   mlir::Type type) const override;
    void printAttribute(mlir::Attribute attribute,
                        mlir::DialectAsmPrinter &printer) const override;
  }];
}

class Mlc_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Mlc_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Mlc_DimsAttr
    : Mlc_Attr<"Dims", "dims",
               [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "a list of symbolic integers";
  let description = [{
    `#mlc.dims<[N, 3, 2 * W + 1]>`. As the encoding of a ranked tensor it names
    the dims, one for each; as an operator attribute it holds strides, padding,
    offsets and the like.
  }];
  let parameters = (ins ArrayRefParameter<"::mlc::IntExpr">:$dims);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getDims().size(); }
    bool empty() const { return getDims().empty(); }
    ::mlc::IntExpr operator[](size_t i) const { return getDims()[i]; }
    auto begin() const { return getDims().begin(); }
    auto end() const { return getDims().end(); }
    /// Constant dims.
    static DimsAttr get(::mlir::MLIRContext *context,
                        ::llvm::ArrayRef<int64_t> values);
    /// All values if every dim is constant.
    ::std::optional<::llvm::SmallVector<int64_t>> asConstants() const;
  }];
}

def Mlc_RealAttr : Mlc_Attr<"Real", "real"> {
  let summary = "a real number or a named real parameter";
  let description = [{
    `#mlc.real<1.0e-05>` in models, `#mlc.real<eps>` in rules.
  }];
  // A symbol if `symbol` is not empty, else the value.
  let parameters = (ins StringRefParameter<"name">:$symbol, "::mlc::ExactDouble":$value);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool isSymbol() const { return !getSymbol().empty(); }
    double getDouble() const { return getValue().value; }
    static RealAttr get(::mlir::MLIRContext *context, double value);
    static RealAttr getSymbolic(::mlir::MLIRContext *context,
                                ::llvm::StringRef symbol);
  }];
}

def Mlc_LayoutAttr : Mlc_Attr<"Layout", "layout"> {
  let summary = "how the dims of a tensor are stored";
  let description = [{
    The stored dims in terms of the tensor's own, a, b, c, ...:

    `#mlc.layout<[a, c, d, b]>` has channels last,
    `#mlc.layout<[a, b div 16, c, d, b mod 16], b = 24>` blocks of 16 of its 24
    channels, the second filled up with 8 more, and
    `#mlc.layout<[a, b div 16, c, b mod 16], b = 48 in 2>` two groups of 24
    channels, each in blocks of its own. A dim that is not stored has size 1:
    `#mlc.layout<[a div 8, c, a mod 8], a = 32, b = 1>`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlc::StoredDim">:$order,
                        ArrayRefParameter<"::mlc::DimSplit">:$splits);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout that stores the tensor unchanged.
    static LayoutAttr getPlain(::mlir::MLIRContext *context, unsigned rank);
    bool isPlain() const;
    /// The rank of the tensor.
    unsigned getRank() const;
    /// How dim `d` is split or omitted; null if it is stored as it is.
    const ::mlc::DimSplit *getSplit(unsigned d) const;
    /// Whether some block has lanes without an element of the tensor.
    bool isFilled() const;
    /// The stored dims of a tensor with these dims; nothing if they do not fit.
    ::std::optional<::llvm::SmallVector<::mlc::IntExpr>>
    getStoredDims(::llvm::ArrayRef<::mlc::IntExpr> dims) const;
    /// The dims of a tensor with these stored dims; nothing if they do not fit.
    ::std::optional<::llvm::SmallVector<::mlc::IntExpr>>
    getDims(::llvm::ArrayRef<::mlc::IntExpr> stored) const;
  }];
}

#endif // MLC_DIALECTS_SYMBOLIC_ATTRIBUTES
