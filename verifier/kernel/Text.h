//===- Text.h - Proofs as text, and back ------------------------*- C++ -*-===//
//
//   proof   := '(' ('proof' | 'bits') case* ')'  one for each of the statement;
//              bits: floats are taken for their bits
//   case    := '(case' ['(shared)'] '(needs' shown* ')'
//              '(results' zero* ')' ['(reverse' shown* ')'] ')'
//   zero    := '(' end step* group* ['(at' number* ')'] ['(shown' shown* ')']
//              ['(then' zero* ')'] ')'
//            | '(cases' formula zero zero ')'
//   end     := 'zero' | 'truth' | 'absurd' | 'note' | 'clear' | 'logarithms' |
//   'between'
//            | 'whole'
//   step    := '(' name term factor part other ['(path' number* ')']
//              ['(where' formula ')'] ['(integers' integer* ')']
//              ['(covers' cover* ')'] ['(need' shown ')'] ')'
//   group   := '(group' reference member* ')'
//   member  := '(member' term '(' integer* ')' '(' integer* ')' match* ')'
//              the term's variables from the reference's, and back
//   match   := '(match' partner ['(arguments' zero* ')']
//              ['(left' ('(' cover* ')')* ')' '(right' ('(' cover* ')')* ')']
//              ')'
//   cover   := '(cover' branch '(' integer* ')' zero ')'
//   shown   := '(signs)' | '(given' need ('+' | '-') '(' integer* ')' zero ')'
//            | '(root' shown shown ')'
//            | '(divisor' need factor '(' integer* ')' zero ')'
//            | '(product' shown* ')' | '(inverse' shown ')'
//            | '(truth' '(at' number* ')' shown shown ')'
//            | '(point' term '(' integer* ')' ')'
//            | '(bound' ('+' | '-') zero ('(' over under known* ')')* ')'
//   integer := number | '#' number               the n-th variable in scope
//            | '"' name '"'                      a symbol of the statement
//            | '(' ('+' | '*' | 'floordiv' | 'mod' | 'min' | 'max' | 'element')
//              integer integer ')'
//   formula := '(>=0' integer ')' | '(=0' integer ')' | '(not' formula ')'
//            | '(and' formula* ')' | '(or' formula* ')'
//
// Proof.h says what each means. In a name, '"' and '\' stand behind a '\'.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_TEXT_H
#define MLC_VERIFIER_KERNEL_TEXT_H

#include "verifier/kernel/Statement.h"

namespace mlc::kernel {

std::string printProof(const Proof &proof);

/// The text may come from anybody. Nothing where it is no proof; `error` then
/// says why and at which byte.
std::optional<Proof> parseProof(llvm::StringRef text, std::string &error);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_TEXT_H
