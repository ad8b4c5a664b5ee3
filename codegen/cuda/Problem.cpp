//===- Problem.cpp - The problem that a skeleton solves -------------------===//

#include "codegen/cuda/Problem.h"
#include "codegen/cuda/FactorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mlc::cuda {

namespace {

/// Prints `struct Problem` of one kernel.
class ProblemPrinter : public ProblemText {
public:
  using ProblemText::ProblemText;

  std::string print(const SplitK &split, bool finishesRuns,
                    const FactorMap *mapA, const FactorMap *mapB);

private:
  void size(StringRef name, IntExpr value);
  bool isWindow(const Access &access, ArrayRef<unsigned> rows) const;
  void side(StringRef name, StringRef row, const Access &access,
            ArrayRef<unsigned> rows, ArrayRef<Operation *> casts);
  void place(StringRef name, StringRef function, StringRef parameters,
             const Access &access,
             ArrayRef<std::pair<StringRef, ArrayRef<unsigned>>> parts,
             bool hasOffset);
  void inside(StringRef name, const Access &access);
  void load(StringRef name, const Access &access, ArrayRef<Operation *> casts);
  void bits(StringRef name, const Access &access);
  void copy(StringRef name, StringRef row, const Access &access,
            ArrayRef<unsigned> rows, const FactorMap &map);
  std::string copyOfBox(ElementPrinter &printer, StringRef row,
                        const Access &access, const FactorMap &map);
  std::string copyOfPixels(ElementPrinter &printer, StringRef row,
                           ArrayRef<unsigned> rows, const FactorMap &map);
};

} // namespace

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// The element of `place`.
static std::string elementAt(const Access &access) {
  return access.divisor == 1 ? "place.at"
                             : "place.at / " + std::to_string(access.divisor);
}

void ProblemText::method(StringRef type, StringRef name, StringRef parameters,
                         Fill fill) {
  Code code(2);
  ElementPrinter printer(kernel, code);
  printer.head = Code(2);
  std::string result = fill(printer, code);
  text +=
      ("  MLC_DEVICE " + type + " " + name + "(" + parameters + ") const {\n")
          .str();
  text += printer.head.text() + code.text();
  if (!result.empty())
    text += "    return " + result + ";\n";
  text += "  }\n";
  to.printer.helpers.add(printer.helpers);
  to.printer.constants += printer.constants;
  to.printer.failed |= printer.failed;
}

void ProblemPrinter::size(StringRef name, IntExpr value) {
  method("Index", name, "", [&](ElementPrinter &printer, Code &) {
    return printer.size(value).text;
  });
}

Indices ProblemText::placesOf(ElementPrinter &printer, StringRef flat,
                              ArrayRef<unsigned> dims) {
  SmallVector<IntExpr> extents;
  for (unsigned d : dims)
    extents.push_back(c.dims[d].extent);
  return printer.unflatten(Index(flat.str()), extents);
}

std::string ProblemText::pointerOf(Value input) const {
  auto found = llvm::find(kernel.inputs, input);
  return "in" + std::to_string(found - kernel.inputs.begin());
}

/// A struct of an element's offset and its index along each bounded dim, and
/// the functions that make and use one.
/// Whether rows read places in common: both a dim of rows and one of K span
/// more than a step of the other.
bool ProblemPrinter::isWindow(const Access &access,
                              ArrayRef<unsigned> rows) const {
  struct Dim {
    int64_t step, span;
  };
  auto look = [&](unsigned d) {
    int64_t step = access.strides[d].asConstant().value_or(0);
    return Dim{step, step * c.dims[d].extent.asConstant().value_or(0)};
  };
  return !access.bounds.empty() || llvm::any_of(rows, [&](unsigned row) {
    return llvm::any_of(roles.k, [&](unsigned k) {
      Dim ofRow = look(row), ofK = look(k);
      return ofRow.step > 0 && ofK.step > 0 && ofK.span > ofRow.step &&
             ofRow.span > ofK.step;
    });
  });
}

