//===- StateWrites.cpp - New values of states, in place -------------------===//

#include "codegen/StateWrites.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <set>

using namespace mlc::runtime;
using llvm::ArrayRef;

namespace mlc {

namespace {

class StateWriter {
public:
  explicit StateWriter(Program &program) : program(program) {}

  void run(ArrayRef<StateWrite> all) {
    takeWrites(all);
    keepOldOutputs();
    for (const StateWrite &write : writes)
      if (!writeInPlace(write))
        copyWhenUnread(write);
    insertCopies();
  }

private:
  const Buffer &bufferOf(BufferId id) const { return program.buffers[id]; }
  BufferId root(BufferId id) const { return rootOf(program, id); }

  /// Bytes of a tensor of fixed size; nullopt for other tensors.
  std::optional<uint64_t> bytesOf(BufferId id) const {
    uint64_t bytes = byteSize(bufferOf(id).type);
    for (ExprId dim : bufferOf(id).dims) {
      const Expr &expr = program.exprs[dim];
      if (expr.code.size() != 1 || expr.code[0].op != Expr::Const)
        return std::nullopt;
      bytes *= expr.code[0].operand;
    }
    return bytes;
  }
  /// Whether the buffer covers its whole memory.
  bool isWhole(BufferId id) const {
    std::optional<uint64_t> bytes = bytesOf(id);
    for (; bufferOf(id).kind == Buffer::Alias; id = bufferOf(id).source)
      if (program.exprs[bufferOf(id).offsetExpr] != Expr::constant(0))
        return false;
    return bytes && bytesOf(id) == bytes;
  }

  void takeWrites(ArrayRef<StateWrite> all);
  void keepOldOutputs();
  BufferId copyOf(BufferId value);
  bool writeInPlace(const StateWrite &write);
  bool mayOverwrite(const Step &step, const StateWrite &write) const;
  void copyWhenUnread(const StateWrite &write);
  void insertCopies();

  static constexpr int64_t never = -1;
  int64_t lastReader(BufferId memory) const {
    int64_t last = never;
    for (auto [s, step] : llvm::enumerate(program.steps))
      for (BufferId input : step.inputs)
        if (root(input) == memory)
          last = s;
    return last;
  }
  std::pair<int64_t, int64_t> writersOf(BufferId memory) const {
    int64_t first = program.steps.size(), last = never;
    for (auto [s, step] : llvm::enumerate(program.steps))
      for (BufferId output : step.outputs)
        if (root(output) == memory) {
          first = std::min<int64_t>(first, s);
          last = s;
        }
    return {first, last};
  }

  Program &program;
  llvm::SmallVector<StateWrite> writes;
  /// Copies, each with the index of the step that it precedes.
  std::vector<std::pair<size_t, Step>> copies;
};

/// A new buffer into which `value` is copied after all steps so far.
BufferId StateWriter::copyOf(BufferId value) {
  Buffer copy = Buffer::arena(0, bufferOf(value).type, bufferOf(value).dims,
                              bufferOf(value).name);
  Expr bytes = Expr::constant(byteSize(copy.type));
  for (ExprId dim : copy.dims)
    bytes = bytes * program.exprs[dim];
  if (std::optional<uint64_t> known = bytesOf(value))
    bytes = Expr::constant(*known);
  copy.sizeExpr = program.addExpr(bytes);
  BufferId id = program.addBuffer(std::move(copy));
  program.steps.push_back(Step::assign(id, value));
  return id;
}

/// Makes every new value a whole arena buffer that no other state shares.
void StateWriter::takeWrites(ArrayRef<StateWrite> all) {
  std::set<BufferId> taken;
  for (StateWrite write : all) {
    bool isUnchanged = root(write.value) == write.state && isWhole(write.value);
    if (isUnchanged)
      continue;
    if (bufferOf(root(write.value)).kind != Buffer::Arena ||
        !isWhole(write.value) || !taken.insert(root(write.value)).second)
      write.value = copyOf(write.value);
    writes.push_back(write);
  }
}

/// Copies outputs that are old values before these are overwritten.
void StateWriter::keepOldOutputs() {
  for (Port &port : program.outputs)
    if (llvm::any_of(writes, [&](const StateWrite &write) {
          return write.state == root(port.buffer);
        }))
      port.buffer = copyOf(port.buffer);
}

/// Whether `step`, the last reader of the old value, may overwrite it with the
/// new one.
bool StateWriter::mayOverwrite(const Step &step,
                               const StateWrite &write) const {
  BufferId memory = root(write.value);
  std::optional<uint32_t> written;
  for (auto [o, output] : llvm::enumerate(step.outputs)) {
    if (root(output) != memory)
      continue;
    if (written || !isWhole(output))
      return false;
    written = o;
  }
  for (auto [i, input] : llvm::enumerate(step.inputs)) {
    if (root(input) != write.state)
      continue;
    bool isPermitted = llvm::any_of(step.inPlace, [&, i = i](InPlace pair) {
      return pair.input == i && pair.output == written;
    });
    if (!isPermitted || !isWhole(input))
      return false;
  }
  return written.has_value();
}

bool StateWriter::writeInPlace(const StateWrite &write) {
  BufferId memory = root(write.value);
  int64_t reader = lastReader(write.state);
  int64_t writer = writersOf(memory).first;
  if (reader > writer ||
      (reader == writer && !mayOverwrite(program.steps[writer], write)))
    return false;
  Buffer &buffer = program.buffers[memory];
  buffer.kind = Buffer::Alias;
  buffer.source = write.state;
  buffer.offsetExpr = program.addConstant(0);
  return true;
}

void StateWriter::copyWhenUnread(const StateWrite &write) {
  int64_t reader = lastReader(write.state);
  int64_t writer = writersOf(root(write.value)).second;
  copies.push_back(
      {std::max(reader, writer) + 1, Step::assign(write.state, write.value)});
}

void StateWriter::insertCopies() {
  std::stable_sort(
      copies.begin(), copies.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Step> steps;
  auto next = copies.begin();
  for (size_t s = 0; s <= program.steps.size(); ++s) {
    for (; next != copies.end() && next->first == s; ++next)
      steps.push_back(std::move(next->second));
    if (s < program.steps.size())
      steps.push_back(std::move(program.steps[s]));
  }
  program.steps = std::move(steps);
}

} // namespace

void addStateWrites(Program &program, ArrayRef<StateWrite> writes) {
  StateWriter(program).run(writes);
}

} // namespace mlc
