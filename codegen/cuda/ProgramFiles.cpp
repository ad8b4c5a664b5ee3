//===- ProgramFiles.cpp - The files of a program in CUDA C++ --------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "codegen/cuda/Program.h"
#include "runtime/CodeBundle.h"
#include <set>

using namespace mlc::runtime;

namespace mlc::cuda {

/// `extern "C" __global__ void NAME(void *, ..., long long, ...)` for each.
static std::string declareKernels(const Program &program) {
  std::set<KernelId> declared;
  std::string text;
  for (const Step &step : program.steps) {
    auto *launch = std::get_if<GridLaunchStep>(&step.detail);
    if (!launch || !declared.insert(launch->kernel).second)
      continue;
    text +=
        "extern \"C\" __global__ void " + program.kernels[launch->kernel] + "(";
    for (size_t i = 0; i < launch->maps.size(); ++i)
      text += "const __grid_constant__ TensorMap, ";
    for (size_t i = 0; i < step.inputs.size() + step.outputs.size(); ++i)
      text += "void *, ";
    for (size_t i = 0; i < step.args.size(); ++i)
      text += "long long, ";
    text += "long long, void *, long long);\n";
  }
  return text;
}

/// What the host needs for tensor maps, before the kernels' declarations.
static constexpr const char *mapType =
    R"(/// A tensor as the copy engine sees it (CUtensorMap).
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

)";

static bool hasMaps(const Program &program) {
  return llvm::any_of(program.steps, [](const Step &step) {
    auto *launch = std::get_if<GridLaunchStep>(&step.detail);
    return launch && !launch->maps.empty();
  });
}

/// The option of nvcc for an architecture.
static std::string nvccOption(llvm::StringRef cpu) {
  // What is of one architecture alone must not be built for another as well.
  return cpu.ends_with("a") ? "-gencode=arch=compute_" +
                                  cpu.drop_front(3).str() + ",code=" + cpu.str()
                            : "-arch=" + cpu.str();
}

/// Why the program cannot be printed; "" if it can.
static std::string reasonAgainst(const Program &program, const Step &step) {
  std::string node = step.nodes.empty() ? "" : step.nodes[0] + ": ";
  if (std::holds_alternative<LibraryStep>(step.detail))
    return node + step.name +
           " runs in the runtime's library, which a program of its own has "
           "not; compile the model to an artifact";
  if (ticketsOf(step).started)
    return node + "ranks exchange tensors, which a program of its own cannot; "
                  "compile the model to an artifact";
  auto *launch = std::get_if<GridLaunchStep>(&step.detail);
  if (!launch && !std::holds_alternative<BindStep>(step.detail))
    return node + "a program of its own has no " + kindName(step) +
           " steps; compile the model to an artifact";
  std::optional<ExprId> bytes;
  if (launch)
    bytes = launch->workspace ? launch->workspace : launch->scratch;
  if (!bytes)
    return "";
  for (const Expr::Inst &inst : program.exprs[*bytes].code)
    if (inst.op == Expr::Symbol &&
        program.symbols[inst.operand].kind == Symbol::FromTensor)
      return node + "its scratch memory depends on a value that is read at run "
                    "time; compile the model to an artifact";
  return "";
}

static constexpr const char *readme = R"(A program for GPUs, made by mlc.

model.cu has sizes, memory and launches, kernels/ a file for each kernel, and
weights.bin is read from the current folder.

With CUDA's toolkit (give your GPU's architecture):

  nvcc -std=c++17 ARCH -Iinclude -o model SOURCES

Without a GPU, against the headers and the library of mlc's emulator:

  clang++ -std=c++17 -x c++ -IMLC/runtime/emulator/include -LMLC/build/bin \
    -Wl,-rpath,MLC/build/bin -lmlc_emulator -o model SOURCES

where MLC is the folder of mlc's sources, built there. SOURCES are

FILES
Run it on an array for each input, in order, and a folder for the outputs:

  ./model INPUT.npy... FOLDER
)";

llvm::Expected<SourceTree> printProgram(const Program &program,
                                        llvm::ArrayRef<KernelImage> images,
                                        uint64_t weightsSize,
                                        const Target &target) {
  if (llvm::any_of(program.buffers, [](const Buffer &buffer) {
        return buffer.kind == Buffer::State;
      }))
    return llvm::createStringError(
        "has states, which only the runtime keeps; write an artifact");
  for (const Step &step : program.steps)
    if (std::string reason = reasonAgainst(program, step); !reason.empty())
      return llvm::createStringError(reason);
  SourceTree tree;
  for (const KernelImage &image : images) {
    if (image.kind != ImageKind::Source)
      continue;
    std::vector<BundleEntry> entries;
    Status status = readBundle(image.bytes.data(), image.bytes.size(), entries);
    if (!status.ok())
      return llvm::createStringError(status.message);
    for (const BundleEntry &entry : entries)
      tree.push_back(
          {"kernels/" + entry.name + ".cu",
           {reinterpret_cast<const char *>(entry.data), entry.size}});
  }
  std::string text =
      "// A model for " + target.name +
      ", as mlc runs it.\n//\n// README.txt says how this is built and "
      "run.\n\n#include <cuda_runtime.h>\n\n";
  for (const char *header :
       {"algorithm", "cstdlib", "cstring", "fstream", "iostream", "iterator",
        "string", "type_traits", "vector"})
    text += std::string("#include <") + header + ">\n";
  text += "\n" + std::string(hasMaps(program) ? mapType : "") +
          declareKernels(program) + skeletonText("program.cuh").str();
  if (hasMaps(program))
    text += skeletonText("maps.cuh");
  text += "\nint main(int argc, char **argv) {\n" +
          printMain(program, weightsSize) + "  return 0;\n}\n";
  tree.push_back({"model.cu", text});
  for (const char *name : deviceHeaderNames)
    if (llvm::any_of(tree, [&](const auto &file) {
          return includesHeader(file.second, name);
        }))
      tree.push_back(
          {std::string("include/") + name, skeletonText(name).str()});
  std::string instructions = readme;
  auto fill = [&](llvm::StringRef word, const std::string &text) {
    instructions.replace(instructions.find(word.str()), word.size(), text);
  };
  std::string files;
  for (const auto &[name, text] : tree)
    if (llvm::StringRef(name).ends_with(".cu"))
      files += "  " + name + "\n";
  fill("ARCH", nvccOption(target.cpu));
  fill("FILES", files);
  tree.push_back({"README.txt", instructions});
  return tree;
}

} // namespace mlc::cuda
