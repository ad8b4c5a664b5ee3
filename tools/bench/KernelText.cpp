//===- KernelText.cpp - Kernels of seam 3 as text -------------------------===//

#include "tools/bench/KernelText.h"
#include "codegen/Backends.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Interfaces/Attributes.h"
#include "dialects/Interfaces/IntExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;
using llvm::formatv;

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
} // namespace

std::string convKernel(const ConvShape &s) {
  int64_t b = s.block, ob = (s.oc + b - 1) / b, ib = (s.ic + b - 1) / b;
  Dim oh = s.oh, ow = s.ow, ih = s.inputHeight(), iw = s.inputWidth();
  if (s.openSize) {
    oh = Dim("H");
    ow = Dim("W");
    int64_t reach = (s.kernel - 1) * s.dilation + 1 - s.stride;
    ih = Dim(formatv("{0} * H + {1}", s.stride, reach).str());
    iw = Dim(formatv("{0} * W + {1}", s.stride, reach).str());
  }
  Dims x = s.blockedInput ? Dims{s.n, s.depthwise ? ob : ib, ih, iw, b}
                          : Dims{s.n, s.ic, ih, iw};
  Dims w = s.depthwise      ? Dims{ob, s.kernel, s.kernel, b}
           : s.blockedInput ? Dims{ob, ib, s.kernel, s.kernel, b, b}
                            : Dims{ob, s.ic, s.kernel, s.kernel, b};
  // What the kernel is given of the filter.
  Dims given = w;
  if (int64_t m = s.winograd)
    given = {ob, (m + 2) * (m + 2), ib, b, b};
  Dims y{s.n, ob, oh, ow, b}, bias{ob, b};
  std::string yType = tensorType(y, "f32");
  Dims out = y;
  if (s.halo) {
    out[2] = s.openSize ? Dim(formatv("H + {0}", 2 * s.halo).str())
                        : Dim(s.oh + 2 * s.halo);
    out[3] = s.openSize ? Dim(formatv("W + {0}", 2 * s.halo).str())
                        : Dim(s.ow + 2 * s.halo);
  }
  std::string text = "func.func @k(" + argument("x", x, "f32") + ", " +
                     argument(s.winograd ? "u" : "w", given, "f32");
  if (s.bias)
    text += ", " + argument("bias", bias, "f32");
  if (s.residual)
    text += ", " + argument("res", y, "f32");
  if (s.openSize)
    text += ", %H: index, %W: index";
  std::string result = tensorType(out, "f32");
  std::string dims;
  if (s.openSize)
    dims = formatv(" {{mlc.dims = #mlc.dims<[{0}, {1}, {2}, {3}, {4}]>}", s.n,
                   ob, out[2].expr, out[3].expr, b);
  text += ") -> (" + result + dims +
          ") attributes {mlc.kernel, mlc.symbols = [" +
          (s.openSize ? "\"H\", \"W\"" : "") + "]} {\n";
  if (s.winograd)
    text += "  %w = exec.inverse_transform \"winograd\" %u : " +
            tensorType(given, "f32") + " to " + tensorType(w, "f32") + "\n";
  text += "  %zero = arith.constant 0.0 : f32\n";
  text += "  %e = " + empty(y, "f32") + "\n";
  text += "  %f = linalg.fill ins(%zero : f32) outs(%e : " + yType + ") -> " +
          yType + "\n";
  std::string row = formatv("oh * {0} + kh * {1}", s.stride, s.dilation);
  std::string col = formatv("ow * {0} + kw * {1}", s.stride, s.dilation);
  std::string maps, kindText;
  if (s.depthwise) {
    std::string d = "affine_map<(n, ob, oh, ow, oi, kh, kw) -> ";
    maps = d + "(n, ob, " + row + ", " + col + ", oi)>, " + d +
           "(ob, kh, kw, oi)>, " + d + "(n, ob, oh, ow, oi)>";
    kindText = kinds("ppppprr");
  } else if (s.blockedInput) {
    std::string d = "affine_map<(n, ob, oh, ow, oi, ib, kh, kw, ii) -> ";
    maps = d + "(n, ib, " + row + ", " + col + ", ii)>, " + d +
           "(ob, ib, kh, kw, ii, oi)>, " + d + "(n, ob, oh, ow, oi)>";
    kindText = kinds("ppppprrrr");
  } else {
    std::string d = "affine_map<(n, ob, oh, ow, oi, c, kh, kw) -> ";
    maps = d + "(n, c, " + row + ", " + col + ")>, " + d +
           "(ob, c, kh, kw, oi)>, " + d + "(n, ob, oh, ow, oi)>";
    kindText = kinds("ppppprrr");
  }
  text +=
      "  %c = " + generic(maps, kindText, "%x, %w",
                          tensorType(x, "f32") + ", " + tensorType(w, "f32"),
                          "%f", yType, "%a: f32, %b: f32, %s: f32",
                          "    %m = arith.mulf %a, %b : f32\n"
                          "    %t = arith.addf %s, %m : f32\n"
                          "    linalg.yield %t : f32\n");
  std::string identity =
      "affine_map<(n, ob, oh, ow, oi) -> (n, ob, oh, ow, oi)>";
  std::string ins = "%c", types = yType, args = "%v: f32", body, last = "%v";
  maps = identity;
  if (s.bias) {
    ins += ", %bias";
    types += ", " + tensorType(bias, "f32");
    maps += ", affine_map<(n, ob, oh, ow, oi) -> (ob, oi)>";
    args += ", %q: f32";
    body += "    %vb = arith.addf %v, %q : f32\n";
    last = "%vb";
  }
  if (s.residual) {
    ins += ", %res";
    types += ", " + yType;
    maps += ", " + identity;
    args += ", %p: f32";
    body += "    %vr = arith.addf " + last + ", %p : f32\n";
    last = "%vr";
  }
  if (s.relu) {
    body += "    %vm = arith.maximumf " + last + ", %zero : f32\n";
    last = "%vm";
  }
  std::string value = "%c";
  if (!body.empty()) {
    text += "  %t = " + generic(maps + ", " + identity, kinds("ppppp"), ins,
                                types, "%e", yType, args + ", %o: f32",
                                body + "    linalg.yield " + last + " : f32\n");
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

std::string matmulKernel(const MatmulShape &s) {
  Dim m = s.m, n = s.n, k = s.k;
  if (s.openM)
    m = Dim("M");
  if (s.openN)
    n = Dim("N");
  if (s.openK)
    k = Dim("K");
  std::string e = s.element;
  Dims a = s.transposedA ? Dims{k, m} : Dims{m, k};
  Dims b = s.transposedB ? Dims{n, k} : Dims{k, n};
  Dims y{m, n};
  std::string aMap = s.transposedA ? "k, m" : "m, k";
  std::string bMap = s.transposedB ? "n, k" : "k, n", yMap = "m, n";
  if (s.panel) {
    b = {(s.n + s.panel - 1) / s.panel, k, s.panel};
    bMap = formatv("n floordiv {0}, k, n mod {0}", s.panel);
  }
  std::string loops = "m, n, k", outer = "m, n", kindText = "ppr";
  if (s.batch) {
    for (Dims *d : {&a, &b, &y})
      d->insert(d->begin(), Dim(s.batch));
    for (std::string *map : {&aMap, &bMap, &yMap, &loops, &outer})
      *map = "z, " + *map;
    kindText = "p" + kindText;
  }
  bool isFloat = e[0] == 'f' || e[0] == 'b';
  std::string suffix = isFloat ? "f" : "i", yType = tensorType(y, e);
  std::string text =
      "func.func @k(" + argument("a", a, e) + ", " + argument("b", b, e);
  if (s.bias)
    text += ", " + argument("bias", {n}, e);
  std::vector<std::string> symbols;
  for (auto [open, name] : {std::pair(s.openM, "M"), std::pair(s.openN, "N"),
                            std::pair(s.openK, "K")})
    if (open) {
      text += std::string(", %") + name + ": index";
      symbols.push_back(std::string("\"") + name + "\"");
    }
  std::string dims;
  if (m.open || n.open)
    dims = " {mlc.dims = #mlc.dims<[" +
           (s.batch ? std::to_string(s.batch) + ", " : "") + m.expr + ", " +
           n.expr + "]>}";
  text += ") -> (" + yType + dims +
          ") attributes {mlc.kernel, mlc.symbols = [" +
          llvm::join(symbols, ", ") + "]} {\n";
  text += "  %zero = arith.constant 0" + std::string(isFloat ? ".0" : "") +
          " : " + e + "\n  %e = " + empty(y, e) + "\n";
  text += "  %f = linalg.fill ins(%zero : " + e + ") outs(%e : " + yType +
          ") -> " + yType + "\n";
  auto map = [](StringRef in, StringRef out) {
    return ("affine_map<(" + in + ") -> (" + out + ")>").str();
  };
  std::string scalar = ": " + e;
  text += "  %c = " +
          generic(map(loops, aMap) + ", " + map(loops, bMap) + ", " +
                      map(loops, yMap),
                  kinds(kindText), "%a, %b",
                  tensorType(a, e) + ", " + tensorType(b, e), "%f", yType,
                  "%p" + scalar + ", %q" + scalar + ", %s" + scalar,
                  "    %m = arith.mul" + suffix + " %p, %q " + scalar +
                      "\n    %t = arith.add" + suffix + " %s, %m " + scalar +
                      "\n    linalg.yield %t " + scalar + "\n");
  std::string value = "%c";
  if (s.bias || s.relu) {
    std::string ins = "%c", types = yType, maps = map(outer, outer),
                args = "%v" + scalar, body, last = "%v";
    if (s.bias) {
      ins += ", %bias";
      types += ", " + tensorType({n}, e);
      maps += ", " + map(outer, "n");
      args += ", %w" + scalar;
      body += "    %vb = arith.add" + suffix + " %v, %w " + scalar + "\n";
      last = "%vb";
    }
    if (s.relu) {
      body += "    %vm = arith.max" + std::string(isFloat ? "imumf " : "si ") +
              last + ", %zero " + scalar + "\n";
      last = "%vm";
    }
    text +=
        "  %t = " +
        generic(maps + ", " + map(outer, outer), kinds(s.batch ? "ppp" : "pp"),
                ins, types, "%e", yType, args + ", %o" + scalar,
                body + "    linalg.yield " + last + " " + scalar + "\n");
    value = "%t";
  }
  return text + "  return " + value + " : " + yType + "\n}\n";
}

static void loadDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerKernelDialects(registry);
  registry.insert<MlcDialect, exec::ExecDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

[[noreturn]] static void die(const Twine &message) {
  llvm::errs() << "kernel text: " << message << "\n";
  std::abort();
}

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementType().getIntOrFloatBitWidth(), 8u);
}

