//===- Serialize.cpp - The program's bytes --------------------------------===//
//
// Integers are LEB128 (signed ones zigzag), strings a length and bytes, lists a
// count and entries. A count is believed only up to the number of bytes left,
// since every entry takes at least one.
//
//===----------------------------------------------------------------------===//

#include "runtime/Program.h"

namespace mlc::runtime {

namespace {

class Writer {
public:
  std::vector<uint8_t> bytes;

  void number(uint64_t v) {
    for (; v >= 0x80; v >>= 7)
      bytes.push_back(uint8_t(v) | 0x80);
    bytes.push_back(uint8_t(v));
  }
  template <typename T> void field(const T &v) {
    if constexpr (std::is_same_v<T, int64_t>)
      number((uint64_t(v) << 1) ^ uint64_t(v >> 63));
    else
      number(uint64_t(v));
  }
  void field(const std::string &s) {
    number(s.size());
    bytes.insert(bytes.end(), s.begin(), s.end());
  }
  template <typename T> void field(const std::optional<T> &v) {
    number(v ? uint64_t(*v) + 1 : 0);
  }
  template <typename T> void enumeration(const T &v, unsigned) {
    number(uint64_t(v));
  }
  template <typename T, typename Fn>
  void list(const std::vector<T> &values, Fn entry) {
    number(values.size());
    for (const T &v : values)
      entry(*this, v);
  }
};

class Reader {
public:
  Reader(const uint8_t *data, size_t size) : at(data), end(data + size) {}

  bool failed = false;
  size_t left() const { return end - at; }

  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at == end)
        return fail();
      uint64_t byte = *at++;
      uint64_t bits = byte & 0x7f;
      if (shift == 63 && bits > 1)
        return fail();
      value |= bits << shift;
      if (byte < 0x80)
        return value;
    }
    return fail();
  }
  template <typename T> void field(T &v) {
    uint64_t raw = number();
    if constexpr (std::is_same_v<T, int64_t>) {
      v = int64_t(raw >> 1) ^ -int64_t(raw & 1);
    } else {
      v = T(raw);
      if (uint64_t(v) != raw)
        fail();
    }
  }
  void field(std::string &s) {
    uint64_t length = number();
    if (length > left()) {
      fail();
      return;
    }
    s.assign(reinterpret_cast<const char *>(at), length);
    at += length;
  }
  template <typename T> void field(std::optional<T> &v) {
    uint64_t raw = number();
    if (raw > uint64_t(UINT32_MAX) + 1)
      fail();
    else if (raw)
      v = T(raw - 1);
  }
  template <typename T> void enumeration(T &v, unsigned count) {
    uint64_t raw = number();
    if (raw >= count)
      fail();
    else
      v = T(raw);
  }
  template <typename T, typename Fn>
  void list(std::vector<T> &values, Fn entry) {
    uint64_t count = number();
    if (count > left()) {
      fail();
      return;
    }
    // Grows with what is really there: an entry in memory may be much larger
    // than its byte in the file.
    values.clear();
    for (uint64_t i = 0; i < count && !failed; ++i) {
      values.emplace_back();
      entry(*this, values.back());
    }
  }

private:
  uint64_t fail() {
    failed = true;
    at = end;
    return 0;
  }
  const uint8_t *at, *end;
};

// One description of each struct serves both directions.

const auto ids = [](auto &io, auto &id) { io.field(id); };
const auto texts = [](auto &io, auto &text) { io.field(text); };

const auto symbol = [](auto &io, auto &s) {
  io.field(s.name);
  io.enumeration(s.kind, 2);
  io.field(s.source);
  io.field(s.index);
  io.field(s.min);
  io.field(s.max);
};

const auto expr = [](auto &io, auto &e) {
  io.list(e.code, [](auto &io, auto &inst) {
    io.enumeration(inst.op, Expr::Max + 1);
    if (inst.op == Expr::Const || inst.op == Expr::Symbol)
      io.field(inst.operand);
  });
};

const auto check = [](auto &io, auto &c) {
  io.enumeration(c.kind, Check::Divides + 1);
  io.field(c.lhs);
  io.field(c.rhs);
  io.field(c.message);
};

const auto buffer = [](auto &io, auto &b) {
  io.enumeration(b.kind, Buffer::Parameter + 1);
  io.enumeration(b.type, numDTypes);
  io.list(b.dims, ids);
  io.field(b.name);
  if (b.kind == Buffer::Input || b.kind == Buffer::Alias)
    io.field(b.source);
  if (b.isWeight()) {
    io.field(b.offset);
    io.field(b.size);
  }
  if (b.kind == Buffer::Arena || b.kind == Buffer::Alias)
    io.field(b.sizeExpr);
  if (b.kind == Buffer::Alias)
    io.field(b.offsetExpr);
};

const auto port = [](auto &io, auto &p) {
  io.field(p.name);
  io.field(p.buffer);
};

const auto step = [](auto &io, auto &s) {
  io.enumeration(s.kind, Step::BindSymbol + 1);
  io.field(s.name);
  io.list(s.nodes, texts);
  io.list(s.inputs, ids);
  io.list(s.outputs, ids);
  io.list(s.args, ids);
  if (s.kind == Step::Launch) {
    io.field(s.kernel);
    io.field(s.tasks);
    io.field(s.scratch);
    io.field(s.work);
    io.list(s.inPlace, [](auto &io, auto &p) {
      io.field(p.output);
      io.field(p.input);
    });
  }
  if (s.kind == Step::BindSymbol) {
    io.field(s.symbol);
    io.field(s.element);
  }
};

template <typename IO, typename P> void program(IO &io, P &p) {
  io.field(p.target);
  io.list(p.features, texts);
  io.list(p.metadata, [](auto &io, auto &entry) {
    io.field(entry.first);
    io.field(entry.second);
  });
  io.list(p.symbols, symbol);
  io.list(p.exprs, expr);
  io.list(p.checks, check);
  io.list(p.kernels, texts);
  io.list(p.buffers, buffer);
  io.list(p.inputs, port);
  io.list(p.outputs, port);
  io.list(p.parameters, port);
  io.list(p.steps, step);
}

} // namespace

std::vector<uint8_t> serialize(const Program &p) {
  Writer writer;
  program(writer, p);
  return std::move(writer.bytes);
}

Status deserialize(const uint8_t *data, size_t size, Program &p) {
  Reader reader(data, size);
  p = Program();
  program(reader, p);
  if (reader.failed || reader.left() != 0)
    return Status::badFile("the program section is damaged");
  return Status::success();
}

} // namespace mlc::runtime
