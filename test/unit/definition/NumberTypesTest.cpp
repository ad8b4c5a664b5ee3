//===- NumberTypesTest.cpp - Which numbers a type has ---------------------===//

#include "dialects/Definition/NumberTypes.h"
#include "mlir/IR/Builders.h"
#include <catch2/catch.hpp>
#include <set>

using namespace mlc;
using mlir::presburger::Fraction;

namespace {

std::vector<mlir::FloatType> floats(mlir::Builder &b) {
  return {b.getType<mlir::Float4E2M1FNType>(),
          b.getType<mlir::Float6E2M3FNType>(),
          b.getType<mlir::Float6E3M2FNType>(),
          b.getType<mlir::Float8E5M2Type>(),
          b.getType<mlir::Float8E4M3Type>(),
          b.getType<mlir::Float8E4M3FNType>(),
          b.getType<mlir::Float8E5M2FNUZType>(),
          b.getType<mlir::Float8E4M3FNUZType>(),
          b.getType<mlir::Float8E4M3B11FNUZType>(),
          b.getType<mlir::Float8E3M4Type>(),
          b.getType<mlir::Float8E8M0FNUType>(),
          b.getBF16Type(),
          b.getF16Type(),
          b.getTF32Type(),
          b.getF32Type(),
          b.getF64Type(),
          b.getF80Type(),
          b.getF128Type()};
}

/// The finite numbers of a type of at most 16 bits, and whether it has -0, an
/// infinity and NaN.
struct Values {
  std::set<double> numbers;
  bool minusZero = false, infinity = false, nan = false;
};

Values valuesOf(const llvm::fltSemantics &type, unsigned width) {
  Values values;
  for (unsigned bits = 0; bits < 1u << width; ++bits) {
    llvm::APFloat value(type, llvm::APInt(width, bits));
    values.minusZero |= value.isNegZero();
    values.infinity |= value.isInfinity();
    values.nan |= value.isNaN();
    bool losesInfo = false;
    if (!value.isFinite())
      continue;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    REQUIRE_FALSE(losesInfo);
    values.numbers.insert(value.convertToDouble());
  }
  return values;
}

NumberType named(llvm::StringRef text) {
  auto type = numberTypeNamed(text);
  REQUIRE(type);
  return *type;
}

bool holds(llvm::StringRef outer, llvm::StringRef inner) {
  return holdsNumbersOf(named(outer), named(inner));
}

} // namespace

TEST_CASE("Every number of a small float type, one by one", "[numbers]") {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  std::vector<std::pair<mlir::FloatType, Values>> all;
  for (mlir::FloatType type : floats(b))
    if (type.getWidth() <= 16)
      all.push_back(
          {type, valuesOf(type.getFloatSemantics(), type.getWidth())});
  REQUIRE(all.size() == 13);
  unsigned numHeld = 0;
  for (const auto &[outer, a] : all)
    for (const auto &[inner, x] : all) {
      bool isSubset = std::includes(a.numbers.begin(), a.numbers.end(),
                                    x.numbers.begin(), x.numbers.end());
      std::string pair;
      llvm::raw_string_ostream(pair) << outer << " of " << inner;
      CAPTURE(pair);
      CHECK(holdsNumbersOf(outer, inner) == isSubset);
      CHECK(holdsValuesOf(outer, inner) ==
            (isSubset && (a.minusZero || !x.minusZero) &&
             (a.infinity || !x.infinity) && (a.nan || !x.nan)));
      numHeld += isSubset;
    }
  CHECK(numHeld > 30);
  // And of integers, which take few of their values.
  for (const auto &[outer, a] : all)
    for (unsigned width : {2, 3, 4, 5, 8, 9, 10, 11, 12, 16})
      for (bool isUnsigned : {false, true}) {
        int64_t low = isUnsigned ? 0 : -(int64_t(1) << (width - 1)),
                high = low + (int64_t(1) << width);
        bool isSubset = true;
        for (int64_t i = low; i < high; ++i)
          isSubset = isSubset && a.numbers.count(static_cast<double>(i));
        NumberType inner{NumberType::Kind::Integer, width, isUnsigned};
        CAPTURE(width, isUnsigned);
        // What is held is held; the last few bits are not asked for.
        if (holdsNumbersOf(*numberTypeOf(outer), inner))
          CHECK(isSubset);
      }
}

