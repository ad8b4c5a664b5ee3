//===- PartialText.cpp - Expressions as functions of mlc ------------------===//
//
// Operators one by one, or several of them as the element of one mlc.compute.
//
//===----------------------------------------------------------------------===//

#include "Partial.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;
using llvm::StringRef;

namespace mlc::test {

namespace {

StringRef elementOf(char type) {
  return type == 'f' ? "f32" : type == 'i' ? "i64" : "i1";
}
std::string typeOf(char type) {
  return formatv("tensor<?x{0}, #mlc.dims<[n]>>", elementOf(type));
}
std::string literal(double value) {
  std::string text = formatv("{0}", value);
  return StringRef(text).contains('.') ? text : text + ".0";
}

class Writer {
public:
  Writer(const PartialPair &pair, unsigned fusion) : fusion(fusion) {
    llvm::raw_string_ostream os(header);
    for (auto [i, type] : llvm::enumerate(pair.arguments))
      os << (i ? ", %" : "%") << 'x' << i << ": " << typeOf(type);
  }

  std::string write(StringRef name, const TermRef &result,
                    llvm::ArrayRef<TermRef> dead) {
    for (const TermRef &term : dead)
      (void)valueOf(term);
    std::string value = valueOf(result);
    return formatv("func.func @{0}({1}) -> {2} {{\n{3}  return {4} : {2}\n}\n",
                   name, header, typeOf(result->type), body, value);
  }

private:
  std::string fresh() { return "%v" + std::to_string(next++); }

  /// The value that holds a term, which is computed once.
  std::string valueOf(const TermRef &term) {
    if (term->name == "argument")
      return "%x" + std::to_string(unsigned(term->number));
    auto [it, isNew] = values.try_emplace(term.get());
    if (!isNew)
      return it->second;
    bool isFused = canFuse(*term) && fusion > 0 && ++count % fusion == 0;
    std::string value = isFused ? compute(term) : operation(term);
    return values[term.get()] = value;
  }

  std::string emit(const llvm::Twine &operation, llvm::ArrayRef<char> operands,
                   char result) {
    std::string value = fresh();
    std::vector<std::string> types;
    for (char type : operands)
      types.push_back(typeOf(type));
    body += formatv("  {0} = mlc.{1} : ({2}) -> {3}\n", value, operation.str(),
                    llvm::join(types, ", "), typeOf(result));
    return value;
  }

  std::string operation(const TermRef &term) {
    std::vector<std::string> operands;
    std::vector<char> types;
    for (const TermRef &operand : term->operands) {
      operands.push_back(valueOf(operand));
      types.push_back(operand->type);
    }
    StringRef name = term->name, element = elementOf(term->type);
    std::string list = llvm::join(operands, ", ");
    char type = term->type;
    if (name == "number")
      return emit(formatv("fill {{dims = #mlc.dims<[n]>, value = "
                          "#mlc.real<{0}>, type = {1}}",
                          literal(term->number), element)
                      .str(),
                  {}, type);
    if (name == "pick")
      return compute(term);
    if (name.consume_front("through:")) {
      std::string narrow = fresh(), value = fresh(),
                  between =
                      formatv("tensor<?x{0}, #mlc.dims<[n]>>", name).str();
      body += formatv("  {0} = mlc.cast {1} {{to = {2}} : ({3}) -> {4}\n",
                      narrow, list, name, typeOf(types[0]), between);
      body += formatv("  {0} = mlc.cast {1} {{to = f32} : ({2}) -> {3}\n",
                      value, narrow, between, typeOf(type));
      return value;
    }
    if (name.starts_with("top_k")) {
      std::string v = fresh(), w = fresh();
      body += formatv("  {0}, {1} = mlc.top_k {2} {{axis = 0 : i64, k = "
                      "#mlc.int<n>, largest = true, sorted = true} : ({3}) -> "
                      "({4}, {5})\n",
                      v, w, list, typeOf(types[0]), typeOf('f'), typeOf('i'));
      return name == "top_k" ? v : w;
    }
    if (name == "sum") {
      std::string total = fresh(), one = fresh(), value = fresh();
      body += formatv("  {0} = mlc.reduce {1} {{kind = \"sum\", axes = "
                      "array<i64: 0>} : ({2}) -> tensor<1xf32>\n",
                      total, list, typeOf('f'));
      body += formatv("  {0} = mlc.broadcast {1} {{dims = #mlc.dims<[n]>} : "
                      "(tensor<1xf32>) -> {2}\n",
                      value, total, typeOf('f'));
      return value;
    }
    std::string attributes;
    if (name == "cast")
      attributes = formatv(" {{to = {0}}", element);
    if (name == "gather")
      attributes = " {axis = 0 : i64}";
    if (name == "reverse")
      attributes = " {axes = array<i64: 0>}";
    if (name.consume_front("compare:")) {
      attributes = formatv(" {{predicate = \"{0}\"}", name);
      name = "compare";
    }
    return emit(name + " " + list + attributes, types, type);
  }

