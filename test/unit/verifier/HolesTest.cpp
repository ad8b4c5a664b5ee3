//===- HolesTest.cpp - Weights are solved, or rightly have no solution ----===//

#include "verifier/search/Holes.h"
#include "Pair.h"
#include "dialects/Graph/ComputeOps.h"

using namespace mlc;
using namespace mlc::test;
using mlir::Value;

namespace {

using Bodies = llvm::function_ref<std::vector<Value>(Side &)>;

/// A rewrite whose after side takes weights that are not known.
class Rewrite {
public:
  /// Dims of the arguments; those of the holes; how many of the arguments, from
  /// the front, are activations.
  Rewrite(std::vector<std::string> arguments, std::vector<std::string> holes,
          unsigned numActivations, std::vector<std::string> conditions = {})
      : numActivations(numActivations) {
    context.loadDialect<MlcDialect, mlir::func::FuncDialect>();
    module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    for (const std::string &dims : arguments)
      types.push_back(typeOf(dims));
    for (const std::string &dims : holes)
      holeTypes.push_back(typeOf(dims));
    mlir::Builder builder(&context);
    for (const std::string &text : conditions)
      texts.push_back(builder.getStringAttr(text));
  }
  Rewrite &where(unsigned argument, const std::string &predicate) {
    predicates.push_back({argument, predicate});
    return *this;
  }

  /// Solves, proves and gives the texts of the weights, one in a line.
  std::string solve(Bodies before, Bodies after) {
    HoleProblem problem = ask(before, after);
    HoleSolution solution = solveHoles(problem);
    if (!solution.after)
      return "no solution: " + solution.failure;
    std::string texts;
    solution.after->walk([&](ComputeOp op) {
      texts += (texts.empty() ? "" : "\n") + op.getDefinition().str();
    });
    VerifierOptions options;
    options.classifyFloats = false;
    Verdict verdict =
        verify(problem.before, *solution.after, problem.assumptions, options);
    if (!verdict.isProved())
      return texts + "\nnot proved: " + verdict.reason +
             verdict.counterexample.text;
    return texts;
  }

private:
  mlir::Type typeOf(const std::string &dims) {
    auto attribute = mlir::cast<DimsAttr>(
        mlir::parseAttribute("#mlc.dims<[" + dims + "]>", &context));
    return getTensorType(attribute.getDims(), mlir::Float32Type::get(&context));
  }
  HoleProblem ask(Bodies before, Bodies after) {
    HoleProblem problem;
    problem.before = make("before", types, before);
    std::vector<mlir::Type> all = types;
    all.insert(all.end(), holeTypes.begin(), holeTypes.end());
    problem.after = make("after", all, after);
    mlir::Builder builder(&context);
    problem.before->setAttr("mlc.assume", builder.getArrayAttr(texts));
    for (auto &[argument, predicate] : predicates)
      problem.before.setArgAttr(argument, "mlc.assume",
                                builder.getStrArrayAttr({predicate}));
    for (unsigned i = 0; i < types.size(); ++i)
      problem.isConstant.push_back(i >= numActivations);
    llvm::Expected<Assumptions> assumptions = readAssumptions(problem.before);
    REQUIRE(bool(assumptions));
    problem.assumptions = *assumptions;
    return problem;
  }
  mlir::func::FuncOp make(llvm::StringRef name,
                          llvm::ArrayRef<mlir::Type> arguments, Bodies body) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
    auto function =
        mlir::func::FuncOp::create(builder, builder.getUnknownLoc(), name,
                                   builder.getFunctionType(arguments, {}));
    function.addEntryBlock();
    Side side(function);
    side.finish(body(side));
    return function;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<mlir::Type> types, holeTypes;
  std::vector<mlir::Attribute> texts;
  std::vector<std::pair<unsigned, std::string>> predicates;
  unsigned numActivations;
};

Value batchNorm(Side &f, Value x, unsigned first) {
  return f.op("batch_norm",
              {x, f[first], f[first + 1], f[first + 2], f[first + 3]},
              "epsilon = #mlc.real<eps>");
}

/// Adds a vector of o elements to each channel of [n, o, size].
Value addBias(Side &f, Value x, Value bias, const std::string &dims,
              const std::string &channels) {
  return f.add(x, f.broadcast(f.reshape(bias, "1, " + channels + ", 1"), dims));
}

const std::string convSize = "floordiv(h + p + q - (k - 1) * d - 1, s) + 1";
const std::vector<std::string> steps = {"s >= 1", "d >= 1", "g >= 1"};

} // namespace

//===----------------------------------------------------------------------===//
// Solved
//===----------------------------------------------------------------------===//

