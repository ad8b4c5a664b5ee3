//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//

#include "runtime/Npy.h"

#include <cctype>
#include <cstring>

namespace mlc::runtime {

namespace {

struct Code {
  DType type;
  const char *text;
};
constexpr Code codes[] = {
    {DType::F32, "<f4"}, {DType::F16, "<f2"}, {DType::BF16, "<V2"},
    {DType::F64, "<f8"}, {DType::I8, "|i1"},  {DType::I16, "<i2"},
    {DType::I32, "<i4"}, {DType::I64, "<i8"}, {DType::U8, "|u1"},
    {DType::U16, "<u2"}, {DType::U32, "<u4"}, {DType::U64, "<u8"},
    {DType::Bool, "|b1"}};

/// The header's dictionary: {'descr': '<f4', 'fortran_order': False,
/// 'shape': (2, 3), }, keys in any order.
class HeaderParser {
public:
  HeaderParser(const char *at, const char *end) : at(at), end(end) {}

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> dims;

  bool parse() {
    if (!take('{'))
      return false;
    bool haveDescr = false, haveOrder = false, haveShape = false;
    while (!take('}')) {
      std::string key;
      if (!text(key) || !take(':'))
        return false;
      if (key == "descr")
        haveDescr = text(descr);
      else if (key == "fortran_order")
        haveOrder = boolean();
      else if (key == "shape")
        haveShape = shape();
      else
        return false;
      if (!take(',') && !peek('}'))
        return false;
    }
    return haveDescr && haveOrder && haveShape;
  }

private:
  void skip() {
    while (at != end && std::isspace(static_cast<unsigned char>(*at)))
      ++at;
  }
  bool peek(char c) {
    skip();
    return at != end && *at == c;
  }
  bool take(char c) {
    if (!peek(c))
      return false;
    ++at;
    return true;
  }
  bool text(std::string &result) {
    skip();
    if (at == end || (*at != '\'' && *at != '"'))
      return false;
    char quote = *at++;
    result.clear();
    while (at != end && *at != quote)
      result += *at++;
    return take(quote);
  }
  bool word(const char *w) {
    skip();
    size_t length = std::strlen(w);
    if (size_t(end - at) < length || std::memcmp(at, w, length) != 0)
      return false;
    at += length;
    return true;
  }
  bool boolean() {
    fortran = word("True");
    return fortran || word("False");
  }
  bool shape() {
    dims.clear();
    if (!take('('))
      return false;
    while (!take(')')) {
      skip();
      if (at == end || !std::isdigit(static_cast<unsigned char>(*at)))
        return false;
      int64_t value = 0;
      for (; at != end && std::isdigit(static_cast<unsigned char>(*at)); ++at)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *at - '0', &value))
          return false;
      word("L"); // Python 2's suffix of long integers
      dims.push_back(value);
      if (!take(',') && !peek(')'))
        return false;
    }
    return true;
  }

  const char *at, *end;
};

Status findType(const std::string &descr, DType &type) {
  for (const Code &code : codes) {
    std::string text = code.text;
    bool oneByte = byteSize(code.type) == 1;
    // Byte order is irrelevant for one byte, and not written for void.
    if (descr == text || descr == "=" + text.substr(1) ||
        (oneByte && descr == "<" + text.substr(1)) ||
        (code.type == DType::BF16 && descr == "|V2")) {
      type = code.type;
      return Status::success();
    }
  }
  if (!descr.empty() && descr[0] == '>')
    return Status::error(MLC_UNSUPPORTED, "is big-endian (" + descr +
                                              "); save it as little-endian");
  return Status::error(MLC_UNSUPPORTED, "has element type " +
                                            descr.substr(0, 40) +
                                            ", which is not supported");
}

/// Copies a tensor in Fortran order into C order.
void fromFortran(const uint8_t *from, uint8_t *to, size_t width,
                 const std::vector<int64_t> &dims, uint64_t count) {
  size_t rank = dims.size();
  std::vector<int64_t> index(rank, 0);
  std::vector<uint64_t> stride(rank, 1);
  for (size_t d = 1; d < rank; ++d)
    stride[d] = stride[d - 1] * dims[d - 1];
  uint64_t source = 0;
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * width, from + source * width, width);
    for (size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++index[d] < dims[d])
        break;
      source -= stride[d] * dims[d];
      index[d] = 0;
    }
  }
}

} // namespace

Status parseNpy(const uint8_t *data, size_t size, NpyArray &array) {
  auto damaged = [] { return Status::badFile("is no valid .npy file"); };
  if (size < 10 || std::memcmp(data, "\x93NUMPY", 6) != 0)
    return damaged();
  size_t lengthBytes = data[6] == 1 ? 2 : 4, start = 8 + lengthBytes;
  if (data[6] < 1 || data[6] > 3 || size < start)
    return damaged();
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(data[8 + i]) << (8 * i);
  if (length > size - start)
    return damaged();
  const char *text = reinterpret_cast<const char *>(data + start);
  HeaderParser header(text, text + length);
  if (!header.parse())
    return damaged();
  Status status = findType(header.descr, array.type);
  if (!status.ok())
    return status;
  if (header.dims.size() > MLC_MAX_RANK)
    return Status::error(MLC_UNSUPPORTED,
                         "has " + std::to_string(header.dims.size()) +
                             " dims; at most " + std::to_string(MLC_MAX_RANK) +
                             " are supported");
  size_t width = byteSize(array.type);
  uint64_t count = 1;
  for (int64_t dim : header.dims)
    if (dim == 0)
      count = 0;
  for (int64_t dim : header.dims)
    if (count && __builtin_mul_overflow(count, uint64_t(dim), &count))
      return damaged();
  const uint8_t *elements = data + start + length;
  uint64_t available = size - start - length;
  if (count > available / width)
    return Status::badFile("is truncated: its shape needs more data than the " +
                           std::to_string(available) + " bytes it has");
  array.dims = std::move(header.dims);
  array.bytes = count * width;
  bool grown;
  status = array.data.reserve(array.bytes, grown);
  if (!status.ok() || count == 0)
    return status;
  if (header.fortran)
    fromFortran(elements, array.data.data(), width, array.dims, count);
  else
    std::memcpy(array.data.data(), elements, array.bytes);
  return status;
}

Status readNpy(const std::string &path, NpyArray &array) {
  Mapping file;
  Status status = file.open(path.c_str());
  if (status.ok())
    status = parseNpy(file.data(), file.size(), array);
  if (!status.ok())
    status.message = path + ": " + status.message;
  return status;
}

std::string npyHeader(DType type, const std::vector<int64_t> &dims) {
  std::string text = "{'descr': '";
  for (const Code &code : codes)
    if (code.type == type)
      text += code.text;
  text += "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? ", " : "") + std::to_string(dims[d]);
  text += dims.size() == 1 ? ",), }" : "), }";
  // Ten bytes, the text and a newline must fill a multiple of 64.
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(text.size() & 255);
  header += char(text.size() >> 8);
  return header + text;
}

} // namespace mlc::runtime
