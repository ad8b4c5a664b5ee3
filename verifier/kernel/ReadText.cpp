//===- ReadText.cpp - Proofs from text ------------------------------------===//

#include "verifier/kernel/Text.h"
#include "verifier/kernel/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::StringRef;

namespace mlc::kernel {

namespace {

/// A word, a name, or a list.
struct Item {
  enum class Kind { Word, Name, List };
  Kind kind = Kind::Word;
  std::string text = {};
  std::vector<Item> parts = {};
  size_t place = 0; // in the text

  /// Whether it is a list that begins with this word.
  bool is(StringRef word) const {
    return kind == Kind::List && !parts.empty() &&
           parts[0].kind == Kind::Word && parts[0].text == word;
  }
};

class Reader {
public:
  Reader(StringRef text, std::string &error) : text(text), error(error) {}

  std::optional<Item> read() {
    std::optional<Item> item = readItem(0);
    skipSpace();
    if (item && at != text.size()) {
      fail("something follows the proof");
      return std::nullopt;
    }
    return item;
  }

private:
  void skipSpace() {
    while (at < text.size() && llvm::isSpace(text[at]))
      ++at;
  }

  std::nullopt_t fail(const char *reason) {
    if (error.empty())
      error = "byte " + std::to_string(at) + ": " + reason;
    return std::nullopt;
  }

  std::optional<Item> readItem(unsigned depth) {
    constexpr unsigned mostDepth = 400;
    skipSpace();
    if (depth > mostDepth)
      return fail("lists are nested too deep");
    if (at == text.size())
      return fail("the proof ends early");
    Item item;
    item.place = at;
    if (text[at] == '"')
      return readName(item);
    if (text[at] == ')')
      return fail("a list ends that none began");
    if (text[at] != '(') {
      while (at < text.size() && !llvm::isSpace(text[at]) && text[at] != '(' &&
             text[at] != ')' && text[at] != '"')
        item.text += text[at++];
      return item;
    }
    item.kind = Item::Kind::List;
    ++at;
    for (skipSpace(); at < text.size() && text[at] != ')'; skipSpace()) {
      std::optional<Item> part = readItem(depth + 1);
      if (!part)
        return std::nullopt;
      item.parts.push_back(std::move(*part));
    }
    if (at == text.size())
      return fail("a list has no end");
    ++at;
    return item;
  }

  std::optional<Item> readName(Item item) {
    item.kind = Item::Kind::Name;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      at += text[at] == '\\';
      if (at == text.size())
        break;
      item.text += text[at];
    }
    if (at == text.size())
      return fail("a name has no end");
    ++at;
    return item;
  }

  StringRef text;
  std::string &error;
  size_t at = 0;
};

/// Items to parts of a proof; the first that is none is an error.
class Builder {
public:
  explicit Builder(std::string &error) : error(error) {}

  Proof proof(const Item &item) {
    Proof result;
    result.isLiteral = item.is("bits");
    std::vector<StatementProof> &cases = result.cases;
    if (!result.isLiteral && !item.is("proof"))
      fail(item, "expected (proof ...) or (bits ...)");
    for (const Item &part : rest(item, 1)) {
      StatementProof one;
      llvm::ArrayRef<Item> parts = rest(part, 1);
      one.isShared = !parts.empty() && parts.front().is("shared") &&
                     parts.front().parts.size() == 1;
      parts = parts.drop_front(one.isShared);
      bool isReversed = parts.size() == 3 && parts[2].is("reverse");
      if (!part.is("case") || parts.size() != (isReversed ? 3 : 2) ||
          !parts[0].is("needs") || !parts[1].is("results"))
        fail(part, "expected (case (needs ...) (results ...))");
      else {
        one.needs = all(parts[0], 1, &Builder::shown);
        one.results = all(parts[1], 1, &Builder::zero);
        if (isReversed)
          one.reverse = all(parts[2], 1, &Builder::shown);
      }
      cases.push_back(std::move(one));
    }
    return result;
  }

private:
  void fail(const Item &item, const char *reason) {
    if (error.empty())
      error = "byte " + std::to_string(item.place) + ": " + reason;
  }

  llvm::ArrayRef<Item> rest(const Item &item, size_t from) const {
    return llvm::ArrayRef(item.parts)
        .drop_front(std::min(from, item.parts.size()));
  }