TEST_CASE("holes: convolution and batch norm") {
  CHECK(Rewrite({"n, cg * g, h", "og * g, cg, k", "og * g", "og * g", "og * g",
                 "og * g"},
                {"og * g, cg, k", "og * g"}, 1, steps)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {batchNorm(
                      f, f.conv(f[0], f[1], "s", "p, q", "d", "g"), 2)};
                },
                [](Side &f) -> std::vector<Value> {
                  return {addBias(f, f.conv(f[0], f[6], "s", "p, q", "d", "g"),
                                  f[7], "n, og * g, " + convSize, "og * g")};
                }) ==
        "(c1, c2, c5; ; eps) Y[i, j, u] = c1[i, j, u] * c2[i] / sqrt(c5[i] + "
        "eps)\n(c2, c3, c4, c5; ; eps) Y[i] = c3[i] - c4[i] * c2[i] / "
        "sqrt(c5[i] + eps)");
}

TEST_CASE("holes: two convolutions of one input") {
  CHECK(Rewrite({"n, c, h", "a, c, k", "b, c, k"}, {"a + b, c, k"}, 1, steps)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[1], "s", "p, q", "d"),
                          f.conv(f[0], f[2], "s", "p, q", "d")};
                },
                [](Side &f) -> std::vector<Value> {
                  Value y = f.conv(f[0], f[3], "s", "p, q", "d");
                  return {
                      f.slice(y, "0, 0, 0", "n, a, " + convSize, "1, 1, 1"),
                      f.slice(y, "0, a, 0", "n, b, " + convSize, "1, 1, 1")};
                }) ==
        "(c1, c2; a) Y[i, j, u] = c1<0>[i, j, u] + c2<0>[i - a, j, u]");
}

TEST_CASE("holes: the sum of convolutions of two inputs") {
  CHECK(Rewrite({"n, a, h", "n, b, h", "o, a, k", "o, b, k"}, {"o, a + b, k"},
                2, steps)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.add(f.conv(f[0], f[2], "s", "p, q", "d"),
                                f.conv(f[1], f[3], "s", "p, q", "d"))};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f.concat({f[0], f[1]}, 1), f[4], "s", "p, q",
                                 "d")};
                }) ==
        "(c2, c3; a) Y[i, j, u] = c2<0>[i, j, u] + c3<0>[i, j - a, u]");
}

TEST_CASE("holes: a 1x1 convolution is merged into a larger one") {
  CHECK(Rewrite({"n, c, h", "a, c, 1", "b, c, 2 * e + 1"},
                {"a + b, c, 2 * e + 1"}, 1, {"s >= 1", "d >= 1"})
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[1], "s", "0, 0", "d"),
                          f.conv(f[0], f[2], "s", "e * d, e * d", "d")};
                },
                [](Side &f) -> std::vector<Value> {
                  Value y = f.conv(f[0], f[3], "s", "e * d, e * d", "d");
                  std::string size = "floordiv(h - 1, s) + 1";
                  return {f.slice(y, "0, 0, 0", "n, a, " + size, "1, 1, 1"),
                          f.slice(y, "0, a, 0", "n, b, " + size, "1, 1, 1")};
                }) ==
        "(c1, c2; e, a) Y[i, j, u] = select(e == u, c1<0>[i, j, 0], 0) "
        "+ c2<0>[i - a, j, u]");
}

TEST_CASE("holes: an enlarged kernel") {
  CHECK(Rewrite({"n, cg * g, h", "og * g, cg, k"}, {"og * g, cg, k + 2 * e"}, 1,
                steps)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[1], "s", "p, q", "d", "g")};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[2], "s", "p + e * d, q + e * d", "d",
                                 "g")};
                }) == "(c1; e) Y[i, j, u] = c1<0>[i, j, u - e]");
}

TEST_CASE("holes: groups become one") {
  CHECK(Rewrite({"n, cg * g, h", "og * g, cg, k"}, {"og * g, cg * g, k"}, 1,
                {"s >= 1", "d >= 1", "g >= 1", "og >= 1", "cg >= 1"})
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[1], "s", "p, q", "d", "g")};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[2], "s", "p, q", "d", "1")};
                }) ==
        "(c1; cg, og) Y[i, j, u] = c1<0>[i, j - cg * floordiv(i, og), u]");
}

TEST_CASE("holes: groups become fewer") {
  std::string text =
      Rewrite({"n, cg * m * g, h", "og * m * g, cg, k"},
              {"og * m * g, cg * m, k"}, 1,
              {"s >= 1", "d >= 1", "g >= 1", "og >= 1", "cg >= 1", "m >= 1"})
          .solve(
              [](Side &f) -> std::vector<Value> {
                return {f.conv(f[0], f[1], "s", "p, q", "d", "m * g")};
              },
              [](Side &f) -> std::vector<Value> {
                return {f.conv(f[0], f[2], "s", "p, q", "d", "g")};
              });
  CHECK_THAT(text, Catch::StartsWith("(c1; "));
  CHECK_THAT(text, !Catch::Contains("not proved"));
}