void ProblemPrinter::side(StringRef name, StringRef row, const Access &access,
                          ArrayRef<unsigned> rows,
                          ArrayRef<Operation *> casts) {
  std::string type = ("Place" + name).str(), fields = "at",
              sums = "x.at + y.at";
  for (size_t i = 0; i < access.bounds.size(); ++i) {
    std::string field = "along" + std::to_string(i);
    fields += ", " + field;
    sums += ", x." + field + " + y." + field;
  }
  text += "  struct " + type + " {\n    Index " + fields +
          ";\n    MLC_DEVICE friend " + type + " operator+(" + type + " x, " +
          type + " y) {\n      return {" + sums + "};\n    }\n  };\n";
  text += ("  static constexpr bool readsAgain" + name + " = ").str() +
          (isWindow(access, rows) ? "true" : "false") + ";\n";
  place(name, ("place" + name).str(), ("Index batch, Index " + row).str(),
        access, {{"batch", roles.batch}, {row, rows}}, /*hasOffset=*/true);
  place(name, ("step" + name).str(), "Index k", access, {{"k", roles.k}},
        /*hasOffset=*/false);
  inside(name, access);
  load(name, access, casts);
  method("const void *", ("address" + name).str(), type + " place",
         [&](ElementPrinter &, Code &) {
           return pointerOf(access.tensor) + " + " + elementAt(access);
         });
}

void ProblemPrinter::place(
    StringRef name, StringRef function, StringRef parameters,
    const Access &access,
    ArrayRef<std::pair<StringRef, ArrayRef<unsigned>>> parts, bool hasOffset) {
  method(("Place" + name).str(), function, parameters,
         [&](ElementPrinter &printer, Code &) {
           SmallVector<std::pair<unsigned, Index>> indices;
           for (auto [flat, dims] : parts) {
             SmallVector<IntExpr> extents;
             SmallVector<unsigned> runs = joinRuns(c, access, dims, extents);
             for (auto [d, index] : llvm::zip_equal(
                      runs, printer.unflatten(Index(flat.str()), extents)))
               indices.push_back({d, index});
           }
           auto sum = [&](IntExpr offset, ArrayRef<IntExpr> strides) {
             Index at = hasOffset ? printer.size(offset) : Index(0);
             for (auto &[d, index] : indices)
               at = printer.add(at,
                                printer.mul(index, printer.size(strides[d])));
             return at.text;
           };
           std::string all = sum(access.offset, access.strides);
           for (const Bound &bound : access.bounds)
             all += ", " + sum(bound.offset, bound.strides);
           return "{" + all + "}";
         });
}

void ProblemPrinter::inside(StringRef name, const Access &access) {
  method("bool", ("inside" + name).str(), ("Place" + name + " place").str(),
         [&](ElementPrinter &printer, Code &) {
           std::string all;
           for (auto [i, bound] : llvm::enumerate(access.bounds)) {
             std::string at = "place.along" + std::to_string(i);
             all += (i ? " && " : "") + at + " >= 0 && " + at + " < " +
                    printer.size(bound.extent).text;
             if (bound.divisor != 1)
               all += " && " + at + " % " + std::to_string(bound.divisor) +
                      " == 0";
           }
           return all.empty() ? "true" : all;
         });
}

void ProblemPrinter::load(StringRef name, const Access &access,
                          ArrayRef<Operation *> casts) {
  method(computeType(c.accumulator), ("load" + name).str(),
         ("Place" + name + " place").str(),
         [&](ElementPrinter &printer, Code &code) {
           View view;
           view.pointer = pointerOf(access.tensor);
           view.offset = Index(0);
           view.strides = {Index(1)};
           view.element = access.element;
           std::string value;
           Index at(elementAt(access));
           if (access.bounds.empty()) {
             value = printer.load(view, {at});
           } else {
             value = code.fresh("x");
             code.line(computeType(access.element) + " " + value + " = " +
                       literal(access.padValue) + ";");
             code.block(("if (inside" + name + "(place))").str(), [&] {
               code.line(value + " = " + printer.load(view, {at}) + ";");
             });
           }
           for (Operation *cast : casts)
             value = printer.compute(cast, {value});
           return value;
         });
}

/// The stored bits of an element. Where the tensor has elements, the first one
/// is read instead of one outside: a selection takes less time than a branch.
void ProblemPrinter::bits(StringRef name, const Access &access) {
  method(
      "uint32_t", ("bits" + name).str(),
      ("Place" + name + " place, bool isStored").str(),
      [&](ElementPrinter &, Code &code) {
        std::optional<int64_t> count =
            elementCount(kernel.shapeOf(access.tensor), c.context).asConstant();
        std::string at = elementAt(access), inside = "isStored";
        if (!access.bounds.empty())
          inside = code.define("bool", "inside",
                               "isStored && inside" + name + "(place)");
        auto read = [&](const std::string &place) {
          return "bitsOf(" + pointerOf(access.tensor) + "[" + place + "])";
        };
        std::string stored =
            count.value_or(0) > 0
                ? code.define("uint32_t", "x",
                              read(inside + " ? " + at + " : 0"))
                : read(at);
        std::string outside = "0";
        if (access.padValue)
          outside = "isStored ? bitsOf(" +
                    toStorage(access.element, literal(access.padValue)) +
                    ") : 0";
        return inside + " ? " + stored + " : " + outside;
      });
}

