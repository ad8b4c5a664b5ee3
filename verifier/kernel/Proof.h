//===- Proof.h - What a proof says ------------------------------*- C++ -*-===//
//
// That a sum is 0, in a context: variables in scope and formulas that hold of
// them. A proof is data, which only Check.h gives a meaning. Integers in it
// name variables by their places: slot n is the n-th variable in scope, and
// what a part of a proof speaks of stands behind that.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_PROOF_H
#define MLC_VERIFIER_KERNEL_PROOF_H

#include "verifier/kernel/Integer.h"
#include <array>
#include <optional>

namespace mlc::kernel {

struct Zero;
using ZeroRef = std::shared_ptr<const Zero>; // not null in what is accepted

/// For points of a branch: the branch of the other side with the same value,
/// and where. Slots: the scope, the branch's variables.
struct Cover {
  unsigned branch;
  std::vector<Integer> map;
  /// The other's value there, less this one's. Context: the branch's variables
  /// and guards, and the other's guards there.
  ZeroRef value;
};

/// Why a factor of a member is one of the reference.
struct Match {
  unsigned partner; // among the reference's factors that are no numbers
  /// Of a call: for each argument, the member's less the reference's.
  /// Of a reduction that counts (a product): its branches as a sum of calls of
  /// their values, less the reference's; one.
  std::vector<ZeroRef> arguments;
  /// Of a reduction that does not count (a maximum): for each branch, where the
  /// other side has its values.
  std::vector<std::vector<Cover>> left, right;
};

/// A term of a group. Its variables are `sigma` of the reference's, those are
/// `tau` of its own. Slots: the scope, then the reference's, or its own.
struct Member {
  unsigned term;
  std::vector<Integer> sigma, tau;
  std::vector<Match> factors; // but for numbers
};

/// Terms that cancel. The reference comes first; it has no maps and no factors.
struct Group {
  unsigned reference;
  std::vector<Member> members;
};

/// `over` / `under`, which is positive, times what is known not to be negative:
/// the values of the context at these places.
struct Multiple {
  unsigned over, under;
  std::vector<unsigned> known;
};

/// Why a value is not 0, not negative or positive.
struct Shown {
  enum class Kind {
    Signs,   // its factors say so
    Given,   // another one is, which has this value
    Divisor, // not 0: a product that is given has this as a factor
    Product, // each of its factors is so
    Inverse, // it is 1/x, and x is so
    Truth,   // it is so where a truth value is 1, and where it is 0
    Root,    // positive: the root of what is not negative and not 0
    Point,   // no term is negative, and one is positive at some point
    Bound,   // it is what is known of values, added and multiplied
  };
  Kind kind = Kind::Signs;
  unsigned need = 0;   // Given, Divisor: which; Point: the term
  unsigned factor = 0; // Divisor: of that one's only term
  std::vector<Integer> map =
      {};                  // Given: that one's variables; Point: the term's
  bool isNegative = false; // not 0, and minus this is shown
  ZeroRef value = {};      // Given: that one, less this; Bound: below
  std::vector<Shown> parts = {}; // Product: of each factor; Inverse: of x;
                                 // Truth: of both cases;
                                 // Root: not 0, not negative
  /// Truth: where in the value, as in Zero.
  std::vector<std::array<unsigned, 3>> place = {};
  /// Bound: the value is a sum of these, and `value` says that it is.
  std::vector<Multiple> bounds = {};
};

/// Makes another sum of equal value.
struct Step {
  enum class Kind {
    /// A term becomes two: where `formula` holds (slots: the scope, the term's
    /// variables), and, last in the sum, where it does not.
    Split,
    /// A variable that only guards mention, which leave it from `integers[0]`
    /// to
    /// below `integers[1]`, becomes the number of its values.
    Count,
    /// A reduction of one branch, which is one point, becomes its value; a
    /// maximum over points becomes the value that is the same at all of them,
    /// of which `integers` is one.
    Unwrap,
    /// A branch of a reduction goes: it is empty, or its values are others'.
    DropBranch,
    /// Branches of a maximum that are minus infinity go.
    DropLowest,
    /// A maximum that is a branch of a maximum gives its branches to it.
    Flatten,
    /// A branch becomes two, by `formula` (slots: the scope, the term's and the
    /// branch's variables).
    SplitBranch,
    /// A branch of a maximum goes that is never above branch `other`, which is
    /// one point.
    DropLess,
    /// max(x + c) is max(x) + c, for c the `other`-th term of branch 0, and of
    /// some point of branch `part`, whose variables are `integers`.
    TakeTerm,
    /// max(c x) is c max(x) for the number c = integers[0] / integers[1] > 0,
    /// of
    /// some point of branch `part`, whose variables are the other integers.
    TakeNumber,
    /// max(f x) is f max(x) for a factor f, the `other`-th of branch 0's first
    /// term, that is not negative, of some point as for TakeTerm.
    TakeFactor,
    /// integers[0], wherever it stands in the term's factors, becomes
    /// integers[1] (slots: the scope, the term's variables), which is equal.
    Rewrite,
    /// A term that is another one but for its number, `other`, joins it.
    Merge,
    /// A call of what the table of functions gives for 0.
    AtZero,
    /// 1/(x y) is 1/x 1/y, and 1/(1/x) is x: for 1/0 is taken to be 0.
    SplitReciprocal,
    /// x 1/x is 1 where x is not 0, as `need` says: factors `factor` and
    /// `other`.
    Cancel,
    /// The numbers among a term's factors become their product.
    JoinNumbers,
    /// exp(x) exp(y) is exp(x + y): factors `factor` and `other`.
    JoinExponentials,
    /// log(exp(x)) is x.
    LogOfExp,
    /// exp(y + log(x)) is x exp(y), exp(y - log(x)) is 1/x exp(y), for the
    /// `other`-th term of the argument, where x is positive, as `need` says.
    ExpOfLog,
    /// sqrt(x) sqrt(x) is x where x is not negative, as `need` says: factors
    /// `factor` and `other`.
    SquareOfRoot,
    /// sqrt(x x) is |x|.
    RootOfSquare,
    /// sqrt(x y) is sqrt(x) sqrt(y) for the `other`-th factor x of the argument
    /// where neither is negative, as the two of `need` say.
    RootOfProduct,
    /// 1/exp(x) is exp(-x).
    InvertExponential,
    /// tanh(x) is 2 / (1 + exp(-2 x)) - 1.
    UnfoldTanh,
    /// f(x) is f(-x) or -f(-x), as the table of functions says.
    Mirror,
    /// |x| is max(x, -x).
    Magnitude,
    /// Of branches `part` and `other` of a maximum or minimum, one goes: which,
    /// says the truth value of their order, which becomes a factor.
    Choose,
    /// [x = 0] is 1 - [x > 0] - [-x > 0].
    SignsOfZero,
    /// [x > 0] is 1 (`part`) or 0, as `need` says: x is positive, or -x is not
    /// negative.
    Decide,
    /// What a number is when it is made one of another type; whether a number
    /// is 0, positive, or less than another.
    OfNumber,
    /// A call of what the table of functions gives for 1.
    AtOne,
    /// sin(x) sin(x) is 1 - cos(x) cos(x): factors `factor` and `other`.
    SquareOfSine,
    /// x^a x^b is x^(a + b) where x is positive, as `need` says: factors
    /// `factor` and `other`.
    JoinPowers,
    /// |x| |x| is x x modulo 2^w: factors `factor` and `other`.
    SquareOfMagnitude,
    /// max(c f(x)) is c f(max(x)) for c > 0, and c f(min(x)) for c < 0, where f
    /// grows; of branch `other`, and others that are c f(x), or the number
    /// c f(0). Of some point as for TakeTerm. Where f is not defined
    /// everywhere,
    /// `need` says of each branch that it is there.
    TakeFunction,
    /// [f(x) - f(y) > 0] is [x - y > 0], and [f(x) - f(y) = 0] is [x - y = 0],
    /// where f grows strictly, and is defined for both, as the two of `need`
    /// say.
    SameOrder,
    /// [c x > 0] is [x > 0] for c = integers[0] / integers[1] > 0, and
    /// [c x = 0] is [x = 0] for c that is not 0.
    ScaleOrder,
    /// 1/x 1/y is 1/(x y): factors `factor` and `other`.
    JoinReciprocals,
    /// [infinity - x > 0] is 1, [x - infinity > 0] and [x - infinity = 0] are
    /// 0, for x that has neither infinities nor reductions.
    OrderOfInfinity,
    /// [y - max(x, z) > 0] is [y - x > 0] [y - z > 0], and [max(x, z) - y > 0]
    /// is 1 - (1 - [x - y > 0]) (1 - [z - y > 0]), for points x and z; the
    /// maximum is the `other`-th term.
    OrderOfMaximum,
    /// And, or, exclusive or of x and x, 0, -1; what a mask leaves.
    OfBits,
    /// And, or, exclusive or of x and y is that of y and x.
    Commute,
    /// x mod 2^k is the lowest k digits of x, and 2^k (x / 2^k) is x without
    /// these, for x without a sign.
    LowBits,
    /// x / 1 is x, x / -1 is -x, modulo 2^w.
    DivideByOne,
    /// No number of a type is below its least, above its largest, or below
    /// itself.
    OrderEnds,
    /// A reduction without branches is what the monoid begins with.
    OfNothing,
  };
  Kind kind;
  unsigned term = 0, factor = 0;
  /// Count: the variable's place; else the branch.
  unsigned part = 0, other = 0;
  Formula formula = {};
  std::vector<Integer> integers = {};
  std::vector<Cover> covers = {}; // DropBranch
  std::vector<Shown> need = {};   // one, where the step needs it
  /// Where in the sum: each of (term, factor, argument or branch).
  std::vector<std::array<unsigned, 3>> path = {};
};

/// That a sum is 0.
struct Zero {
  /// By cases, if there is a formula (slots: the scope): where it holds, where
  /// it does not. Else by steps, and what `kind` says of what they come to.
  std::optional<Formula> formula;
  std::vector<Zero> cases;
  std::vector<Step> steps;
  std::vector<Group> groups;
  enum class Kind {
    /// Groups cover every term.
    Groups,
    /// By two cases: the truth value at `place` is 1, is 0. If it is [x > 0],
    /// what it says of x is known in each.
    Truth,
    /// What is given, as `shown` says, is not 0, and is 0 in this case.
    Absurd,
    /// By one case, in which the bounds of the function at `place` are known.
    Note,
    /// By one case, of another sum: this one times x, for the factor 1/x at
    /// `place`, where x is not 0, as `shown` says.
    Clear,
    /// By one case, of another sum: log(x) + log(y) - log(z) + w is 0 where
    /// x y exp(w) - z is, for terms whose x, y and z are positive, as `shown`
    /// says in order.
    Logarithms,
    /// Neither it nor its negative is negative, as the two of `shown` say.
    Between,
    /// It is whole, and 1 more and 1 less it are positive, as the two of
    /// `shown` say.
    Whole,
  };
  Kind kind = Kind::Groups;
  /// Where in the sum: each of (term, factor, argument or branch), but for the
  /// last, of which only term and factor count.
  std::vector<std::array<unsigned, 3>> place = {};
  std::vector<Shown> shown = {};
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_PROOF_H
