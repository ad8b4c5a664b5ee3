//===- Serialize.cpp - The bytes of the program and of the images' table --===//
//
// Integers are LEB128 (signed ones zigzag), strings a length and bytes, lists a
// count and entries, reals their bits as an integer. A count must not exceed
// the number of bytes left, since every entry takes at least one.
//
//===----------------------------------------------------------------------===//

#include "runtime/CodeImage.h"
#include "runtime/Program.h"

#include <algorithm>
#include <cstring>

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
  void kind(const StepDetail &detail) { number(detail.index()); }
  void imageKind(ImageKind kind) { number(uint32_t(kind)); }
  void digest(const Digest &hash) {
    bytes.insert(bytes.end(), hash.begin(), hash.end());
  }
  template <typename T, typename Fn>
  void list(const std::vector<T> &values, Fn entry) {
    number(values.size());
    for (const T &v : values)
      entry(*this, v);
  }
  void real(const double &v) {
    uint64_t raw;
    std::memcpy(&raw, &v, sizeof(raw));
    number(raw);
  }
  template <typename T, typename Fn>
  void optional(const std::optional<T> &value, Fn entry) {
    number(value.has_value());
    if (value)
      entry(*this, *value);
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
  void kind(StepDetail &detail) {
    if (!makeDetail(number(), detail))
      fail();
  }
  /// Accepts any number, since other versions have other kinds.
  void imageKind(ImageKind &kind) {
    uint32_t raw = 0;
    field(raw);
    kind = ImageKind(raw);
  }
  void digest(Digest &hash) {
    if (hash.size() > left()) {
      fail();
      return;
    }
    std::copy(at, at + hash.size(), hash.begin());
    at += hash.size();
  }
  template <typename T, typename Fn>
  void list(std::vector<T> &values, Fn entry) {
    uint64_t count = number();
    if (count > left()) {
      fail();
      return;
    }
    // Grow with the entries read and do not trust the count: an entry in memory
    // may be much larger than in the file.
    values.clear();
    for (uint64_t i = 0; i < count && !failed; ++i) {
      values.emplace_back();
      entry(*this, values.back());
    }
  }

  void real(double &v) {
    uint64_t raw = number();
    std::memcpy(&v, &raw, sizeof(raw));
  }
  template <typename T, typename Fn>
  void optional(std::optional<T> &value, Fn entry) {
    unsigned isThere = 0;
    enumeration(isThere, 2);
    value.reset();
    if (isThere)
      entry(*this, value.emplace());
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
  io.enumeration(s.kind, Symbol::FromRank + 1);
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
  io.enumeration(b.kind, Buffer::State + 1);
  io.enumeration(b.type, numDTypes);
  io.list(b.dims, ids);
  io.field(b.name);
  if (b.kind == Buffer::Input || b.kind == Buffer::Alias ||
      b.kind == Buffer::State)
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

const auto splits = [](auto &io, auto &s) {
  io.field(s.dim);
  io.field(s.axis);
  io.field(s.unit);
};

const auto port = [](auto &io, auto &p) {
  io.field(p.name);
  io.field(p.buffer);
  io.list(p.splits, splits);
  io.enumeration(p.role, numInputRoles);
};

const auto axis = [](auto &io, auto &a) {
  io.field(a.name);
  io.field(a.size);
};

const auto tensorMap = [](auto &io, auto &m) {
  io.field(m.operand);
  io.enumeration(m.element, numMapElements);
  io.field(m.offset);
  io.list(m.dims, ids);
  io.list(m.strides, ids);
  io.list(m.box, ids);
  io.list(m.steps, ids);
  io.field(m.swizzle);
  io.field(m.pixels);
  io.field(m.channels);
  io.list(m.lower, ids);
  io.list(m.upper, ids);
};

/// The fields of a step's kind, by their roles.
template <typename IO> struct Fields {
  IO &io;
  template <typename T> void kernel(const char *, T &id) { io.field(id); }
  template <typename T> void size(const char *, T &expr) { io.field(expr); }
  template <typename T> void binds(const char *, T &id) { io.field(id); }
  template <typename T> void number(const char *, T &value) { io.field(value); }
  template <typename T> void word(const char *, T &index, Words words) {
    io.enumeration(index, words.count);
  }
  template <typename T> void text(const char *, T &value) { io.field(value); }
  template <typename T> void axis(const char *, T &index) { io.field(index); }
  template <typename T> void starts(const char *, T &id) { io.field(id); }
  template <typename T> void waits(const char *, T &id) { io.field(id); }
  template <typename T> void maps(const char *, T &all) {
    io.list(all, tensorMap);
  }
};

const auto step = [](auto &io, auto &s) {
  io.kind(s.detail);
  io.field(s.name);
  io.list(s.nodes, texts);
  io.list(s.inputs, ids);
  io.list(s.outputs, ids);
  io.list(s.args, ids);
  io.list(s.inPlace, [](auto &io, auto &p) {
    io.field(p.output);
    io.field(p.input);
  });
  Fields<std::decay_t<decltype(io)>> fields{io};
  visitFields(s, fields);
};

const auto image = [](auto &io, auto &i) {
  io.imageKind(i.kind);
  io.field(i.target);
  io.list(i.features, texts);
  io.field(i.offset);
  io.field(i.size);
  io.digest(i.hash);
};

const auto state = [](auto &io, auto &s) {
  io.field(s.name);
  io.enumeration(s.type, numDTypes);
  io.list(s.dims, [](auto &io, auto &dim) { io.field(dim); });
  io.enumeration(s.initial, State::Stored + 1);
  if (s.initial == State::Stored)
    io.field(s.offset);
  io.field(s.size);
  io.list(s.splits, splits);
  io.enumeration(s.role, numStateRoles);
  io.field(s.owner);
};

const auto sample = [](auto &io, auto &s) {
  io.field(s.name);
  io.enumeration(s.type, numDTypes);
  io.list(s.dims, [](auto &io, auto &dim) { io.field(dim); });
  io.list(s.texts, texts);
};

const auto training = [](auto &io, auto &t) {
  io.field(t.batch);
  io.field(t.accumulate);
  io.field(t.stages);
  io.field(t.schedule);
  io.list(t.samples, sample);
  io.field(t.labels);
  io.field(t.classes);
  io.enumeration(t.takesNaN, 2);
  io.real(t.beta1);
  io.real(t.beta2);
  io.real(t.lossScale);
  io.enumeration(t.isScaleDynamic, 2);
  io.field(t.model);
  io.field(t.loss);
  io.field(t.optimizer);
  io.field(t.distribution);
};

const auto pipelinePort = [](auto &io, auto &p) {
  io.field(p.name);
  io.enumeration(p.type, numDTypes);
  io.list(p.dims, [](auto &io, auto &dim) { io.field(dim); });
  io.list(p.texts, texts);
  io.enumeration(p.isDivided, 2);
};

const auto pipeline = [](auto &io, auto &p) {
  io.field(p.stages);
  io.field(p.microBatches);
  io.field(p.ranks);
  io.field(p.schedule);
  io.list(p.inputs, pipelinePort);
  io.list(p.outputs, pipelinePort);
};

const auto program = [](auto &io, auto &p) {
  io.field(p.name);
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
};

const auto programs = [](auto &io, auto &all) {
  io.list(all.mesh, axis);
  io.list(all.states, state);
  io.list(all.entries, program);
  io.optional(all.training, training);
  io.optional(all.pipeline, pipeline);
};

template <typename T, typename Fn>
std::vector<uint8_t> write(const T &value, Fn description) {
  Writer writer;
  description(writer, value);
  return std::move(writer.bytes);
}

template <typename T, typename Fn>
Status read(const uint8_t *data, size_t size, T &value, Fn description) {
  Reader reader(data, size);
  value = T();
  description(reader, value);
  if (reader.failed || reader.left() != 0)
    return Status::badFile("the program section is damaged");
  return Status::success();
}

} // namespace

std::vector<uint8_t> serialize(const Program &p) { return write(p, program); }

Status deserialize(const uint8_t *data, size_t size, Program &p) {
  return read(data, size, p, program);
}

std::vector<uint8_t> serialize(const Programs &p) { return write(p, programs); }

Status deserialize(const uint8_t *data, size_t size, Programs &p) {
  return read(data, size, p, programs);
}

std::vector<uint8_t> serialize(const std::vector<CodeImage> &images) {
  Writer writer;
  writer.list(images, image);
  return std::move(writer.bytes);
}

Status deserialize(const uint8_t *data, size_t size,
                   std::vector<CodeImage> &images) {
  Reader reader(data, size);
  reader.list(images, image);
  if (reader.failed || reader.left() != 0)
    return Status::badFile("the table of code images is damaged");
  return Status::success();
}

} // namespace mlc::runtime