void ProblemPrinter::copy(StringRef name, StringRef row, const Access &access,
                          ArrayRef<unsigned> rows, const FactorMap &map) {
  std::string parameters = "void *to, const TensorMap *map, uint64_t *barrier, "
                           "Index batch, Index " +
                           row.str() + ", Index k";
  method("void", ("copy" + name).str(), parameters,
         [&](ElementPrinter &printer, Code &code) {
           code.line(map.map.isForPixels()
                         ? copyOfPixels(printer, row, rows, map)
                         : copyOfBox(printer, row, access, map));
           return std::string();
         });
}

std::string ProblemPrinter::copyOfBox(ElementPrinter &printer, StringRef row,
                                      const Access &access,
                                      const FactorMap &map) {
  SmallVector<IntExpr> extents;
  joinRuns(c, access, roles.batch, extents);
  Indices batch = printer.unflatten(Index("batch"), extents);
  std::string call = "copyTensor(to, map, barrier";
  for (const FactorMap::Dim &dim : map.dims)
    call += ", int(" +
            (dim.role == FactorMap::Role::K     ? "k"
             : dim.role == FactorMap::Role::Row ? row.str()
                                                : batch[dim.run].text) +
            ")";
  return call + ");";
}

std::string ProblemPrinter::copyOfPixels(ElementPrinter &printer, StringRef row,
                                         ArrayRef<unsigned> rows,
                                         const FactorMap &map) {
  Indices places(c.dims.size(), Index(0));
  for (auto [d, place] : llvm::zip_equal(rows, placesOf(printer, row, rows)))
    places[d] = place;
  for (auto [d, place] :
       llvm::zip_equal(roles.k, placesOf(printer, "k", roles.k)))
    places[d] = place;
  auto sum = [&](const Index &place, int64_t by, int64_t offset) {
    return printer.add(printer.mul(place, Index(by)), Index(offset)).text;
  };
  std::string call =
      "copyPixels(to, map, barrier, int(" + places[roles.k.back()].text + ")";
  for (const FactorMap::PixelDim &dim : map.pixelDims)
    call += ", int(" +
            (dim.row ? sum(places[*dim.row], dim.step, dim.offset) : "0") + ")";
  for (const FactorMap::PixelDim &dim : ArrayRef(map.pixelDims).drop_back())
    call += ", uint16_t(" +
            (dim.k ? sum(places[*dim.k], dim.dilation, 0) : "0") + ")";
  return call + ");";
}

std::string ProblemPrinter::print(const SplitK &split, bool finishesRuns,
                                  const FactorMap *mapA,
                                  const FactorMap *mapB) {
  text = "\n/// The contraction of this kernel, as the skeleton asks for it.\n"
         "struct Problem {\n";
  for (auto [i, input] : llvm::enumerate(kernel.inputs))
    text += "  const " + storageType(elementOf(input)) + " *__restrict__ in" +
            std::to_string(i) + ";\n";
  for (auto [i, output] : llvm::enumerate(kernel.outputs))
    text += "  " + storageType(elementOf(output)) + " *__restrict__ out" +
            std::to_string(i) + ";\n";
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    text += "  long long s" + std::to_string(i) + ";\n";
  size("rows", product(c, roles.rows));
  size("columns", product(c, roles.columns));
  size("K", product(c, roles.k));
  std::optional<int64_t> terms = product(c, roles.k).asConstant();
  bool hasFewSteps = terms && *terms * storageBytes(c.x.element) <= 8 * 128;
  text += std::string("  static constexpr bool hasFewSteps = ") +
          (hasFewSteps ? "true" : "false") + ";\n";
  size("batches", product(c, roles.batch));
  size("parts", split.parts);
  side("A", "m", roles.a(c), roles.rows, roles.aCasts(c));
  side("B", "n", roles.b(c), roles.columns, roles.bCasts(c));
  if (finishesRuns) {
    bits("A", roles.a(c));
    bits("B", roles.b(c));
  }
  if (mapA)
    copy("A", "m", roles.a(c), roles.rows, *mapA);
  if (mapB)
    copy("B", "n", roles.b(c), roles.columns, *mapB);
  return text +
         (finishesRuns ? printFinishOfRuns(to, c, roles)
                       : printFinish(to, c, roles)) +
         "};\n";
}

std::string printProblem(KernelPrinter &to, const Contraction &c,
                         const Roles &roles, const SplitK &split,
                         bool finishesRuns, const FactorMap *mapA,
                         const FactorMap *mapB) {
  return ProblemPrinter(to, c, roles).print(split, finishesRuns, mapA, mapB);
}

} // namespace mlc::cuda
