//===- BundleTest.cpp - Several codes in one image ------------------------===//

#include "runtime/CodeBundle.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace mlc::runtime;
using Catch::Contains;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

const Pairs sample = {{"gemm_1", std::string("\x7f"
                                             "ELF\0\1\2",
                                             7)},
                      {"k", ""},
                      {"softmax", "extern \"C\" // 16 bytes"}};

Status read(const std::string &bytes, std::vector<BundleEntry> &entries) {
  // Exactly as long, for sanitizers.
  std::vector<char> copy(bytes.begin(), bytes.end());
  Status status = readBundle(copy.data(), copy.size(), entries);
  // Whatever is accepted lies inside.
  for (const BundleEntry &e : entries) {
    auto *begin = reinterpret_cast<const char *>(e.data);
    CHECK(begin >= copy.data());
    CHECK(begin + e.size < copy.data() + copy.size());
    CHECK(e.data[e.size] == 0);
  }
  return status;
}

void set(std::string &bytes, size_t at, uint64_t value) {
  std::memcpy(&bytes[at], &value, 8);
}

} // namespace

TEST_CASE("a bundle is read as it was written", "[bundle]") {
  std::string bytes = writeBundle(sample);
  CHECK(bytes == writeBundle(sample));
  std::vector<BundleEntry> entries;
  REQUIRE(readBundle(bytes.data(), bytes.size(), entries).ok());
  REQUIRE(entries.size() == sample.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    CHECK(entries[i].name == sample[i].first);
    auto *data = reinterpret_cast<const char *>(entries[i].data);
    CHECK(std::string(data, entries[i].size) == sample[i].second);
    CHECK((data - bytes.data()) % 16 == 0);
    CHECK(data[entries[i].size] == 0);
  }
  std::string none = writeBundle({});
  REQUIRE(readBundle(none.data(), none.size(), entries).ok());
  CHECK(entries.empty());
}

TEST_CASE("each way to damage a bundle is named", "[bundle]") {
  std::vector<BundleEntry> entries;
  auto broken = [&](size_t at, uint64_t value) {
    std::string bytes = writeBundle(sample);
    set(bytes, at, value);
    Status status = read(bytes, entries);
    CHECK(status.code == MLC_BAD_FILE);
    return status.message;
  };
  // Rows are of 32 bytes, from 16 on: name, its size, bytes, their size.
  CHECK_THAT(broken(0, 0), Contains("no bundle"));
  for (uint64_t count : {uint64_t(1000), UINT64_MAX, UINT64_MAX / 32 + 2})
    CHECK_THAT(broken(8, count), Contains("more than its bytes"));
  for (uint64_t far : {uint64_t(1) << 20, UINT64_MAX, UINT64_MAX - 3}) {
    CHECK_THAT(broken(16, far), Contains("kernel 0 has no name"));
    CHECK_THAT(broken(24, far), Contains("kernel 0 has no name"));
    CHECK_THAT(broken(32, far / 16 * 16), Contains("gemm_1 lie outside"));
    CHECK_THAT(broken(40, far), Contains("gemm_1 lie outside"));
  }
  CHECK_THAT(broken(24, 0), Contains("kernel 0 has no name"));
  CHECK_THAT(broken(32, 120), Contains("gemm_1 lie outside")); // not aligned
  std::string bytes = writeBundle({{"a", "1"}, {"a", "2"}});
  CHECK_THAT(read(bytes, entries).message, Contains("two kernels a"));
  CHECK(read(writeBundle({{"", "1"}}), entries).code == MLC_BAD_FILE);
  CHECK(read(writeBundle({{std::string("a\0", 2), "1"}}), entries).code ==
        MLC_BAD_FILE);
}

TEST_CASE("damaged bundles crash nothing", "[bundle]") {
  std::string bytes = writeBundle(sample);
  std::vector<BundleEntry> entries;
  for (size_t i = 0; i < bytes.size(); ++i) {
    CHECK(read(bytes.substr(0, i), entries).code == MLC_BAD_FILE);
    for (unsigned value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[i] = char(value);
      (void)read(damaged, entries).ok();
    }
  }
}
