//===- MaskedStoresTest.cpp - Stores of a few lanes -----------------------===//
//
// LLVM 22 stores the one lane of a truncated vector as wide as it was before,
// for AVX-512. A row of 17 bytes has such a lane at its end.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/MaskedStores.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include <catch2/catch.hpp>
#include <map>

namespace {

/// What is stored where, of a function that stores the lanes of `mask`: bytes
/// by their offsets; and whether a masked store is left.
struct Stored {
  Stored(unsigned lanes, const std::string &element, unsigned wide,
         const std::vector<bool> &mask) {
    std::string vector = "<" + std::to_string(lanes) + " x " + element + ">",
                source = "<" + std::to_string(lanes) + " x i" +
                         std::to_string(wide) + ">",
                text = "define void @f(" + source + " %v, ptr %p) {\n";
    bool isFloat = element == "float";
    text += "  %t = " + std::string(isFloat ? "bitcast " : "trunc ") + source +
            " %v to " + vector + "\n  call void @llvm.masked.store(" + vector +
            " %t, ptr align 4 %p, <" + std::to_string(lanes) + " x i1> <";
    for (unsigned i = 0; i < lanes; ++i)
      text += std::string(i ? ", " : "") + "i1 " + (mask[i] ? "true" : "false");
    text += ">)\n  ret void\n}\n";
    std::string name =
        "v" + std::to_string(lanes) + (isFloat ? "f32" : element);
    size_t at = text.find("@llvm.masked.store");
    text.insert(at + 18, "." + name + ".p0");
    text += "declare void @llvm.masked.store." + name + ".p0(" + vector +
            ", ptr, <" + std::to_string(lanes) + " x i1>)\n";
    llvm::SMDiagnostic problem;
    auto module = llvm::parseAssemblyString(text, problem, context);
    INFO(text << problem.getMessage().str());
    REQUIRE(module);
    mlc::cpu::writeOutMaskedStores(*module);
    REQUIRE(!llvm::verifyModule(*module));
    const llvm::DataLayout &layout = module->getDataLayout();
    for (const llvm::Instruction &i : module->getFunction("f")->front()) {
      isMasked |= llvm::isa<llvm::CallInst>(i);
      auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
      if (!store)
        continue;
      llvm::APInt offset(64, 0);
      store->getPointerOperand()->stripAndAccumulateConstantOffsets(
          layout, offset, /*AllowNonInbounds=*/true);
      bytes[offset.getZExtValue()] =
          layout.getTypeStoreSize(store->getValueOperand()->getType());
      CHECK(offset.getZExtValue() % store->getAlign().value() == 0);
    }
  }

  llvm::LLVMContext context;
  std::map<uint64_t, uint64_t> bytes;
  bool isMasked = false;
};

std::vector<bool> first(unsigned count, unsigned lanes) {
  std::vector<bool> mask(lanes, false);
  std::fill_n(mask.begin(), count, true);
  return mask;
}

} // namespace

TEST_CASE("a single lane is stored as what it is") {
  Stored one(16, "i8", 32, first(1, 16));
  CHECK(!one.isMasked);
  CHECK(one.bytes == std::map<uint64_t, uint64_t>{{0, 1}});
  // The machine has no vectors of 32 lanes of 32 bits: the second half has one.
  Stored half(32, "i16", 32, first(17, 32));
  CHECK(!half.isMasked);
  CHECK(half.bytes == std::map<uint64_t, uint64_t>{{0, 32}, {32, 2}});
  Stored quarter(16, "i8", 64, first(13, 16));
  CHECK(!quarter.isMasked);
  CHECK(quarter.bytes == std::map<uint64_t, uint64_t>{{0, 8}, {8, 4}, {12, 1}});
  std::vector<bool> gap(8, false);
  gap[1] = gap[5] = gap[6] = true;
  Stored apart(8, "i32", 64, gap);
  CHECK(!apart.isMasked);
  CHECK(apart.bytes == std::map<uint64_t, uint64_t>{{4, 4}, {20, 8}});
}

TEST_CASE("what LLVM stores well stays masked") {
  CHECK(Stored(16, "i8", 32, first(11, 16)).isMasked);
  CHECK(Stored(16, "i8", 32, first(16, 16)).isMasked);
  CHECK(Stored(16, "float", 32, first(1, 16)).isMasked);
}
