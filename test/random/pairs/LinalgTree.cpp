//===- LinalgTree.cpp - Expressions over tensors, made and changed --------===//

#include "Linalg.h"

using namespace mlir;
using llvm::StringRef;
using Kind = mlc::test::Tree::Kind;

namespace mlc::test {

bool isFloat(StringRef type) { return type.starts_with("f"); }

namespace {

const std::vector<StringRef> floatBinaries = {"arith.addf", "arith.subf",
                                              "arith.mulf", "arith.maximumf",
                                              "arith.minimumf"};
const std::vector<StringRef> integerBinaries = {
    "arith.addi",  "arith.subi",  "arith.muli", "arith.maxsi", "arith.minsi",
    "arith.maxui", "arith.minui", "arith.andi", "arith.ori",   "arith.xori"};
const std::vector<StringRef> floatUnaries = {"arith.negf", "math.absf",
                                             "math.exp", "math.tanh"};
const std::vector<StringRef> floatMonoids = {"arith.addf", "arith.maximumf",
                                             "arith.minimumf", "arith.mulf"};
const std::vector<StringRef> integerMonoids = {
    "arith.addi",  "arith.maxsi", "arith.minsi", "arith.muli",
    "arith.maxui", "arith.andi",  "arith.ori"};

TreeRef make(Tree tree) {
  return std::make_shared<const Tree>(std::move(tree));
}

using Dims = SmallVector<IntExpr>;

class LinalgMaker {
public:
  LinalgMaker(MLIRContext *context, Random &random)
      : context(context), random(random) {
    static constexpr StringRef types[] = {"f64", "f64", "f64", "i32",
                                          "i32", "i8",  "i1",  "i64"};
    type = oneOf(types, random).str();
    n = IntExpr::symbol(context, "n"), m = IntExpr::symbol(context, "m");
    argument(type, {n, m});
  }

  LinalgPair run() {
    Dims dims = maybe(2) ? Dims{n, m} : Dims{maybe(2) ? n : m};
    pair.before = grow(type, dims, 2 + below(3));
    pair.after = pair.before;
    pair.isTrue = true;
    unsigned way = below(8);
    if (way < 6)
      for (unsigned i = below(4); i > 0; --i)
        pair.after = somewhere(
            pair.after, [&](const TreeRef &tree) { return preserved(tree); });
    if (way >= 4) {
      pair.isTrue = false;
      TreeRef old = pair.after;
      for (unsigned tries = 0; tries < 8 && pair.after == old; ++tries)
        pair.after = somewhere(pair.after, [&](const TreeRef &tree) {
          return way == 7 ? recombined(tree) : changed(tree);
        });
    }
    return std::move(pair);
  }

private:
  unsigned below(unsigned count) { return random() % count; }
  bool maybe(unsigned oneIn) { return random() % oneIn == 0; }
  IntExpr constant(int64_t value) { return IntExpr::constant(context, value); }

  TreeRef argument(const std::string &type, const Dims &dims) {
    std::vector<TreeRef> fitting;
    for (const TreeRef &one : pair.arguments)
      if (one->type == type && one->dims == dims)
        fitting.push_back(one);
    if (!fitting.empty() && (pair.arguments.size() >= 4 || !maybe(3)))
      return oneOf(fitting, random);
    Tree tree{Kind::Argument, type, dims};
    tree.number = pair.arguments.size();
    pair.arguments.push_back(make(std::move(tree)));
    return pair.arguments.back();
  }

  TreeRef mapOf(StringRef name, const std::string &type,
                std::vector<TreeRef> operands) {
    Tree tree{Kind::Map, type, operands[0]->dims, name.str()};
    tree.operands = std::move(operands);
    return make(std::move(tree));
  }
  TreeRef number(const std::string &type, const Dims &dims) {
    static constexpr int64_t numbers[] = {0, 1, 2, 3, -1};
    Tree tree{Kind::Constant, type, dims};
    tree.number = type == "i1" ? below(2) : oneOf(numbers, random);
    return make(std::move(tree));
  }

