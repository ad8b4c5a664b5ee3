//===- PartialTest.cpp - What has no value --------------------------------===//

#include "Fixture.h"

using namespace mlir;
using namespace mlc;
using llvm::Expected;

namespace {

/// Of logarithms the second and the third have a value, of places the first
/// and the third are in range.
struct Partial : Fixture {
  using B = DefinitionBuilder;

  /// "defined", or what of a stage y of these elements is not.
  template <typename Element> std::string answer(Type type, Element element) {
    B b(&context, {{{c(4)}, f32}, {{c(4)}, i64}});
    unsigned log = b.stage("log", {c(4)}, f32, [&](auto i) {
      return unary(UnaryFn::Log, b.read(0, {i[0]}));
    });
    b.stage("unread", {c(4)}, i8, [&](auto i) {
      return cast(b.read(0, {i[0]}) * b.constant(f32, 100), i8) /
             b.constantInt(i8, 2);
    });
    b.result(b.stage("y", {c(4)}, type, [&](auto i) {
      Expr place = cast(b.read(1, {i[0]}), IndexType::get(&context));
      return element(b, log, place, i[0]);
    }));
    EvalOptions options;
    options.domain = EvalDomain::Interval;
    auto inDomain = [&](Expected<EvalTensor> tensor) {
      return llvm::cantFail(
          llvm::cantFail(std::move(tensor)).toDomain(options.domain));
    };
    auto results =
        evaluate(b.take(),
                 {inDomain(floats({4}, {-1, 2, 4, 0})),
                  inDomain(EvalTensor::of<int64_t>({4}, i64, {1, 7, 2, -3}))},
                 options);
    return results ? "defined" : failureOf(std::move(results)).second;
  }
  Expr zero(B &b) { return b.constant(f32, 0); }

  Type i1 = IntegerType::get(&context, 1), i8 = IntegerType::get(&context, 8);
  const std::string why = ": logarithm of a number that is not positive",
                    first = "stage y at [0]" + why,
                    last = "stage y at [3]" + why;
};

} // namespace

TEST_CASE_METHOD(Partial, "what has no value makes others have none") {
  CHECK(answer(f32, [&](B &b, unsigned log, Expr, Expr i) {
          return unary(UnaryFn::Abs, b.readStage(log, {i}));
        }) == first);
  CHECK(answer(i1, [&](B &b, unsigned log, Expr, Expr i) {
          return mlc::select(
              compare(ComparePredicate::GT, b.readStage(log, {i}), zero(b)),
              b.constantInt(i1, 0), b.constantInt(i1, 1));
        }) == first);
  CHECK(answer(f32, [&](B &b, unsigned log, Expr, Expr i) {
          return mlc::select(
              compare(ComparePredicate::GE, b.read(0, {i}), zero(b)), zero(b),
              b.readStage(log, {i}));
        }) == first);
  // It is 0 that has no logarithm, and no number nearby.
  CHECK(answer(f32, [&](B &b, unsigned log, Expr, Expr i) {
          return mlc::select(
              compare(ComparePredicate::GE, b.read(0, {i}), zero(b)),
              b.readStage(log, {i}), zero(b));
        }) == last);
  CHECK(answer(f32, [&](B &b, unsigned log, Expr, Expr i) {
          Expr at = cast(b.readStage(log, {i}), i64);
          return b.readOr(0, {cast(at, IndexType::get(&context))}, zero(b));
        }) == first);
}

TEST_CASE_METHOD(Partial, "what is read or reduced has no value, too") {
  CHECK(answer(f32, [&](B &b, unsigned log, Expr place, Expr) {
          return b.readStageOr(log, {place}, zero(b));
        }) == "defined");
  CHECK(answer(f32, [&](B &b, unsigned log, Expr place, Expr i) {
          return b.readOr(0, {place}, b.readStage(log, {i}));
        }) == last);
  CHECK(answer(f32, [&](B &b, unsigned log, Expr, Expr i) {
          return b.readOr(0, {i + c(1)}, b.readStage(log, {i}));
        }) == last);
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max})
    CHECK(answer(f32, [&](B &b, unsigned log, Expr, Expr i) {
            return b.reduce(kind, {c(4)}, [&](auto r) {
              return b.readStage(log, {r[0]}) * b.read(0, {i});
            });
          }) == first);
  CHECK(answer(i1, [&](B &b, unsigned log, Expr, Expr i) {
          return b.reduce(ReduceKind::All, {c(4)}, [&](auto r) {
            return compare(ComparePredicate::GT, b.readStage(log, {r[0]}),
                           b.read(0, {i}) * zero(b));
          });
        }) == first);
  CHECK(answer(i8, [&](B &b, unsigned, Expr, Expr i) {
          return cast(b.read(0, {i}) * b.constant(f32, 40), i8) *
                 b.constantInt(i8, 0);
        }) == "stage y at [2]: a number that the type does not hold");
}

TEST_CASE_METHOD(Fixture, "what is reshaped has no value where it had none") {
  DefinitionBuilder b(&context, {{{c(4)}, f32}});
  unsigned log = b.stage("log", {c(4)}, f32, [&](auto i) {
    return unary(UnaryFn::Log, b.read(0, {i[0]}));
  });
  b.result(b.reinterpret("y", 0, {c(2), c(2)}));
  Definition definition = b.take();
  definition.stages.back().reinterprets = TensorId{true, log};
  EvalOptions options;
  options.domain = EvalDomain::Interval;
  EvalTensor x =
      llvm::cantFail(floats({4}, {1, 2, -3, 4}).toDomain(options.domain));
  CHECK(failureOf(evaluate(definition, {x}, options)).second ==
        "stage y at [1, 0]: logarithm of a number that is not positive");
}