TEST_CASE("holes: average pooling is a convolution") {
  auto pool = [](Side &f) -> std::vector<Value> {
    return {f.avgPool(f[0], Side::window("k", "s", "p, p"), true)};
  };
  CHECK(Rewrite({"n, c, h"}, {"c, 1, k"}, 1, {"s >= 1", "k >= 1", "c >= 1"})
            .solve(pool, [](Side &f) -> std::vector<Value> {
              return {f.conv(f[0], f[1], "s", "p, p", "1", "c")};
            }) == "(; k) Y[i, j, u] = 1 / f32(k)");
  CHECK(Rewrite({"n, c, h"}, {"c, c, k"}, 1, {"s >= 1", "k >= 1"})
            .solve(pool, [](Side &f) -> std::vector<Value> {
              return {f.conv(f[0], f[1], "s", "p, p")};
            }) == "(; k) Y[i, j, u] = select(i == j, 1 / f32(k), 0)");
}

TEST_CASE("holes: a convolution behind a 1x1 convolution") {
  CHECK(Rewrite({"n, c, h", "m, c, 1", "o, m, k"}, {"o, c, k"}, 1,
                {"s >= 1", "d >= 1"})
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f.conv(f[0], f[1]), f[2], "s", "p, q", "d")};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[3], "s", "p, q", "d")};
                }) ==
        "(c1, c2; m) Y[i, j, u] = sum{v < m}(c1[v, j, 0] * c2[i, v, u])");
}

TEST_CASE("holes: a convolution behind a convolution without padding") {
  std::string text =
      Rewrite({"n, c, h", "m, c, k", "o, m, l"}, {"o, c, k + s * (l - 1)"}, 1,
              {"s >= 1", "t >= 1", "k >= 1", "l >= 1"})
          .solve(
              [](Side &f) -> std::vector<Value> {
                return {f.conv(f.conv(f[0], f[1], "s", "p, q"), f[2], "t")};
              },
              [](Side &f) -> std::vector<Value> {
                return {f.conv(f[0], f[3], "s * t", "p, q")};
              });
  CHECK(text ==
        "(c1, c2; m, l, s) Y[i, j, u] = sum{v < m, r < l}(c1<0>[v, j, u - "
        "r * s] * c2[i, v, r])");
}

TEST_CASE("holes: depthwise, then pointwise") {
  CHECK(Rewrite({"n, c, h", "c, 1, k", "o, c, 1"}, {"o, c, k"}, 1,
                {"s >= 1", "d >= 1", "c >= 1"})
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {
                      f.conv(f.conv(f[0], f[1], "s", "p, q", "d", "c"), f[2])};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[3], "s", "p, q", "d")};
                }) == "(c1, c2) Y[i, j, u] = c1[j, 0, u] * c2[i, j, 0]");
}

TEST_CASE("holes: a residual is an identity kernel") {
  CHECK(Rewrite({"n, c, h", "c, c, 2 * p + 1"}, {"c, c, 2 * p + 1"}, 1)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.add(f.conv(f[0], f[1], "1", "p, p"), f[0])};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.conv(f[0], f[2], "1", "p, p")};
                }) == "(c1; p) Y[i, j, u] = c1[i, j, u] + select(and(i == j, p "
                      "== u), 1, 0)");
}

TEST_CASE("holes: a batch norm before a convolution without padding") {
  std::string text =
      Rewrite({"n, c, h", "o, c, k", "c", "c", "c", "c"}, {"o, c, k", "o"}, 1,
              {"s >= 1", "d >= 1"})
          .solve(
              [](Side &f) -> std::vector<Value> {
                return {f.conv(batchNorm(f, f[0], 2), f[1], "s", "0, 0", "d")};
              },
              [](Side &f) -> std::vector<Value> {
                return {addBias(f, f.conv(f[0], f[6], "s", "0, 0", "d"), f[7],
                                "n, o, floordiv(h - (k - 1) * d - 1, s) + 1",
                                "o")};
              });
  CHECK_THAT(text, Catch::StartsWith("(c1, c2, c5; ; eps) Y[i, j, u] = c2[j] * "
                                     "c1[i, j, u] / sqrt(c5[j] + eps)\n"));
  CHECK_THAT(text, !Catch::Contains("not proved"));
}

