//===- Words.h - Names of what a proof's text has ---------------*- C++ -*-===//

#ifndef MLC_VERIFIER_KERNEL_WORDS_H
#define MLC_VERIFIER_KERNEL_WORDS_H

#include "verifier/kernel/Proof.h"
#include <utility>

namespace mlc::kernel {

inline constexpr std::pair<const char *, Step::Kind> stepWords[] = {
    {"split", Step::Kind::Split},
    {"count", Step::Kind::Count},
    {"unwrap", Step::Kind::Unwrap},
    {"drop-branch", Step::Kind::DropBranch},
    {"drop-lowest", Step::Kind::DropLowest},
    {"flatten", Step::Kind::Flatten},
    {"split-branch", Step::Kind::SplitBranch},
    {"drop-less", Step::Kind::DropLess},
    {"take-term", Step::Kind::TakeTerm},
    {"take-number", Step::Kind::TakeNumber},
    {"take-factor", Step::Kind::TakeFactor},
    {"rewrite", Step::Kind::Rewrite},
    {"merge", Step::Kind::Merge},
    {"at-zero", Step::Kind::AtZero},
    {"split-reciprocal", Step::Kind::SplitReciprocal},
    {"cancel", Step::Kind::Cancel},
    {"join-numbers", Step::Kind::JoinNumbers},
    {"join-exponentials", Step::Kind::JoinExponentials},
    {"log-of-exp", Step::Kind::LogOfExp},
    {"exp-of-log", Step::Kind::ExpOfLog},
    {"square-of-root", Step::Kind::SquareOfRoot},
    {"root-of-square", Step::Kind::RootOfSquare},
    {"root-of-product", Step::Kind::RootOfProduct},
    {"invert-exponential", Step::Kind::InvertExponential},
    {"unfold-tanh", Step::Kind::UnfoldTanh},
    {"mirror", Step::Kind::Mirror},
    {"magnitude", Step::Kind::Magnitude},
    {"choose", Step::Kind::Choose},
    {"signs-of-zero", Step::Kind::SignsOfZero},
    {"decide", Step::Kind::Decide},
    {"of-number", Step::Kind::OfNumber},
    {"at-one", Step::Kind::AtOne},
    {"square-of-sine", Step::Kind::SquareOfSine},
    {"join-powers", Step::Kind::JoinPowers},
    {"square-of-magnitude", Step::Kind::SquareOfMagnitude},
    {"take-function", Step::Kind::TakeFunction},
    {"same-order", Step::Kind::SameOrder},
    {"scale-order", Step::Kind::ScaleOrder},
    {"join-reciprocals", Step::Kind::JoinReciprocals},
    {"order-of-infinity", Step::Kind::OrderOfInfinity},
    {"order-of-maximum", Step::Kind::OrderOfMaximum},
    {"of-bits", Step::Kind::OfBits},
    {"commute", Step::Kind::Commute},
    {"low-bits", Step::Kind::LowBits},
    {"divide-by-one", Step::Kind::DivideByOne},
    {"order-ends", Step::Kind::OrderEnds},
    {"of-nothing", Step::Kind::OfNothing},
};

inline constexpr std::pair<const char *, Zero::Kind> zeroWords[] = {
    {"zero", Zero::Kind::Groups},     {"truth", Zero::Kind::Truth},
    {"absurd", Zero::Kind::Absurd},   {"note", Zero::Kind::Note},
    {"clear", Zero::Kind::Clear},     {"logarithms", Zero::Kind::Logarithms},
    {"between", Zero::Kind::Between}, {"whole", Zero::Kind::Whole},
};

/// Of those that have parts and nothing else.
inline constexpr std::pair<const char *, Shown::Kind> shownWords[] = {
    {"product", Shown::Kind::Product},
    {"root", Shown::Kind::Root},
    {"inverse", Shown::Kind::Inverse},
};

inline constexpr std::pair<const char *, Integer::Kind> integerWords[] = {
    {"+", Integer::Kind::Add},
    {"*", Integer::Kind::Multiply},
    {"floordiv", Integer::Kind::FloorDivide},
    {"mod", Integer::Kind::Modulo},
    {"min", Integer::Kind::Minimum},
    {"max", Integer::Kind::Maximum},
    {"element", Integer::Kind::Element},
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_WORDS_H
