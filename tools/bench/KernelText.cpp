//===- KernelText.cpp - Kernels of seam 3 as text -------------------------===//

#include "tools/bench/KernelText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;
using llvm::StringRef;

namespace mlc::bench {

namespace {
/// One dim of a tensor: `?` with an expression, or a number.
struct Dim {
  std::string expr;
  bool open = false;
  Dim(int64_t v) : expr(std::to_string(v)) {}
  Dim(std::string e) : expr(std::move(e)), open(true) {}
};
using Dims = std::vector<Dim>;

std::string tensorType(const Dims &dims, StringRef element) {
  std::string s = "tensor<";
  for (const Dim &d : dims)
    s += (d.open ? "?" : d.expr) + "x";
  return s + element.str() + ">";
}

std::string argument(StringRef name, const Dims &dims, StringRef element) {
  std::string s = ("%" + name + ": ").str() + tensorType(dims, element);
  if (llvm::none_of(dims, [](const Dim &d) { return d.open; }))
    return s;
  s += " {mlc.dims = #mlc.dims<[";
  for (auto [i, d] : llvm::enumerate(dims))
    s += (i ? ", " : "") + d.expr;
  return s + "]>}";
}

/// `tensor.empty` of `dims`, whose open dims are bare symbols.
std::string empty(const Dims &dims, StringRef element) {
  std::string s = "tensor.empty(";
  bool first = true;
  for (const Dim &d : dims)
    if (d.open) {
      s += (first ? "%" : ", %") + d.expr;
      first = false;
    }
  return s + ") : " + tensorType(dims, element);
}

std::string generic(StringRef maps, StringRef kinds, StringRef ins,
                    StringRef insTypes, StringRef out, StringRef outType,
                    StringRef arguments, StringRef body) {
  return formatv("linalg.generic {{indexing_maps = [{0}], iterator_types = "
                 "[{1}]} ins({2} : {3}) outs({4} : {5}) {{\n  ^bb0({6}):\n"
                 "{7}  } -> {5}\n",
                 maps, kinds, ins, insTypes, out, outType, arguments, body)
      .str();
}

std::string kinds(StringRef pattern) {
  std::vector<std::string> all;
  for (char c : pattern)
    all.push_back(c == 'p' ? "\"parallel\"" : "\"reduction\"");
  return llvm::join(all, ", ");
}

std::string affineMap(StringRef in, StringRef out) {
  return ("affine_map<(" + in + ") -> (" + out + ")>").str();
}

/// The elementwise epilogue of a contraction, as one linalg.generic.
class Epilogue {
public:
  /// An epilogue of `%c`, a tensor of `type` that `loops` read.
  Epilogue(StringRef loops, StringRef type, StringRef element)
      : loops(loops), type(type), scalar((": " + element).str()),
        identity(affineMap(loops, loops)), types(type), maps(identity),
        arguments("%v" + scalar) {}

  /// Combines with the tensor `operand` by `op`; `argument` is its element.
  void add(StringRef operand, StringRef operandType, StringRef map,
           StringRef argument, StringRef result, StringRef op) {
    operands += (", " + operand).str();
    types += (", " + operandType).str();
    maps += (", " + map).str();
    arguments += (", " + argument).str() + scalar;
    apply(result, op, argument);
  }

  /// Sets `result` to `op` of the value so far and `second`.
  void apply(StringRef result, StringRef op, StringRef second) {
    body += formatv("    {0} = arith.{1} {2}, {3} {4}\n", result, op, last,
                    second, scalar);
    last = result;
  }

  bool isEmpty() const { return body.empty(); }