  /// An expression with these elements and dims.
  TreeRef grow(const std::string &type, const Dims &dims, unsigned depth) {
    if (depth == 0)
      return maybe(6) ? number(type, dims) : argument(type, dims);
    unsigned kind = below(12);
    switch (kind) {
    case 0:
    case 1:
    case 2:
    case 3: {
      TreeRef x = grow(type, dims, depth - 1);
      if (type == "f64" && maybe(4))
        return mapOf(oneOf(floatUnaries, random), type, {x});
      TreeRef y = maybe(4)   ? x
                  : maybe(3) ? number(type, dims)
                             : grow(type, dims, below(depth));
      return mapOf(isFloat(type)  ? oneOf(floatBinaries, random)
                   : type == "i1" ? integerBinaries[7 + below(3)]
                                  : oneOf(integerBinaries, random),
                   type, {x, y});
    }
    case 4:
      return conversion(type, dims, depth);
    case 5: { // of a sum, with a size that need not be there
      if (dims.size() != 1 || type == "i1")
        return grow(type, dims, depth - 1);
      Tree tree{Kind::Reduce, type, dims};
      tree.axis = below(2);
      Dims inner = dims;
      inner.insert(inner.begin() + tree.axis, dims[0] == n ? m : n);
      tree.name = isFloat(type) ? oneOf(floatMonoids, random)
                                : oneOf(integerMonoids, random);
      tree.operands = {grow(type, inner, depth - 1)};
      return make(std::move(tree));
    }
    case 6: {
      if (dims.size() != 2 || type == "i1")
        return grow(type, dims, depth - 1);
      Tree tree{Kind::Contract, type, dims};
      IntExpr between = maybe(2) ? n : m;
      tree.operands = {grow(type, {dims[0], between}, depth - 1),
                       grow(type, {between, dims[1]}, below(depth))};
      return make(std::move(tree));
    }
    default:
      return growMoved(kind, type, dims, depth);
    }
  }

  /// One that moves elements to other places.
  TreeRef growMoved(unsigned kind, const std::string &type, const Dims &dims,
                    unsigned depth) {
    switch (kind) {
    case 7: {
      if (dims.size() != 2)
        return grow(type, dims, depth - 1);
      Tree tree{Kind::Transpose, type, dims};
      tree.operands = {grow(type, {dims[1], dims[0]}, depth - 1)};
      return make(std::move(tree));
    }
    case 8: {
      if (dims.size() != 2)
        return grow(type, dims, depth - 1);
      Tree tree{Kind::Broadcast, type, dims};
      tree.axis = below(2);
      tree.operands = {grow(type, {dims[tree.axis]}, depth - 1)};
      return make(std::move(tree));
    }
    case 9: { // a slice of what is larger
      Tree tree{Kind::Slice, type, dims};
      tree.axis = below(dims.size());
      tree.number = below(3);
      tree.step = 1 + maybe(3);
      Dims inner = dims;
      inner[tree.axis] = dims[tree.axis] * tree.step + tree.number;
      tree.operands = {grow(type, inner, depth - 1)};
      return make(std::move(tree));
    }
    case 10: {
      Tree tree{Kind::Collapse, type, dims};
      if (dims.size() == 1 && dims[0] == n * m)
        tree.operands = {grow(type, {n, m}, depth - 1)};
      else if (dims.size() == 1)
        return grow(type, dims, depth - 1);
      else {
        tree.kind = Kind::Expand;
        tree.operands = {grow(type, {dims[0] * dims[1]}, depth - 1)};
      }
      return make(std::move(tree));
    }
    default: {
      Tree tree{Kind::Pad, type, dims};
      tree.axis = below(dims.size());
      tree.low = below(2), tree.high = 1 + below(2);
      tree.number = maybe(2) ? 0 : type == "i1" ? 1 : 2;
      // What is padded is a slice, so that sizes stay.
      Tree slice{Kind::Slice, type, dims};
      slice.axis = tree.axis;
      slice.number = tree.low + tree.high;
      slice.dims[tree.axis] = dims[tree.axis] - (tree.low + tree.high);
      slice.operands = {grow(type, dims, depth - 1)};
      tree.operands = {make(std::move(slice))};
      return make(std::move(tree));
    }
    }
  }