/// Adds the kernel written in `text` if its sizes are fixed.
static void readKernel(const std::string &text, MLIRContext &context,
                       std::vector<ModuleKernel> &kernels) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    die("does not parse:\n" + text);
  auto function = *module->getOps<func::FuncOp>().begin();
  FunctionType type = function.getFunctionType();
  auto fixed = [](Type t) {
    auto tensor = dyn_cast<RankedTensorType>(t);
    return tensor && tensor.hasStaticShape();
  };
  if (!function->hasAttr("mlc.kernel") ||
      !llvm::all_of(type.getInputs(), fixed) ||
      !llvm::all_of(type.getResults(), fixed))
    return;
  ModuleKernel &kernel = kernels.emplace_back();
  kernel.name = function.getName().str();
  kernel.text = text;
  for (BlockArgument argument : function.getArguments())
    kernel.bytes.push_back(bytesOf(argument.getType()));
  for (Type result : type.getResults())
    kernel.bytes.push_back(bytesOf(result));
}

/// Counts the launch in `line` of the program.
static void countLaunch(StringRef line, std::vector<ModuleKernel> &kernels) {
  StringRef name = line.split('@').second.split('(').first;
  for (ModuleKernel &k : kernels)
    if (name == k.name) {
      ++k.launches;
      int64_t work = 0;
      line.split("work #mlc.int<")
          .second.split('>')
          .first.getAsInteger(10, work);
      k.flops = double(work);
    }
}

