//===- LinalgText.cpp - Expressions over tensors as functions of linalg ---===//

#include "Linalg.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::SmallVector;
using llvm::StringRef;
using Kind = mlc::test::Tree::Kind;

namespace mlc::test {

namespace {

std::string tensorType(unsigned rank, StringRef type) {
  std::string text = "tensor<";
  for (unsigned i = 0; i < rank; ++i)
    text += "?x";
  return text + type.str() + ">";
}
std::string typeOf(const TreeRef &tree) {
  return tensorType(tree->dims.size(), tree->type);
}

std::string numberText(int64_t value, StringRef type) {
  if (type == "i1")
    return value ? "true" : "false";
  return std::to_string(value) + (isFloat(type) ? ".0" : "") + " : " +
         type.str();
}

/// Where a reduction begins.
std::string neutralText(StringRef monoid, StringRef type) {
  unsigned width = type == "f64" ? 64 : std::stoi(type.drop_front().str());
  auto integer = [&](uint64_t bits) {
    return std::to_string(llvm::SignExtend64(bits, width)) + " : " + type.str();
  };
  bool isReal = isFloat(type);
  if (monoid == "arith.mulf" || monoid == "arith.muli")
    return numberText(1, type);
  if (monoid == "arith.maximumf")
    return "0xFFF0000000000000 : f64";
  if (monoid == "arith.minimumf")
    return "0x7FF0000000000000 : f64";
  if (monoid == "arith.maxsi")
    return integer(uint64_t(1) << (width - 1));
  if (monoid == "arith.minsi")
    return integer((uint64_t(1) << (width - 1)) - 1);
  if (!isReal && monoid == "arith.andi")
    return integer(~uint64_t(0));
  return numberText(0, type);
}

class Writer {
public:
  Writer(const LinalgPair &pair, bool isPlain, Random &random)
      : pair(pair), isPlain(isPlain), random(random), os(text) {}