TEST_CASE("holes: matrix products") {
  // Scaled columns.
  CHECK(Rewrite({"m, k", "k, n", "1, n"}, {"k, n"}, 1)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {
                      f.mul(f.matmul(f[0], f[1]), f.broadcast(f[2], "m, n"))};
                },
                [](Side &f) -> std::vector<Value> {
                  return {f.matmul(f[0], f[3])};
                }) == "(c1, c2) Y[i, j] = c1[i, j] * c2[0, j]");
  // A bias before the product.
  CHECK(
      Rewrite({"m, k", "k, n", "1, k"}, {"k, n", "1, n"}, 1)
          .solve(
              [](Side &f) -> std::vector<Value> {
                return {f.matmul(f.add(f[0], f.broadcast(f[2], "m, k")), f[1])};
              },
              [](Side &f) -> std::vector<Value> {
                return {f.add(f.matmul(f[0], f[3]), f.broadcast(f[4], "m, n"))};
              }) == "(c1) Y[i, j] = c1[i, j]\n(c1, c2; k) Y[i, j] = sum{u < "
                    "k}(c2[0, u] * c1[u, j])");
  // Query, key and value.
  CHECK(Rewrite({"m, k", "k, a", "k, b", "k, c"}, {"k, a + b + c"}, 1)
            .solve(
                [](Side &f) -> std::vector<Value> {
                  return {f.matmul(f[0], f[1]), f.matmul(f[0], f[2]),
                          f.matmul(f[0], f[3])};
                },
                [](Side &f) -> std::vector<Value> {
                  Value y = f.matmul(f[0], f[4]);
                  return {f.slice(y, "0, 0", "m, a", "1, 1"),
                          f.slice(y, "0, a", "m, b", "1, 1"),
                          f.slice(y, "0, a + b", "m, c", "1, 1")};
                }) == "(c1, c2, c3; a, b) Y[i, j] = c1<0>[i, j] + c2<0>[i, j - "
                      "a] + c3<0>[i, j - (a + b)]");
}

//===----------------------------------------------------------------------===//
// Rightly without solution
//===----------------------------------------------------------------------===//

TEST_CASE("holes: a kernel cannot shrink") {
  CHECK_THAT(Rewrite({"n, c, h", "o, c, k + 2 * e"}, {"o, c, k"}, 1,
                     {"s >= 1", "e >= 1"})
                 .solve(
                     [](Side &f) -> std::vector<Value> {
                       return {f.conv(f[0], f[1], "s", "p + e, q + e")};
                     },
                     [](Side &f) -> std::vector<Value> {
                       return {f.conv(f[0], f[2], "s", "p, q")};
                     }),
             Catch::Contains("not proved") || Catch::Contains("no solution"));
}

TEST_CASE("holes: groups cannot become finer") {
  CHECK_THAT(Rewrite({"n, cg * g, h", "og * g, cg * g, k"}, {"og * g, cg, k"},
                     1, {"g >= 2", "og >= 1", "cg >= 1", "s >= 1"})
                 .solve(
                     [](Side &f) -> std::vector<Value> {
                       return {f.conv(f[0], f[1], "s", "p, q")};
                     },
                     [](Side &f) -> std::vector<Value> {
                       return {f.conv(f[0], f[2], "s", "p, q", "1", "g")};
                     }),
             Catch::Contains("not proved") || Catch::Contains("no solution"));
}

TEST_CASE(
    "holes: what the outer convolution pads is not what the inner gives") {
  CHECK_THAT(Rewrite({"n, c, h", "m, c, k", "o, m, l"}, {"o, c, k + l - 1"}, 1,
                     {"k >= 1", "l >= 1"})
                 .solve(
                     [](Side &f) -> std::vector<Value> {
                       return {f.conv(f.conv(f[0], f[1]), f[2], "1", "p, p")};
                     },
                     [](Side &f) -> std::vector<Value> {
                       return {f.conv(f[0], f[3], "1", "p, p")};
                     }),
             Catch::Contains("depend on the output position"));
}

TEST_CASE("holes: a bias before a padded convolution") {
  CHECK_THAT(
      Rewrite({"n, c, h", "o, c, k", "c"}, {"o, c, k", "o"}, 1, {"s >= 1"})
          .solve(
              [](Side &f) -> std::vector<Value> {
                return {f.conv(addBias(f, f[0], f[2], "n, c, h", "c"), f[1],
                               "s", "p, q")};
              },
              [](Side &f) -> std::vector<Value> {
                return {addBias(f, f.conv(f[0], f[3], "s", "p, q"), f[4],
                                "n, o, floordiv(h + p + q - k, s) + 1", "o")};
              }),
      Catch::Contains("depend on the output position"));
}

TEST_CASE("holes: what is not linear") {
  CHECK_THAT(Rewrite({"m, k", "k, n"}, {"k, n"}, 1)
                 .solve(
                     [](Side &f) -> std::vector<Value> {
                       return {f.relu(f.matmul(f[0], f[1]))};
                     },
                     [](Side &f) -> std::vector<Value> {
                       return {f.relu(f.matmul(f[0], f.mul(f[2], f[2])))};
                     }),
             Catch::Contains("not linear in its weights"));
}