  /// Another type's elements, compared, selected by or converted.
  TreeRef conversion(const std::string &type, const Dims &dims,
                     unsigned depth) {
    if (type == "i1") {
      std::string of = maybe(2) ? "f64" : "i32";
      static constexpr StringRef floats[] = {"oeq", "ogt", "oge", "olt", "ole"};
      static constexpr StringRef integers[] = {"eq",  "ne",  "slt", "sle",
                                               "sgt", "ult", "uge"};
      StringRef predicate =
          isFloat(of) ? oneOf(floats, random) : oneOf(integers, random);
      return mapOf(
          (isFloat(of) ? "arith.cmpf " : "arith.cmpi ") + predicate.str(), type,
          {grow(of, dims, depth - 1), grow(of, dims, below(depth))});
    }
    if (maybe(2))
      return mapOf("arith.select", type,
                   {grow("i1", dims, depth - 1), grow(type, dims, below(depth)),
                    grow(type, dims, below(depth))});
    if (isFloat(type))
      return mapOf("arith.sitofp", type, {grow("i32", dims, depth - 1)});
    if (type == "i32" && maybe(2)) {
      Tree tree{Kind::Index, type, dims};
      tree.axis = below(dims.size());
      return make(std::move(tree));
    }
    return type == "i8"
               ? mapOf("arith.trunci", type, {grow("i32", dims, depth - 1)})
               : mapOf(maybe(2) ? "arith.extsi" : "arith.extui", type,
                       {grow(maybe(2) ? "i8" : "i1", dims, depth - 1)});
  }

  static unsigned sizeOf(const TreeRef &tree) {
    unsigned size = 1;
    for (const TreeRef &operand : tree->operands)
      size += sizeOf(operand);
    return size;
  }

  /// What `change` makes of one of the places, by chance.
  TreeRef somewhere(const TreeRef &tree,
                    llvm::function_ref<TreeRef(const TreeRef &)> change) {
    if (tree->operands.empty() || below(sizeOf(tree)) == 0)
      return change(tree);
    Tree copy = *tree;
    std::vector<unsigned> ways;
    for (unsigned i = 0; i < copy.operands.size(); ++i)
      ways.insert(ways.end(), sizeOf(copy.operands[i]), i);
    TreeRef &operand = copy.operands[oneOf(ways, random)];
    TreeRef next = somewhere(operand, change);
    if (next == operand)
      return tree;
    operand = next;
    return make(std::move(copy));
  }

  /// The tree with each of its operands replaced by `change`.
  template <class F> TreeRef onOperands(const TreeRef &tree, F change) {
    Tree copy = *tree;
    for (TreeRef &operand : copy.operands)
      operand = change(operand);
    copy.dims = copy.operands[0]->dims;
    return make(std::move(copy));
  }

  TreeRef moved(const TreeRef &like, const TreeRef &operand) {
    Tree copy = *like;
    copy.type = operand->type;
    copy.operands = {operand};
    return make(std::move(copy));
  }

  /// Another expression of the same value.
  TreeRef preserved(const TreeRef &tree) {
    const Dims &dims = tree->dims;
    bool isMap = tree->kind == Kind::Map;
    switch (below(7)) {
    case 0: { // the transpose of the transpose
      if (dims.size() != 2)
        return tree;
      Tree inner{Kind::Transpose, tree->type, {dims[1], dims[0]}};
      inner.operands = {tree};
      Tree outer{Kind::Transpose, tree->type, dims};
      outer.operands = {make(std::move(inner))};
      return make(std::move(outer));
    }
    case 1: { // a slice of what was padded
      Tree pad{Kind::Pad, tree->type, dims};
      pad.axis = below(dims.size());
      pad.low = below(3), pad.high = below(2);
      pad.dims[pad.axis] = dims[pad.axis] + (pad.low + pad.high);
      pad.operands = {tree};
      Tree slice{Kind::Slice, tree->type, dims};
      slice.axis = pad.axis, slice.number = pad.low;
      slice.operands = {make(std::move(pad))};
      return make(std::move(slice));
    }
    case 2: { // collapsed and expanded
      if (dims.size() != 2)
        return tree;
      Tree collapse{Kind::Collapse, tree->type, {dims[0] * dims[1]}};
      collapse.operands = {tree};
      Tree expand{Kind::Expand, tree->type, dims};
      expand.operands = {make(std::move(collapse))};
      return make(std::move(expand));
    }
    case 3: { // what moves a value moves its operands
      bool isMove =
          tree->kind == Kind::Slice || tree->kind == Kind::Transpose ||
          tree->kind == Kind::Expand || tree->kind == Kind::Collapse ||
          tree->kind == Kind::Broadcast;
      if (!isMove || tree->operands[0]->kind != Kind::Map)
        return tree;
      return onOperands(tree->operands[0], [&](const TreeRef &operand) {
        return moved(tree, operand);
      });
    }
    case 4: { // the other order
      if (!isMap || tree->operands.size() != 2 || tree->name[6] == 'c' ||
          StringRef(tree->name).starts_with("arith.sub"))
        return tree;
      Tree copy = *tree;
      std::swap(copy.operands[0], copy.operands[1]);
      return make(std::move(copy));
    }
    case 5: { // x (y + z) = x y + x z
      bool isReal = tree->name == "arith.mulf";
      if (!isMap || (!isReal && tree->name != "arith.muli"))
        return tree;
      const TreeRef &sum = tree->operands[1];
      StringRef inner = sum->name;
      if (sum->kind != Kind::Map ||
          !(inner.starts_with("arith.add") || inner.starts_with("arith.sub")))
        return tree;
      return onOperands(sum, [&](const TreeRef &part) {
        return mapOf(tree->name, tree->type, {tree->operands[0], part});
      });
    }
    default: { // a reduction of a slice and of the rest
      if (tree->kind != Kind::Reduce)
        return tree;
      return inTwo(tree);
    }
    }
  }