  //===--------------------------------------------------------------------===//
  // Index notation
  //===--------------------------------------------------------------------===//

  static bool canFuse(const Term &term) {
    StringRef name = term.name;
    return !(name == "number" || name == "reverse" || name == "sum" ||
             name == "gather" || name.starts_with("top_k") ||
             name.starts_with("through:"));
  }

  /// A term, and what it is made of, as one element.
  std::string compute(const TermRef &term) {
    std::vector<TermRef> inputs;
    std::string element = elementText(*term, inputs, 0);
    std::vector<std::string> names, operands;
    std::vector<char> types;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      names.push_back("a" + std::to_string(i));
      operands.push_back(valueOf(input));
      types.push_back(input->type);
    }
    return emit(formatv("compute {0} {{definition = \"({1}; n) Y[q] = {2}\", "
                        "dims = #mlc.dims<[n]>, integers = #mlc.dims<[n]>, "
                        "reals = [], type = {3}}",
                        llvm::join(operands, ", "), llvm::join(names, ", "),
                        element, elementOf(term->type))
                    .str(),
                types, term->type);
  }

  static std::string inputText(const TermRef &term,
                               std::vector<TermRef> &inputs) {
    auto it = llvm::find(inputs, term);
    unsigned number = it - inputs.begin();
    if (it == inputs.end())
      inputs.push_back(term);
    return "a" + std::to_string(number);
  }

  std::string elementText(const Term &term, std::vector<TermRef> &inputs,
                          unsigned depth) {
    auto operand = [&](unsigned i) -> std::string {
      const TermRef &own = term.operands[i];
      if (own->name == "number") {
        std::string text = literal(own->number);
        if (own->type == 'f')
          return formatv("f32({0})", text);
        return formatv("{0}({1})", elementOf(own->type), int64_t(own->number));
      }
      if (depth < 2 && canFuse(*own) && own->name != "argument")
        return elementText(*own, inputs, depth + 1);
      return inputText(own, inputs) + "[q]";
    };
    StringRef name = term.name;
    static const std::pair<StringRef, StringRef> signs[] = {
        {"add", "+"},         {"sub", "-"},         {"mul", "*"},
        {"div", "/"},         {"compare:eq", "=="}, {"compare:ne", "!="},
        {"compare:lt", "<"},  {"compare:le", "<="}, {"compare:gt", ">"},
        {"compare:ge", ">="},
    };
    for (auto [long_, sign] : signs)
      if (name == long_)
        return formatv("({0} {1} {2})", operand(0), sign, operand(1));
    if (name == "pick")
      return formatv("{0}<0>[index({1})]", inputText(term.operands[0], inputs),
                     operand(1));
    if (name == "cast")
      return formatv("{0}({1})", elementOf(term.type), operand(0));
    if (name == "neg")
      return formatv("(-{0})", operand(0));
    std::vector<std::string> operands;
    for (unsigned i = 0; i < term.operands.size(); ++i)
      operands.push_back(operand(i));
    return formatv("{0}({1})", name, llvm::join(operands, ", "));
  }

  unsigned fusion, count = 0, next = 0;
  std::string header, body;
  std::map<const Term *, std::string> values;
};

} // namespace

std::string partialText(const PartialPair &pair, Random &random) {
  auto fusion = [&] { return unsigned(random() % 4); };
  if (!pair.function)
    return Writer(pair, fusion())
               .write("before", pair.before, pair.deadBefore) +
           Writer(pair, fusion()).write("after", pair.after, pair.deadAfter);
  PartialPair function = pair;
  function.arguments.pop_back();
  return Writer(function, fusion()).write("f", pair.function, {}) +
         Writer(pair, fusion()).write("g", pair.after, pair.deadAfter);
}

} // namespace mlc::test