  std::string str() const {
    return "  %t = " +
           generic(maps + ", " + identity,
                   kinds(std::string(loops.count(',') + 1, 'p')), operands,
                   types, "%e", type, arguments + ", %o" + scalar,
                   body + "    linalg.yield " + last + " " + scalar + "\n");
  }

private:
  StringRef loops, type;
  std::string scalar, identity, operands = "%c", types, maps, arguments, body,
                                last = "%v";
};

/// `%zero`, and the destinations `%e` and `%f`, which is filled with it.
std::string destination(const Dims &dims, StringRef element, StringRef zero) {
  std::string e = element.str(), type = tensorType(dims, element);
  return "  %zero = arith.constant " + zero.str() + " : " + e +
         "\n  %e = " + empty(dims, element) +
         "\n  %f = linalg.fill ins(%zero : " + e + ") outs(%e : " + type +
         ") -> " + type + "\n";
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// The tensors of a convolution. `given` is the form of the filter `w` that the
/// kernel gets, and `out` is `y` with a halo of zeros.
struct ConvTensors {
  Dims x, w, given, bias, y, out;

  explicit ConvTensors(const ConvShape &s) {
    int64_t b = s.block, ob = (s.oc + b - 1) / b, ib = (s.ic + b - 1) / b;
    Dim oh = s.oh, ow = s.ow, ih = s.inputHeight(), iw = s.inputWidth();
    if (s.openSize) {
      oh = Dim("H");
      ow = Dim("W");
      int64_t reach = (s.kernel - 1) * s.dilation + 1 - s.stride;
      ih = Dim(formatv("{0} * H + {1}", s.stride, reach).str());
      iw = Dim(formatv("{0} * W + {1}", s.stride, reach).str());
    }
    x = s.blockedInput ? Dims{s.n, s.depthwise ? ob : ib, ih, iw, b}
                       : Dims{s.n, s.ic, ih, iw};
    w = s.depthwise      ? Dims{ob, s.kernel, s.kernel, b}
        : s.blockedInput ? Dims{ob, ib, s.kernel, s.kernel, b, b}
                         : Dims{ob, s.ic, s.kernel, s.kernel, b};
    given = w;
    if (int64_t m = s.winograd)
      given = {ob, (m + 2) * (m + 2), ib, b, b};
    y = out = {s.n, ob, oh, ow, b};
    bias = {ob, b};
    if (s.halo) {
      out[2] = s.openSize ? Dim(formatv("H + {0}", 2 * s.halo).str())
                          : Dim(s.oh + 2 * s.halo);
      out[3] = s.openSize ? Dim(formatv("W + {0}", 2 * s.halo).str())
                          : Dim(s.ow + 2 * s.halo);
    }
  }
};

std::string convSignature(const ConvShape &s, const ConvTensors &t) {
  std::string text = "func.func @k(" + argument("x", t.x, "f32") + ", " +
                     argument(s.winograd ? "u" : "w", t.given, "f32");
  if (s.bias)
    text += ", " + argument("bias", t.bias, "f32");
  if (s.residual)
    text += ", " + argument("res", t.y, "f32");
  if (s.openSize)
    text += ", %H: index, %W: index";
  std::string dims;
  if (s.openSize)
    dims = formatv(" {{mlc.dims = #mlc.dims<[{0}, {1}, {2}, {3}, {4}]>}",
                   t.out[0].expr, t.out[1].expr, t.out[2].expr, t.out[3].expr,
                   t.out[4].expr);
  return text + ") -> (" + tensorType(t.out, "f32") + dims +
         ") attributes {mlc.kernel, mlc.symbols = [" +
         (s.openSize ? "\"H\", \"W\"" : "") + "]} {\n";
}

/// `%c`, the convolution itself.
std::string convSum(const ConvShape &s, const ConvTensors &t) {
  std::string row = formatv("oh * {0} + kh * {1}", s.stride, s.dilation);
  std::string col = formatv("ow * {0} + kw * {1}", s.stride, s.dilation);
  // The reduction loops, then indices of x and w.
  std::string reduced = "ib, kh, kw, ii",
              x = "n, ib, " + row + ", " + col + ", ii",
              w = "ob, ib, kh, kw, ii, oi";
  if (s.depthwise) {
    reduced = "kh, kw";
    x = "n, ob, " + row + ", " + col + ", oi";
    w = "ob, kh, kw, oi";
  } else if (!s.blockedInput) {
    reduced = "c, kh, kw";
    x = "n, c, " + row + ", " + col;
    w = "ob, c, kh, kw, oi";
  }
  std::string loops = "n, ob, oh, ow, oi, " + reduced;
  std::string sums(StringRef(reduced).count(',') + 1, 'r');
  return "  %c = " +
         generic(affineMap(loops, x) + ", " + affineMap(loops, w) + ", " +
                     affineMap(loops, "n, ob, oh, ow, oi"),
                 kinds("ppppp" + sums), "%x, %w",
                 tensorType(t.x, "f32") + ", " + tensorType(t.w, "f32"), "%f",
                 tensorType(t.y, "f32"), "%a: f32, %b: f32, %s: f32",
                 "    %m = arith.mulf %a, %b : f32\n"
                 "    %t = arith.addf %s, %m : f32\n"
                 "    linalg.yield %t : f32\n");
}
} // namespace

std::string convKernel(const ConvShape &s) {
  ConvTensors t(s);
  std::string yType = tensorType(t.y, "f32"), result = tensorType(t.out, "f32");
  std::string text = convSignature(s, t);
  if (s.winograd)
    text += "  %w = exec.inverse_transform \"winograd\" %u : " +
            tensorType(t.given, "f32") + " to " + tensorType(t.w, "f32") + "\n";
  text += destination(t.y, "f32", "0.0") + convSum(s, t);
  std::string loops = "n, ob, oh, ow, oi";
  Epilogue epilogue(loops, yType, "f32");
  if (s.bias)
    epilogue.add("%bias", tensorType(t.bias, "f32"), affineMap(loops, "ob, oi"),
                 "%q", "%vb", "addf");
  if (s.residual)
    epilogue.add("%res", yType, affineMap(loops, loops), "%p", "%vr", "addf");
  if (s.relu)
    epilogue.apply("%vm", "maximumf", "%zero");
  std::string value = "%c";
  if (!epilogue.isEmpty()) {
    text += epilogue.str();
    value = "%t";
  }
  if (s.halo) {
    text += formatv("  %pad = tensor.pad {0} low[0, 0, {1}, {1}, 0] high[0, 0, "
                    "{1}, {1}, 0] {{\n  ^bb0(%i0: index, %i1: index, %i2: "
                    "index, %i3: index, %i4: index):\n    tensor.yield %zero : "
                    "f32\n  } : {2} to {3}\n",
                    value, s.halo, yType, result)
                .str();
    value = "%pad";
  }
  return text + "  return " + value + " : " + result + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

namespace {
/// The tensors of Y = A·B, and how the loops read them.
struct MatmulTensors {
  Dims a, b, y, bias;
  std::string loops = "m, n, k", aMap, bMap, yMap = "m, n";

  explicit MatmulTensors(const MatmulShape &s) {
    Dim m = s.openM ? Dim("M") : Dim(s.m), n = s.openN ? Dim("N") : Dim(s.n),
        k = s.openK ? Dim("K") : Dim(s.k);
    a = s.transposedA ? Dims{k, m} : Dims{m, k};
    b = s.transposedB ? Dims{n, k} : Dims{k, n};
    y = {m, n};
    bias = {n};
    aMap = s.transposedA ? "k, m" : "m, k";
    bMap = s.transposedB ? "n, k" : "k, n";
    if (s.panel) {
      b = {(s.n + s.panel - 1) / s.panel, k, s.panel};
      bMap = formatv("n floordiv {0}, k, n mod {0}", s.panel);
    }
    if (!s.batch)
      return;
    for (Dims *d : {&a, &b, &y})
      d->insert(d->begin(), Dim(s.batch));
    for (std::string *map : {&aMap, &bMap, &yMap, &loops})
      *map = "z, " + *map;
  }
};

std::string matmulSignature(const MatmulShape &s, const MatmulTensors &t) {
  std::string text = "func.func @k(" + argument("a", t.a, s.element) + ", " +
                     argument("b", t.b, s.element);
  if (s.bias)
    text += ", " + argument("bias", t.bias, s.element);
  std::vector<std::string> symbols;
  for (auto [open, name] : {std::pair(s.openM, "M"), std::pair(s.openN, "N"),
                            std::pair(s.openK, "K")})
    if (open) {
      text += std::string(", %") + name + ": index";
      symbols.push_back(std::string("\"") + name + "\"");
    }
  std::string dims;
  if (s.openM || s.openN) {
    std::vector<std::string> sizes;
    for (const Dim &dim : t.y)
      sizes.push_back(dim.expr);
    dims = " {mlc.dims = #mlc.dims<[" + llvm::join(sizes, ", ") + "]>}";
  }
  return text + ") -> (" + tensorType(t.y, s.element) + dims +
         ") attributes {mlc.kernel, mlc.symbols = [" +
         llvm::join(symbols, ", ") + "]} {\n";
}
} // namespace

std::string matmulKernel(const MatmulShape &s) {
  MatmulTensors t(s);
  std::string e = s.element, yType = tensorType(t.y, e), scalar = ": " + e;
  bool isFloat = e[0] == 'f' || e[0] == 'b';
  std::string suffix = isFloat ? "f" : "i";
  std::string text =
      matmulSignature(s, t) + destination(t.y, e, isFloat ? "0.0" : "0");
  text +=
      "  %c = " +
      generic(affineMap(t.loops, t.aMap) + ", " + affineMap(t.loops, t.bMap) +
                  ", " + affineMap(t.loops, t.yMap),
              kinds(s.batch ? "pppr" : "ppr"), "%a, %b",
              tensorType(t.a, e) + ", " + tensorType(t.b, e), "%f", yType,
              "%p" + scalar + ", %q" + scalar + ", %s" + scalar,
              "    %m = arith.mul" + suffix + " %p, %q " + scalar +
                  "\n    %t = arith.add" + suffix + " %s, %m " + scalar +
                  "\n    linalg.yield %t " + scalar + "\n");
  Epilogue epilogue(t.yMap, yType, e);
  if (s.bias)
    epilogue.add("%bias", tensorType(t.bias, e), affineMap(t.yMap, "n"), "%w",
                 "%vb", "add" + suffix);
  if (s.relu)
    epilogue.apply("%vm", isFloat ? "maximumf" : "maxsi", "%zero");
  std::string value = "%c";
  if (!epilogue.isEmpty()) {
    text += epilogue.str();
    value = "%t";
  }
  return text + "  return " + value + " : " + yType + "\n}\n";
}

} // namespace mlc::bench