std::vector<ModuleKernel> readModule(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    die("cannot read " + path);
  MLIRContext context;
  loadDialects(context);
  std::vector<ModuleKernel> kernels;
  std::string aliases, function;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    if (line.starts_with("#"))
      aliases += line.str() + "\n";
    if (line.starts_with("  func.func"))
      function = aliases;
    if (!function.empty())
      function += line.str() + "\n";
    if (line == "  }" && !function.empty()) {
      readKernel(function, context, kernels);
      function.clear();
    }
  }
  for (StringRef line : lines)
    if (line.trim().starts_with("exec.launch"))
      countLaunch(line, kernels);
  return kernels;
}

struct LoadedKernel::State {
  MLIRContext context;
  CompiledKernels compiled;
  std::vector<std::string> symbols;
  void *library = nullptr;
  mlc_kernel function = nullptr;
  void *scratch = nullptr;
  int64_t scratchSize = 0;

  int64_t value(IntExpr e, const std::vector<int64_t> &values) const {
    return *e.evaluate([&](StringRef name) -> std::optional<int64_t> {
      for (auto [i, s] : llvm::enumerate(symbols))
        if (s == name)
          return values[i];
      return std::nullopt;
    });
  }
};

LoadedKernel::LoadedKernel(const std::string &text, const Target &target,
                           const std::string &dumpDirectory)
    : state(new State) {
  loadDialects(state->context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, &state->context);
  if (!module)
    die("does not parse:\n" + text);
  auto function = *module->getOps<func::FuncOp>().begin();
  for (Attribute name : function->getAttrOfType<ArrayAttr>("mlc.symbols"))
    state->symbols.push_back(cast<StringAttr>(name).str());
  CodegenOptions options;
  options.threads = 1;
  options.dumpDirectory = dumpDirectory;
  auto compiled = findBackend(target)->compile(*module, target, options);
  if (failed(compiled))
    die("does not compile:\n" + text);
  state->compiled = *compiled;
  llvm::SmallString<128> path;
  int fd;
  if (llvm::sys::fs::createTemporaryFile("kernel", "so", fd, path))
    die("no temporary file");
  llvm::raw_fd_ostream(fd, true) << state->compiled.image;
  state->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  if (!state->library)
    die(dlerror());
  state->function = reinterpret_cast<mlc_kernel>(
      dlsym(state->library, state->compiled.kernels[0].symbol.c_str()));
}

LoadedKernel::~LoadedKernel() {
  dlclose(state->library);
  free(state->scratch);
  delete state;
}

int64_t LoadedKernel::tasks(const std::vector<int64_t> &values) const {
  return state->value(state->compiled.kernels[0].tasks, values);
}

int64_t LoadedKernel::scratchBytes(const std::vector<int64_t> &values) const {
  return state->value(state->compiled.kernels[0].scratchBytes, values);
}

void LoadedKernel::run(const std::vector<void *> &buffers,
                       const std::vector<int64_t> &symbols, int64_t step) {
  int64_t bytes = scratchBytes(symbols);
  if (bytes > state->scratchSize) {
    free(state->scratch);
    state->scratch = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    state->scratchSize = bytes;
  }
  int64_t all = tasks(symbols);
  for (int64_t i = 0; i < all; i += step ? step : all)
    state->function(buffers.data(), symbols.data(), i,
                    std::min(all, i + (step ? step : all)), state->scratch);
}

} // namespace mlc::bench