  /// The even and the odd ones, of a size that is made twice another.
  TreeRef inTwo(const TreeRef &tree) {
    const TreeRef &whole = tree->operands[0];
    IntExpr size = whole->dims[tree->axis];
    std::vector<TreeRef> parts;
    for (int64_t first : {0, 1}) {
      Tree slice{Kind::Slice, whole->type, whole->dims};
      slice.axis = tree->axis, slice.number = first, slice.step = 2;
      slice.dims[tree->axis] = (size + (1 - first)).floorDiv(2);
      slice.operands = {whole};
      Tree part = *tree;
      part.operands = {make(std::move(slice))};
      parts.push_back(make(std::move(part)));
    }
    return mapOf(tree->name, tree->type, std::move(parts));
  }

  static std::optional<StringRef> anotherOf(const std::vector<StringRef> &row,
                                            StringRef word, Random &random) {
    if (!llvm::is_contained(row, word))
      return std::nullopt;
    return oneOf(row, random);
  }

  /// Something else of the same type and dims.
  TreeRef changed(const TreeRef &tree) {
    Tree copy = *tree;
    switch (tree->kind) {
    case Kind::Argument:
      return argument(tree->type, tree->dims);
    case Kind::Constant:
      return number(tree->type, tree->dims);
    case Kind::Index:
      copy.axis = below(tree->dims.size());
      break;
    case Kind::Map:
    case Kind::Reduce:
      if (tree->kind == Kind::Map && maybe(3) &&
          tree->operands.back()->type == tree->type)
        return tree->operands.back();
      if (tree->kind == Kind::Map && maybe(2))
        std::swap(copy.operands[tree->operands.size() == 3], // of a select
                  copy.operands.back());
      else
        for (const auto *row : {&floatMonoids, &integerMonoids, &floatBinaries,
                                &integerBinaries, &floatUnaries})
          if (auto other = anotherOf(*row, tree->name, random);
              other && tree->type != "i1") {
            copy.name = other->str();
            break;
          }
      break;
    case Kind::Transpose:
      if (tree->dims[0] == tree->dims[1])
        return tree->operands[0];
      return argument(tree->type, tree->dims);
    case Kind::Pad:
      if (maybe(2))
        copy.number = 1 - copy.number;
      else
        std::swap(copy.low, copy.high);
      break;
    case Kind::Slice:
      if (copy.step == 1 && copy.number)
        --copy.number;
      else
        copy.operands = {grow(tree->type, tree->operands[0]->dims, 1)};
      break;
    default:
      return grow(tree->type, tree->dims, 1);
    }
    return make(std::move(copy));
  }

  /// A part of the other side or a new one in its place.
  TreeRef recombined(const TreeRef &tree) {
    std::vector<TreeRef> fitting;
    std::function<void(const TreeRef &)> collect = [&](const TreeRef &part) {
      if (part->type == tree->type && part->dims == tree->dims && part != tree)
        fitting.push_back(part);
      for (const TreeRef &operand : part->operands)
        collect(operand);
    };
    collect(pair.before);
    return fitting.empty() || maybe(3) ? grow(tree->type, tree->dims, 2)
                                       : oneOf(fitting, random);
  }

  MLIRContext *context;
  Random &random;
  LinalgPair pair;
  std::string type;
  IntExpr n, m;
};

} // namespace

LinalgPair makeLinalgPair(MLIRContext *context, Random &random) {
  return LinalgMaker(context, random).run();
}

} // namespace mlc::test