  template <class Part>
  std::vector<Part> all(const Item &item, size_t from,
                        Part (Builder::*one)(const Item &)) {
    std::vector<Part> result;
    if (item.kind != Item::Kind::List)
      fail(item, "expected a list");
    for (const Item &part : rest(item, from))
      result.push_back((this->*one)(part));
    return result;
  }

  /// Whether a list begins with a word and has that many parts behind it.
  bool has(const Item &item, StringRef word, size_t count, const char *reason) {
    bool isSo = item.is(word) && item.parts.size() > count;
    if (!isSo)
      fail(item, reason);
    return isSo;
  }

  unsigned number(const Item &item) {
    unsigned value = 0;
    if (item.kind != Item::Kind::Word ||
        StringRef(item.text).getAsInteger(10, value))
      fail(item, "expected a number");
    return value;
  }

  Integer integer(const Item &item) {
    if (item.kind == Item::Kind::Name)
      return Integer::size(item.text);
    StringRef word = item.text;
    if (item.kind == Item::Kind::Word) {
      int64_t value = 0;
      bool isSlot = word.consume_front("#");
      bool isNumber = !word.getAsInteger(10, value) &&
                      (!isSlot || (value >= 0 && value < 1 << 20));
      if (!isNumber)
        fail(item, "expected an integer");
      return isSlot ? Integer::slot(static_cast<unsigned>(value))
                    : Integer(value);
    }
    for (auto [name, kind] : integerWords)
      if (item.is(name) && item.parts.size() == 3)
        return Integer::apply(kind, integer(item.parts[1]),
                              integer(item.parts[2]));
    fail(item, "expected an integer");
    return Integer(0);
  }

  Formula formula(const Item &item) {
    if (item.is("and"))
      return Formula::all(all(item, 1, &Builder::formula));
    if (item.is("or"))
      return Formula::any(all(item, 1, &Builder::formula));
    if (item.parts.size() == 2) {
      if (item.is(">=0"))
        return Formula::notNegative(integer(item.parts[1]));
      if (item.is("=0"))
        return Formula::zero(integer(item.parts[1]));
      if (item.is("not"))
        return Formula::negation(formula(item.parts[1]));
    }
    fail(item, "expected a formula");
    return {};
  }

  Zero zero(const Item &item) {
    Zero zero;
    if (item.is("cases") && item.parts.size() == 4) {
      zero.formula = formula(item.parts[1]);
      zero.cases = all(item, 2, &Builder::zero);
      return zero;
    }
    const auto *word = llvm::find_if(
        zeroWords, [&](const auto &one) { return item.is(one.first); });
    if (word == std::end(zeroWords)) {
      fail(item, "expected (zero ...), (cases formula zero zero) or another "
                 "reason for 0");
      return zero;
    }
    zero.kind = word->second;
    for (const Item &part : rest(item, 1))
      if (part.is("group"))
        zero.groups.push_back(group(part));
      else if (part.is("at"))
        zero.place = places(part);
      else if (part.is("shown"))
        zero.shown = all(part, 1, &Builder::shown);
      else if (part.is("then"))
        zero.cases = all(part, 1, &Builder::zero);
      else
        zero.steps.push_back(step(part));
    return zero;
  }

  std::vector<std::array<unsigned, 3>> places(const Item &item) {
    std::vector<std::array<unsigned, 3>> result;
    std::vector<unsigned> numbers = all(item, 1, &Builder::number);
    if (numbers.size() % 3)
      fail(item, "a path has three numbers for each place");
    for (size_t i = 0; i + 2 < numbers.size(); i += 3)
      result.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    return result;
  }

  ZeroRef zeroRef(const Item &item) {
    return std::make_shared<const Zero>(zero(item));
  }

  Step step(const Item &item) {
    Step step{};
    const auto *word = llvm::find_if(
        stepWords, [&](const auto &one) { return item.is(one.first); });
    if (word == std::end(stepWords) || item.parts.size() < 5) {
      fail(item, "expected a step");
      return step;
    }
    step.kind = word->second;
    step.term = number(item.parts[1]);
    step.factor = number(item.parts[2]);
    step.part = number(item.parts[3]);
    step.other = number(item.parts[4]);
    for (const Item &part : rest(item, 5)) {
      if (part.is("path")) {
        step.path = places(part);
      } else if (part.is("where") && part.parts.size() == 2) {
        step.formula = formula(part.parts[1]);
      } else if (part.is("integers")) {
        step.integers = all(part, 1, &Builder::integer);
      } else if (part.is("covers")) {
        step.covers = all(part, 1, &Builder::cover);
      } else if (part.is("need")) {
        step.need = all(part, 1, &Builder::shown);
      } else {
        fail(part, "expected a part of a step");
      }
    }
    return step;
  }