TEST_CASE("Large types, truth values and indices", "[numbers]") {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  for (mlir::FloatType type : floats(b)) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    CAPTURE(text);
    CHECK(named(text).semantics == &type.getFloatSemantics());
    CHECK(holdsNumbersOf(type, type));
    CHECK(holdsValuesOf(type, type));
    CHECK(holds(text, "i1") == (text != "f8E8M0FNU"));
    CHECK_FALSE(holds("i64", text));
    CHECK_FALSE(holds(text, "index"));
  }
  for (auto [outer, inner] :
       std::vector<std::pair<const char *, const char *>>{{"f32", "tf32"},
                                                          {"tf32", "f16"},
                                                          {"tf32", "bf16"},
                                                          {"f64", "f32"},
                                                          {"f80", "f64"},
                                                          {"f128", "f80"},
                                                          {"f32", "f8E8M0FNU"},
                                                          {"bf16", "f8E8M0FNU"},
                                                          {"f16", "i8"},
                                                          {"bf16", "i8"},
                                                          {"bf16", "ui8"},
                                                          {"f32", "ui16"},
                                                          {"f64", "ui32"},
                                                          {"f80", "i64"},
                                                          {"i16", "ui8"},
                                                          {"index", "ui64"},
                                                          {"i32", "i1"},
                                                          {"i8", "si8"}}) {
    CAPTURE(outer, inner);
    CHECK(holds(outer, inner));
    CHECK((holds(inner, outer) == (std::string(outer) == "i8")));
  }
  for (auto [outer, inner] :
       std::vector<std::pair<const char *, const char *>>{{"f16", "f8E8M0FNU"},
                                                          {"f16", "bf16"},
                                                          {"bf16", "f16"},
                                                          {"f32", "i32"},
                                                          {"f64", "i64"},
                                                          {"f64", "ui64"},
                                                          {"f16", "i16"},
                                                          {"bf16", "i16"},
                                                          {"ui16", "i8"},
                                                          {"i8", "ui8"},
                                                          {"ui32", "i32"}})
    CHECK_FALSE(holds(outer, inner));
  for (const char *text : {"", "f", "f31", "i0", "ui", "i-8", "i8 ", "usi8",
                           "tensor<f32>", "i99999999999"})
    CHECK_FALSE(numberTypeNamed(text));
}

TEST_CASE("Numbers become numbers of other types", "[numbers]") {
  auto to = [](Fraction number, const char *from, const char *into) {
    return convertedNumber(number, named(from), named(into));
  };
  CHECK(to(257, "i32", "bf16") == Fraction(256));
  CHECK(to(259, "i32", "bf16") == Fraction(260));
  CHECK(to(16777217, "i32", "f32") == Fraction(16777216));
  CHECK(to(16777219, "i32", "f32") == Fraction(16777220));
  CHECK(to(-1, "i8", "f32") == Fraction(-1));
  CHECK(to(255, "i8", "f32") == Fraction(-1)); // a residue
  CHECK(to(-1, "ui8", "f32") == Fraction(255));
  CHECK(to(-1, "ui32", "i64") == Fraction(4294967295));
  CHECK(to(200, "ui8", "i8") == Fraction(-56));
  CHECK(to(-1, "i8", "index") == Fraction(-1));
  CHECK(to(2, "i8", "i1") == Fraction(1));
  CHECK(to(256, "i8", "i1") == Fraction(0));
  CHECK(to(Fraction(-1, 2), "f32", "i32") == Fraction(0));
  CHECK(to(Fraction(-3, 2), "f32", "i32") == Fraction(-1));
  CHECK(to(Fraction(7, 2), "f32", "index") == Fraction(3));
  CHECK(to(Fraction(1, 3), "f64", "i8") == Fraction(0));
  CHECK(to(2049, "f64", "f16") == Fraction(2048));
  // One unit of the last place, and half of it.
  CHECK(to(Fraction(1, 1 << 24), "f32", "f16") == Fraction(1, 1 << 24));
  CHECK_FALSE(to(Fraction(1, 1 << 25), "f32", "f16")); // 0, or -0
  CHECK_FALSE(to(3, "i32", "f8E8M0FNU"));
  // Beyond the type, without a sign or a 0, or of too many digits.
  CHECK_FALSE(to(70000, "i64", "f16"));
  CHECK_FALSE(to(100000, "i32", "f16"));
  CHECK_FALSE(to(1000, "i32", "f8E4M3FN"));
  CHECK_FALSE(to(300, "f32", "i8"));
  CHECK_FALSE(to(-1, "f32", "ui8"));
  CHECK_FALSE(to(0, "f32", "f8E8M0FNU"));
  CHECK_FALSE(to(-2, "i32", "f8E8M0FNU"));
  CHECK_FALSE(to(Fraction(1, 3), "f64", "f32"));
  CHECK_FALSE(to(Fraction(1, 2), "i32", "f32"));
  CHECK(to(4, "i32", "f8E8M0FNU") == Fraction(4));
  CHECK(to(65519, "i32", "f16") == Fraction(65504));
  CHECK_FALSE(to(65520, "i32", "f16"));
}
