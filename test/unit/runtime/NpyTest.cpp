//===- NpyTest.cpp - Array files, against NumPy where there is one --------===//

#include "runtime/Npy.h"
#include "Folder.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace mlc::runtime;
using Catch::Contains;

namespace {

std::string npy(const std::string &dictionary, const std::string &data,
                char version = 1) {
  std::string text = dictionary + "\n", length;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    length += char(text.size() >> (8 * i));
  return std::string("\x93NUMPY") + version + '\0' + length + text + data;
}

Status parse(const std::string &bytes, NpyArray &array) {
  // A heap copy of the exact size, so that ASan sees a read behind the end.
  std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  return parseNpy(exact.data(), exact.size(), array);
}

std::string text(const NpyArray &array) {
  return {reinterpret_cast<const char *>(array.data.data()), array.bytes};
}

std::string pack(const std::vector<NpzItem> &items) {
  std::string bytes;
  Status status = writeNpz(items, [&](const void *data, size_t size) {
    bytes.append(static_cast<const char *>(data), size);
    return true;
  });
  REQUIRE(status.ok());
  return bytes;
}

void save(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace

TEST_CASE("npy headers in all their forms", "[npy]") {
  NpyArray a;
  REQUIRE(
      parse(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }",
                "abcdef"),
            a)
          .ok());
  CHECK(a.type == DType::U8);
  CHECK(a.dims == std::vector<int64_t>{2, 3});
  CHECK(text(a) == "abcdef");
  // Keys in another order, double quotes, version 3, Fortran order.
  REQUIRE(
      parse(npy("{\"shape\":(3,2),\"fortran_order\":True,\"descr\":\"|i1\"}",
                "adbecf!", 3),
            a)
          .ok());
  CHECK(text(a) == "aedcbf");
  REQUIRE(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                    "01234567", 2),
                a)
              .ok());
  CHECK(a.dims.empty());
  CHECK(a.bytes == 8);
  REQUIRE(parse(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (0, "
                    "9223372036854775807)}",
                    ""),
                a)
              .ok());
  CHECK(a.bytes == 0);
}

TEST_CASE("npy files that are refused", "[npy]") {
  NpyArray a;
  auto error = [&](const std::string &dictionary) {
    return parse(npy(dictionary, "0123"), a).message;
  };
  CHECK_THAT(error("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}"),
             Contains("big-endian"));
  CHECK_THAT(error("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}"),
             Contains("element type <c8"));
  CHECK_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
             Contains("truncated"));
  CHECK_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(4294967296, 4294967296)}"),
             Contains("no valid"));
  CHECK_THAT(error("{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}"),
             Contains("17 dims"));
  CHECK_THAT(error("{'descr': [('a', '<f4')], 'fortran_order': False, "
                   "'shape': (1,)}"),
             Contains("no valid"));
  CHECK_THAT(error("{'descr': '<f4'}"), Contains("no valid"));
  CHECK_THAT(readNpy("/no/such.npy", a).message,
             Contains("/no/such.npy: cannot open"));
}

TEST_CASE("no damage to a .npy or .npz crashes", "[npy]") {
  std::string one = npyHeader(DType::F32, {2, 2}) + std::string(16, 'x');
  NpyArray a;
  for (size_t i = 0; i < one.size(); ++i) {
    CHECK_FALSE(parse(one.substr(0, i), a).ok());
    for (int change : {1, 8, 127, 255}) {
      std::string damaged = one;
      damaged[i] ^= change;
      (void)parse(damaged, a);
    }
  }
  std::string data(64, 'y');
  std::string all = pack({{"first", DType::F32, {16}, data.data(), 64},
                          {"second", DType::U8, {2}, data.data(), 2}});
  auto readAll = [&](const std::string &bytes) {
    std::vector<uint8_t> exact(bytes.begin(), bytes.end());
    NpzFile file;
    bool ok = file.openMemory(exact.data(), exact.size()).ok();
    for (const std::string &name : file.names())
      ok &= file.read(name, a).ok();
    return ok && file.names().size() == 2;
  };
  CHECK(readAll(all));
  for (size_t i = 0; i < all.size(); ++i) {
    CHECK_FALSE(readAll(all.substr(0, i)));
    for (int change : {1, 128, 255}) {
      std::string damaged = all;
      damaged[i] ^= change;
      readAll(damaged);
    }
  }
}

TEST_CASE("NumPy reads what we write and the reverse", "[npy]") {
  const char *python = std::getenv("MLC_PYTHON");
  std::string command = python ? python : MLC_PYTHON;
  if (std::system((command + " -c 'import numpy' 2> /dev/null").c_str()) != 0) {
    WARN("no Python with NumPy at " << command << ": not compared");
    return;
  }
  mlc::test::Folder folder;
  save(folder / "make.py", R"(
import numpy as np, sys
d = sys.argv[1]
types = 'f4 f2 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1'.split()
arrays = {t: (np.arange(24).reshape(2, 3, 4) % 5).astype(t) for t in types}
arrays['fortran'] = np.asfortranarray(np.arange(60, dtype='f4').reshape(3, 4, 5))
arrays['scalar'] = np.float64(3.5)
arrays['empty'] = np.zeros((0, 7), 'f4')
np.savez(d + '/stored.npz', **arrays)
np.savez_compressed(d + '/packed.npz', **arrays)
)");
  save(folder / "check.py", R"(
import numpy as np, sys
d = sys.argv[1]
want = np.load(d + '/stored.npz')
got = np.load(d + '/ours.npz')
assert list(want) == list(got), list(got)
for k in want:
    a, b = want[k], got[k]
    assert a.dtype == b.dtype and a.shape == b.shape and (a == b).all(), k
)");
  REQUIRE(std::system((command + " " + (folder / "make.py") + " " +
                       folder.path.string())
                          .c_str()) == 0);
  for (const char *file : {"stored.npz", "packed.npz"}) {
    NpzFile in;
    Status status = in.open(folder / file);
    INFO(status.message);
    REQUIRE(status.ok());
    std::vector<NpyArray> arrays;
    std::vector<NpzItem> items;
    for (const std::string &name : in.names()) {
      arrays.emplace_back();
      REQUIRE(in.read(name, arrays.back()).ok());
    }
    for (size_t i = 0; i < arrays.size(); ++i)
      items.push_back({in.names()[i], arrays[i].type, arrays[i].dims,
                       arrays[i].data.data(), arrays[i].bytes});
    CHECK(items.size() == 15);
    save(folder / "ours.npz", pack(items));
    CHECK(std::system((command + " " + (folder / "check.py") + " " +
                       folder.path.string())
                          .c_str()) == 0);
  }
}