  Group group(const Item &item) {
    Group group{};
    if (!has(item, "group", 1, "expected (group reference ...)"))
      return group;
    group.reference = number(item.parts[1]);
    group.members = all(item, 2, &Builder::member);
    return group;
  }

  Member member(const Item &item) {
    Member member{};
    if (!has(item, "member", 3, "expected (member term (...) (...) ...)"))
      return member;
    member.term = number(item.parts[1]);
    member.sigma = all(item.parts[2], 0, &Builder::integer);
    member.tau = all(item.parts[3], 0, &Builder::integer);
    member.factors = all(item, 4, &Builder::match);
    return member;
  }

  Match match(const Item &item) {
    Match match{};
    if (!has(item, "match", 1, "expected (match partner ...)"))
      return match;
    match.partner = number(item.parts[1]);
    for (const Item &part : rest(item, 2)) {
      if (part.is("arguments"))
        match.arguments = all(part, 1, &Builder::zeroRef);
      else if (part.is("left"))
        match.left = all(part, 1, &Builder::covers);
      else if (part.is("right"))
        match.right = all(part, 1, &Builder::covers);
      else
        fail(part, "expected a part of a match");
    }
    return match;
  }

  std::vector<Cover> covers(const Item &item) {
    return all(item, 0, &Builder::cover);
  }

  Cover cover(const Item &item) {
    Cover cover{};
    if (!has(item, "cover", 3, "expected (cover branch (...) zero)"))
      return cover;
    cover.branch = number(item.parts[1]);
    cover.map = all(item.parts[2], 0, &Builder::integer);
    cover.value = zeroRef(item.parts[3]);
    return cover;
  }

  Shown shown(const Item &item) {
    Shown shown{};
    if (item.is("signs"))
      return shown;
    for (auto [word, kind] : shownWords)
      if (item.is(word)) {
        shown.kind = kind;
        shown.parts = all(item, 1, &Builder::shown);
        return shown;
      }
    if (item.is("truth") && item.parts.size() == 4 && item.parts[1].is("at")) {
      shown.kind = Shown::Kind::Truth;
      shown.place = places(item.parts[1]);
      shown.parts = all(item, 2, &Builder::shown);
      return shown;
    }
    if (item.is("point") && item.parts.size() == 3) {
      shown.kind = Shown::Kind::Point;
      shown.need = number(item.parts[1]);
      shown.map = all(item.parts[2], 0, &Builder::integer);
      return shown;
    }
    if (item.is("bound") && item.parts.size() >= 3) {
      shown.kind = Shown::Kind::Bound;
      shown.isNegative = item.parts[1].text == "-";
      shown.value = zeroRef(item.parts[2]);
      shown.bounds = all(item, 3, &Builder::multiple);
      return shown;
    }
    bool isDivisor = item.is("divisor") && item.parts.size() == 5;
    if (!isDivisor && !has(item, "given", 4, "expected a reason for a sign"))
      return shown;
    shown.kind = isDivisor ? Shown::Kind::Divisor : Shown::Kind::Given;
    shown.need = number(item.parts[1]);
    if (isDivisor)
      shown.factor = number(item.parts[2]);
    else
      shown.isNegative = item.parts[2].text == "-";
    shown.map = all(item.parts[3], 0, &Builder::integer);
    shown.value = zeroRef(item.parts[4]);
    return shown;
  }

  Multiple multiple(const Item &item) {
    Multiple result{0, 1, {}};
    if (item.kind != Item::Kind::List || item.parts.size() < 2) {
      fail(item, "expected (over under known ...)");
      return result;
    }
    result.over = number(item.parts[0]);
    result.under = number(item.parts[1]);
    result.known = all(item, 2, &Builder::number);
    return result;
  }

  std::string &error;
};

} // namespace

std::optional<Proof> parseProof(StringRef text, std::string &error) {
  error.clear();
  std::optional<Item> item = Reader(text, error).read();
  if (!item)
    return std::nullopt;
  Proof proof = Builder(error).proof(*item);
  if (!error.empty())
    return std::nullopt;
  return proof;
}

} // namespace mlc::kernel
