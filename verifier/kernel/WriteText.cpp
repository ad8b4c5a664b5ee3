//===- WriteText.cpp - Proofs as text -------------------------------------===//

#include "verifier/kernel/Text.h"
#include "verifier/kernel/Words.h"
#include "llvm/Support/raw_ostream.h"

using llvm::ArrayRef;

namespace mlc::kernel {

namespace {

class Writer {
public:
  explicit Writer(std::string &text) : os(text) {}

  void write(const Proof &proof) {
    os << (proof.isLiteral ? "(bits" : "(proof");
    for (const StatementProof &one : proof.cases) {
      os << "\n(case" << (one.isShared ? " (shared)" : "") << "\n(needs";
      writeAll(one.needs);
      os << ")\n(results";
      writeAll(one.results);
      os << ')';
      if (one.reverse && !one.reverse->empty()) {
        os << "\n(reverse";
        writeAll(*one.reverse);
        os << ')';
      }
      os << ')';
    }
    os << ")\n";
  }

private:
  template <class Part> void writeAll(const std::vector<Part> &parts) {
    for (const Part &part : parts) {
      os << ' ';
      write(part);
    }
  }

  template <class Part>
  void writeList(const char *word, const std::vector<Part> &parts) {
    if (parts.empty())
      return;
    os << " (" << word;
    writeAll(parts);
    os << ')';
  }

  void writeIntegers(const std::vector<Integer> &integers) {
    os << '(';
    for (size_t i = 0; i < integers.size(); ++i) {
      os << (i ? " " : "");
      write(integers[i]);
    }
    os << ')';
  }

  void write(const Integer &integer) {
    switch (integer.kind()) {
    case Integer::Kind::Constant:
      os << integer.value();
      return;
    case Integer::Kind::Slot:
      os << '#' << integer.value();
      return;
    case Integer::Kind::Size:
      os << '"';
      for (char c : integer.name())
        os << (c == '"' || c == '\\' ? "\\" : "") << c;
      os << '"';
      return;
    default:
      break;
    }
    for (auto [word, kind] : integerWords)
      if (kind == integer.kind())
        os << '(' << word << ' ';
    write(integer.left());
    os << ' ';
    write(integer.right());
    os << ')';
  }

  void write(const Formula &formula) {
    constexpr const char *words[] = {">=0", "=0", "not", "and", "or"};
    os << '(' << words[static_cast<int>(formula.kind())];
    bool isAtom = formula.kind() == Formula::Kind::NotNegative ||
                  formula.kind() == Formula::Kind::Zero;
    if (isAtom) {
      os << ' ';
      write(formula.integer());
    }
    writeAll(formula.parts().vec());
    os << ')';
  }

  void write(const Zero &zero) {
    if (zero.formula) {
      os << "(cases ";
      write(*zero.formula);
      writeAll(zero.cases);
    } else {
      for (auto [word, kind] : zeroWords)
        if (kind == zero.kind)
          os << '(' << word;
      writeAll(zero.steps);
      writeAll(zero.groups);
      writePlaces("at", zero.place);
      writeList("shown", zero.shown);
      writeList("then", zero.cases);
    }
    os << ')';
  }

  void write(const ZeroRef &zero) { write(*zero); }

  void writePlaces(const char *word,
                   const std::vector<std::array<unsigned, 3>> &places) {
    if (places.empty())
      return;
    os << " (" << word;
    for (const auto &place : places)
      for (unsigned number : place)
        os << ' ' << number;
    os << ')';
  }

  void write(const Step &step) {
    for (auto [word, kind] : stepWords)
      if (kind == step.kind)
        os << '(' << word << ' ';
    os << step.term << ' ' << step.factor << ' ' << step.part << ' '
       << step.other;
    writePlaces("path", step.path);
    if (!step.formula.isTrue()) {
      os << " (where ";
      write(step.formula);
      os << ')';
    }
    writeList("integers", step.integers);
    writeList("covers", step.covers);
    writeList("need", step.need);
    os << ')';
  }

  void write(const Group &group) {
    os << "(group " << group.reference;
    writeAll(group.members);
    os << ')';
  }

  void write(const Member &member) {
    os << "(member " << member.term << ' ';
    writeIntegers(member.sigma);
    os << ' ';
    writeIntegers(member.tau);
    writeAll(member.factors);
    os << ')';
  }

  void write(const Match &match) {
    os << "(match " << match.partner;
    writeList("arguments", match.arguments);
    if (!match.left.empty() || !match.right.empty())
      for (const auto *side : {&match.left, &match.right}) {
        os << (side == &match.left ? " (left" : " (right");
        for (const std::vector<Cover> &covers : *side) {
          os << " (";
          writeAll(covers);
          os << ')';
        }
        os << ')';
      }
    os << ')';
  }

  void write(const Cover &cover) {
    os << "(cover " << cover.branch << ' ';
    writeIntegers(cover.map);
    os << ' ';
    write(*cover.value);
    os << ')';
  }

  void write(const Shown &shown) {
    switch (shown.kind) {
    case Shown::Kind::Signs:
      os << "(signs)";
      return;
    case Shown::Kind::Given:
      os << "(given " << shown.need << (shown.isNegative ? " - " : " + ");
      writeIntegers(shown.map);
      os << ' ';
      write(*shown.value);
      break;
    case Shown::Kind::Divisor:
      os << "(divisor " << shown.need << ' ' << shown.factor << ' ';
      writeIntegers(shown.map);
      os << ' ';
      write(*shown.value);
      break;
    case Shown::Kind::Point:
      os << "(point " << shown.need << ' ';
      writeIntegers(shown.map);
      break;
    case Shown::Kind::Bound:
      os << "(bound " << (shown.isNegative ? "- " : "+ ");
      write(*shown.value);
      for (const Multiple &multiple : shown.bounds) {
        os << " (" << multiple.over << ' ' << multiple.under;
        for (unsigned known : multiple.known)
          os << ' ' << known;
        os << ')';
      }
      break;
    case Shown::Kind::Truth:
      os << "(truth";
      writePlaces("at", shown.place);
      writeAll(shown.parts);
      break;
    case Shown::Kind::Product:
    case Shown::Kind::Root:
    case Shown::Kind::Inverse:
      for (auto [word, kind] : shownWords)
        if (kind == shown.kind)
          os << '(' << word;
      writeAll(shown.parts);
      break;
    }
    os << ')';
  }

  llvm::raw_string_ostream os;
};

} // namespace

std::string printProof(const Proof &proof) {
  std::string text;
  Writer(text).write(proof);
  return text;
}

} // namespace mlc::kernel