  std::string run(const TreeRef &tree, StringRef name) {
    std::string head = "func.func @" + name.str() + "(";
    for (const TreeRef &one : pair.arguments)
      head += (one->number ? ", %a" : "%a") + std::to_string(one->number) +
              ": " + typeOf(one);
    std::string result = emit(tree);
    os << "  return " << result << " : " << typeOf(tree) << "\n}\n";
    return head + ") -> " + typeOf(tree) + " {\n" + text;
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  bool maybe(unsigned oneIn) { return random() % oneIn == 0; }
  std::string fresh() { return "%" + std::to_string(next++); }
  /// A line `%n = <what>`.
  std::string line(const std::string &what) {
    std::string name = fresh();
    os << "  " << name << " = " << what << '\n';
    return name;
  }
  std::string index(int64_t value) {
    return size(
        IntExpr::constant(pair.arguments[0]->dims[0].getContext(), value));
  }

  /// The value of a size; those of loops are made before.
  std::string size(IntExpr expr) {
    auto it = sizes.find(expr);
    if (it != sizes.end())
      return it->second;
    return sizes[expr] = newSize(expr);
  }
  std::string newSize(IntExpr expr) {
    if (expr.isConstant())
      return line("arith.constant " + std::to_string(*expr.asConstant()) +
                  " : index");
    if (expr.getKind() == IntExpr::Kind::Symbol) {
      std::string at = index(expr.getSymbol() == "n" ? 0 : 1);
      return line("tensor.dim %a0, " + at + " : " + typeOf(pair.arguments[0]));
    }
    const char *name = nullptr;
    switch (expr.getKind()) {
    case IntExpr::Kind::Add:
      name = "arith.addi";
      break;
    case IntExpr::Kind::Mul:
      name = "arith.muli";
      break;
    case IntExpr::Kind::FloorDiv:
      name = "arith.floordivsi";
      break;
    case IntExpr::Kind::Mod:
      name = "arith.remsi";
      break;
    case IntExpr::Kind::Min:
      name = "arith.minsi";
      break;
    default:
      name = "arith.maxsi";
    }
    std::string value = size(expr.getOperands()[0]);
    for (IntExpr operand : expr.getOperands().drop_front()) {
      std::string other = size(operand);
      value = line(std::string(name) + " " + value + ", " + other + " : index");
    }
    return value;
  }

  std::string empty(llvm::ArrayRef<std::string> dims, StringRef type) {
    return line("tensor.empty(" + llvm::join(dims, ", ") +
                ") : " + tensorType(dims.size(), type));
  }
  std::string emptyLike(const TreeRef &tree) {
    SmallVector<std::string> dims;
    for (IntExpr dim : tree->dims)
      dims.push_back(size(dim));
    return empty(dims, tree->type);
  }

  std::string emit(const TreeRef &tree) {
    auto it = done.find(tree.get());
    if (it != done.end())
      return it->second;
    return done[tree.get()] = write(tree);
  }

  std::string write(const TreeRef &tree) {
    switch (tree->kind) {
    case Kind::Argument:
      // A copy says that it has the dims which the first argument gives it.
      return isPlain && tree->number ? writeMap(tree)
                                     : "%a" + std::to_string(tree->number);
    case Kind::Map:
    case Kind::Constant:
    case Kind::Index:
    case Kind::Broadcast:
      return !isPlain && maybe(4) ? writeTiles(tree) : writeMap(tree);
    case Kind::Reduce:
      return writeReduce(tree);
    case Kind::Contract:
      return writeContract(tree);
    case Kind::Transpose: {
      if (maybe(2))
        return writeMap(tree);
      std::string x = emit(tree->operands[0]), out = emptyLike(tree);
      return line("linalg.transpose ins(" + x + " : " +
                  typeOf(tree->operands[0]) + ") outs(" + out + " : " +
                  typeOf(tree) + ") permutation = [1, 0]");
    }
    case Kind::Slice:
      return writeSlice(tree);
    case Kind::Pad:
      return writePad(tree);
    case Kind::Collapse:
      return line("tensor.collapse_shape " + emit(tree->operands[0]) +
                  " [[0, 1]] : " + typeOf(tree->operands[0]) + " into " +
                  typeOf(tree));
    case Kind::Expand: {
      std::string x = emit(tree->operands[0]), n = size(tree->dims[0]),
                  m = size(tree->dims[1]);
      return line("tensor.expand_shape " + x + " [[0, 1]] output_shape [" + n +
                  ", " + m + "] : " + typeOf(tree->operands[0]) + " into " +
                  typeOf(tree));
    }
    }
    llvm_unreachable("unknown kind");
  }

  std::string writeSlice(const TreeRef &tree) {
    std::string offsets, extents, steps;
    std::string x = emit(tree->operands[0]);
    for (unsigned i = 0; i < tree->dims.size(); ++i) {
      const char *comma = i ? ", " : "";
      bool isAxis = i == tree->axis;
      offsets += comma + std::to_string(isAxis ? tree->number : 0);
      extents += comma + size(tree->dims[i]);
      steps += comma + std::to_string(isAxis ? tree->step : 1);
    }
    return line("tensor.extract_slice " + x + "[" + offsets + "] [" + extents +
                "] [" + steps + "] : " + typeOf(tree->operands[0]) + " to " +
                typeOf(tree));
  }

  std::string writePad(const TreeRef &tree) {
    std::string x = emit(tree->operands[0]);
    std::string value =
        line("arith.constant " + numberText(tree->number, tree->type));
    std::string low, high, indices;
    for (unsigned i = 0; i < tree->dims.size(); ++i) {
      const char *comma = i ? ", " : "";
      bool isAxis = i == tree->axis;
      low += comma + std::to_string(isAxis ? tree->low : 0);
      high += comma + std::to_string(isAxis ? tree->high : 0);
      indices += comma + fresh() + ": index";
    }
    return line("tensor.pad " + x + " low[" + low + "] high[" + high +
                "] {\n  ^bb0(" + indices + "):\n    tensor.yield " + value +
                " : " + tree->type + "\n  } : " + typeOf(tree->operands[0]) +
                " to " + typeOf(tree));
  }

  /// What a region takes from outside: a tensor, and its axes as axes of the
  /// result.
  struct Leaf {
    TreeRef tree;
    SmallVector<unsigned> axes;
    std::string argument;
    std::string value = {}; // empty: the tree's
  };
  struct Region {
    std::vector<Leaf> leaves;
    std::string body, result;
    std::string tileStart; // of axis 0, if that is tiled
  };

  /// Adds the tree's element at these axes to a region.
  std::string inRegion(const TreeRef &tree, llvm::ArrayRef<unsigned> axes,
                       llvm::ArrayRef<unsigned> loops, Region &region,
                       bool isRoot) {
    auto add = [&](const std::string &what) {
      std::string name = fresh();
      region.body += "    " + name + " = " + what + "\n";
      return name;
    };
    bool isFused = isRoot || maybe(2);
    if (tree->kind == Kind::Argument && isRoot) {
      std::string name = "%a" + std::to_string(tree->number);
      region.leaves.push_back({tree, SmallVector<unsigned>(axes),
                               "%e" + std::to_string(next++), name});
      return region.leaves.back().argument;
    }
    if (tree->kind == Kind::Constant)
      return add("arith.constant " + numberText(tree->number, tree->type));
    if (tree->kind == Kind::Index) {
      unsigned axis = axes[tree->axis];
      std::string at =
          add("linalg.index " + std::to_string(loops[axis]) + " : index");
      if (axis == 0 && !region.tileStart.empty())
        at = add("arith.addi " + at + ", " + region.tileStart + " : index");
      return add("arith.index_cast " + at + " : index to " + tree->type);
    }
    if (isFused && tree->kind == Kind::Transpose)
      return inRegion(tree->operands[0], {axes[1], axes[0]}, loops, region,
                      false);
    if (isFused && tree->kind == Kind::Broadcast)
      return inRegion(tree->operands[0], {axes[tree->axis]}, loops, region,
                      false);
    if (!isFused || tree->kind != Kind::Map) {
      region.leaves.push_back(
          {tree, SmallVector<unsigned>(axes), "%e" + std::to_string(next++)});
      return region.leaves.back().argument;
    }
    SmallVector<std::string> values;
    for (const TreeRef &operand : tree->operands)
      values.push_back(inRegion(operand, axes, loops, region, false));
    std::string call = tree->name + (tree->name.find("cmp") == 6 ? ", " : " ") +
                       llvm::join(values, ", ") + " : ";
    bool isCast = StringRef(tree->name).contains("ext") ||
                  StringRef(tree->name).contains("trunc") ||
                  StringRef(tree->name).contains("tofp");
    return add(call + tree->operands[tree->name == "arith.select"]->type +
               (isCast ? " to " + tree->type : ""));
  }

  SmallVector<unsigned> someOrder(unsigned rank) {
    SmallVector<unsigned> loops;
    for (unsigned i = 0; i < rank; ++i)
      loops.push_back(i);
    for (unsigned i = rank; i > 1; --i)
      std::swap(loops[i - 1], loops[below(i)]);
    return loops;
  }
  static std::string mapText(llvm::ArrayRef<unsigned> axes,
                             llvm::ArrayRef<unsigned> loops) {
    SmallVector<std::string> all, used;
    for (unsigned i = 0; i < loops.size(); ++i)
      all.push_back("d" + std::to_string(i));
    for (unsigned axis : axes)
      used.push_back("d" + std::to_string(loops[axis]));
    return "affine_map<(" + llvm::join(all, ", ") + ") -> (" +
           llvm::join(used, ", ") + ")>";
  }

  /// A generic over axes, of which `reduced` is none of the result's.
  std::string generic(const Region &region, llvm::ArrayRef<std::string> inputs,
                      llvm::ArrayRef<unsigned> loops, int reduced,
                      const std::string &out, const std::string &outArgument,
                      unsigned rank, StringRef type) {
    SmallVector<std::string> maps, kinds(loops.size(), "\"parallel\""), types,
        arguments;
    for (const Leaf &leaf : region.leaves) {
      maps.push_back(mapText(leaf.axes, loops));
      types.push_back(typeOf(leaf.tree));
      arguments.push_back(leaf.argument + ": " + leaf.tree->type);
    }
    SmallVector<unsigned> outer;
    for (unsigned i = 0; i < loops.size(); ++i)
      if (int(i) != reduced)
        outer.push_back(i);
    maps.push_back(mapText(outer, loops));
    if (reduced >= 0)
      kinds[loops[reduced]] = "\"reduction\"";
    arguments.push_back(outArgument + ": " + type.str());
    std::string ins = inputs.empty()
                          ? ""
                          : "ins(" + llvm::join(inputs, ", ") + " : " +
                                llvm::join(types, ", ") + ") ";
    std::string outType = tensorType(rank, type);
    return line("linalg.generic {indexing_maps = [" + llvm::join(maps, ", ") +
                "], iterator_types = [" + llvm::join(kinds, ", ") + "]} " +
                ins + "outs(" + out + " : " + outType + ") {\n  ^bb0(" +
                llvm::join(arguments, ", ") + "):\n" + region.body +
                "    linalg.yield " + region.result + " : " + type.str() +
                "\n  } -> " + outType);
  }

  SmallVector<std::string> emitLeaves(const Region &region) {
    SmallVector<std::string> inputs;
    for (const Leaf &leaf : region.leaves)
      inputs.push_back(leaf.value.empty() ? emit(leaf.tree) : leaf.value);
    return inputs;
  }

  std::string writeMap(const TreeRef &tree) {
    unsigned rank = tree->dims.size();
    SmallVector<unsigned> loops = someOrder(rank), axes;
    for (unsigned i = 0; i < rank; ++i)
      axes.push_back(i);
    Region region;
    region.result = inRegion(tree, axes, loops, region, true);
    SmallVector<std::string> inputs = emitLeaves(region);
    std::string out = emptyLike(tree);
    return generic(region, inputs, loops, -1, out, fresh(), rank, tree->type);
  }

  /// The map tile by tile along axis 0.
  std::string writeTiles(const TreeRef &tree) {
    unsigned rank = tree->dims.size();
    SmallVector<unsigned> loops = someOrder(rank), axes;
    for (unsigned i = 0; i < rank; ++i)
      axes.push_back(i);
    Region region;
    region.tileStart = fresh();
    region.result = inRegion(tree, axes, loops, region, true);
    SmallVector<std::string> inputs = emitLeaves(region);
    std::string out = emptyLike(tree), zero = index(0),
                step = index(1 + below(4)), end = size(tree->dims[0]);
    SmallVector<std::string> extents;
    for (IntExpr dim : tree->dims)
      extents.push_back(size(dim));
    std::string result = fresh(), rest = fresh(), acc = fresh(),
                type = typeOf(tree), tile = fresh();
    os << "  " << result << " = scf.for " << region.tileStart << " = " << zero
       << " to " << end << " step " << step << " iter_args(" << acc << " = "
       << out << ") -> (" << type << ") {\n  " << rest << " = arith.subi "
       << end << ", " << region.tileStart << " : index\n  " << tile
       << " = arith.minsi " << rest << ", " << step << " : index\n";
    auto place = [&](llvm::ArrayRef<unsigned> of) {
      SmallVector<std::string> offsets, sizes, steps(of.size(), "1");
      for (unsigned axis : of) {
        offsets.push_back(axis ? "0" : region.tileStart);
        sizes.push_back(axis ? extents[axis] : tile);
      }
      return "[" + llvm::join(offsets, ", ") + "] [" + llvm::join(sizes, ", ") +
             "] [" + llvm::join(steps, ", ") + "]";
    };
    for (auto [leaf, input] : llvm::zip(region.leaves, inputs))
      input = line("tensor.extract_slice " + input + place(leaf.axes) + " : " +
                   typeOf(leaf.tree) + " to " + typeOf(leaf.tree));
    extents[0] = tile;
    std::string part = empty(extents, tree->type);
    part = generic(region, inputs, loops, -1, part, fresh(), rank, tree->type);
    part = line("tensor.insert_slice " + part + " into " + acc + place(axes) +
                " : " + type + " into " + type);
    os << "  scf.yield " << part << " : " << type << "\n  }\n";
    return result;
  }

  std::string filled(const TreeRef &like, StringRef monoid) {
    std::string value =
        line("arith.constant " + neutralText(monoid, like->type));
    std::string out = emptyLike(like);
    return line("linalg.fill ins(" + value + " : " + like->type + ") outs(" +
                out + " : " + typeOf(like) + ") -> " + typeOf(like));
  }

  void accumulate(Region &region, StringRef monoid, const std::string &value,
                  const std::string &total, StringRef type) {
    std::string a = total, b = value;
    if (maybe(2))
      std::swap(a, b);
    region.result = fresh();
    region.body += "    " + region.result + " = " + monoid.str() + " " + a +
                   ", " + b + " : " + type.str() + "\n";
  }

  std::string writeReduce(const TreeRef &tree) {
    SmallVector<unsigned> loops = someOrder(2);
    Region region;
    std::string value =
        inRegion(tree->operands[0], {0, 1}, loops, region, false);
    std::string total = fresh();
    accumulate(region, tree->name, value, total, tree->type);
    // A loop's range is read from an operand, so one needs them all.
    if (llvm::none_of(region.leaves,
                      [](const Leaf &leaf) { return leaf.axes.size() == 2; }))
      region = asOneLeaf(tree, value, total);
    SmallVector<std::string> inputs = emitLeaves(region);
    std::string out = filled(tree, tree->name);
    return generic(region, inputs, loops, tree->axis, out, total, 1,
                   tree->type);
  }
  Region asOneLeaf(const TreeRef &tree, const std::string &,
                   const std::string &total) {
    Region region;
    region.leaves.push_back(
        {tree->operands[0], {0, 1}, "%e" + std::to_string(next++)});
    accumulate(region, tree->name, region.leaves[0].argument, total,
               tree->type);
    return region;
  }

  std::string writeContract(const TreeRef &tree) {
    bool isReal = isFloat(tree->type);
    StringRef sum = isReal ? "arith.addf" : "arith.addi";
    SmallVector<unsigned> loops = someOrder(3);
    Region region;
    auto side = [&](unsigned i, SmallVector<unsigned> axes) {
      TreeRef operand = tree->operands[i];
      if (operand->kind == Kind::Transpose && maybe(2)) {
        operand = operand->operands[0];
        std::swap(axes[0], axes[1]);
      }
      region.leaves.push_back({operand, axes, "%e" + std::to_string(next++)});
      return region.leaves.back().argument;
    };
    std::string a = side(0, {0, 2}), b = side(1, {2, 1}), product = fresh();
    if (maybe(2))
      std::swap(a, b);
    region.body = "    " + product + " = " +
                  (isReal ? "arith.mulf " : "arith.muli ") + a + ", " + b +
                  " : " + tree->type + "\n";
    std::string total = fresh();
    accumulate(region, sum, product, total, tree->type);
    SmallVector<std::string> inputs = emitLeaves(region);
    std::string out = filled(tree, sum);
    return generic(region, inputs, loops, 2, out, total, 2, tree->type);
  }

  const LinalgPair &pair;
  const bool isPlain;
  Random &random;
  std::string text;
  llvm::raw_string_ostream os;
  unsigned next = 0;
  llvm::DenseMap<mlir::Attribute, std::string> sizes;
  std::map<const Tree *, std::string> done;
};

} // namespace

std::string linalgText(const LinalgPair &pair, const TreeRef &tree,
                       StringRef name, bool isPlain, Random &random) {
  return Writer(pair, isPlain, random).run(tree, name);
}

} // namespace mlc::test
