//===- StateFileTest.cpp - States and entries of files --------------------===//

#include "Sample.h"
#include "States.h"
#include "runtime/Npy.h"

using namespace mlc;
using namespace mlc::test;
using Catch::Contains;

TEST_CASE("damaged states and entries are refused", "[states]") {
  auto problem = [](auto change) {
    Builder b(2);
    b.p.name = "main";
    b.writes = {{b.states[0], b.reversed(b.states[0])}};
    addStateWrites(b.p, b.writes);
    b.programs.entries = {b.p};
    CHECK(validate(b.programs, 64).ok());
    std::vector<uint8_t> bytes = serialize(b.programs);
    Programs again;
    REQUIRE(deserialize(bytes.data(), bytes.size(), again).ok());
    CHECK(serialize(again) == bytes);
    change(again, again.entries[0]);
    Status status = validate(again, 64);
    CHECK(status.code == MLC_BAD_FILE);
    return status.message;
  };
  CHECK_THAT(problem([](Programs &a, Program &) { a.states[0].name = ""; }),
             Contains("has no name"));
  CHECK_THAT(problem([](Programs &a, Program &) { a.states[0].name = "s1"; }),
             Contains("two states have one name"));
  CHECK_THAT(problem([](Programs &a, Program &) { a.states[0].size = 12; }),
             Contains("size is not that of its dims"));
  CHECK_THAT(problem([](Programs &a, Program &) { a.states[0].dims[0] = -4; }),
             Contains("overflows"));
  CHECK_THAT(
      problem([](Programs &a, Program &) { a.states[0].dims.assign(20, 1); }),
      Contains("too many dims"));
  CHECK_THAT(problem([](Programs &a, Program &) {
               a.states[0].initial = State::Stored;
               a.states[0].offset = 64;
             }),
             Contains("outside the weights"));
  CHECK_THAT(problem([](Programs &a, Program &) { a.states.pop_back(); }),
             Contains("belongs to no state"));
  CHECK_THAT(problem([](Programs &a, Program &) {
               a.states[0].dims = {2};
               a.states[0].size = 8;
             }),
             Contains("is not as its state"));
  CHECK_THAT(
      problem([](Programs &a, Program &) { a.states[1].type = DType::I32; }),
      Contains("is not as its state"));
  Programs many;
  many.states.resize(1 << 17);
  CHECK(validate(many, 0).code == MLC_UNSUPPORTED);
  many.states.clear();
  many.entries.resize(65);
  CHECK(validate(many, 0).code == MLC_UNSUPPORTED);
  CHECK_THAT(problem([](Programs &a, Program &) { a.entries.clear(); }),
             Contains("no entry"));
  CHECK_THAT(problem([](Programs &a, Program &p) { a.entries.push_back(p); }),
             Contains("two entries have one name"));
  CHECK_THAT(problem([](Programs &, Program &p) {
               p.steps.back().inputs = p.steps.back().outputs;
             }),
             Contains("reads what it writes"));
  CHECK_THAT(problem([](Programs &, Program &p) {
               p.steps[0].outputs = {p.inputs[0].buffer};
             }),
             Contains("writes no buffer of the arena or of a state"));
}

//===----------------------------------------------------------------------===//
// The C ABI
//===----------------------------------------------------------------------===//

namespace {

/// Entry "set": the state s is x, and the output what s was. Entry "get": s. A
/// state t has the value 5, and no entry.
struct Opened {
  std::vector<char> bytes;
  mlc_artifact *artifact = nullptr;

  Opened() {
    alignas(64) static const float five = 5;
    ArtifactWriter writer;
    Programs programs;
    programs.states = {{"s", DType::F32, {4}, State::None, 0, 16},
                       {"t",
                        DType::F32,
                        {},
                        State::Stored,
                        writer.addConstant(asBytes(&five, 1)),
                        4}};
    for (const char *name : {"set", "get"}) {
      Program &p = programs.entries.emplace_back();
      p.name = name;
      ExprId four = p.addConstant(4);
      BufferId s = p.addBuffer(Buffer::state(0, DType::F32, {four}, "s"));
      p.outputs = {{"y", s}};
      if (p.name == "get")
        continue;
      BufferId x = p.addBuffer(Buffer::input(0, DType::F32, {four}, "x"));
      p.inputs = {{"x", x}};
      addStateWrites(p, {{s, x}});
    }
    std::string out;
    llvm::raw_string_ostream os(out);
    llvm::Error error = writer.write(os, {"{}", &programs, {}, "mlc compile"});
    REQUIRE_FALSE(bool(error));
    bytes.assign(out.begin(), out.end());
    mlc_status status = mlc_artifact_open_memory(
        bytes.data(), bytes.size(), MLC_OPEN_COPY_WEIGHTS, &artifact);
    INFO(mlc_last_error());
    REQUIRE(status == MLC_OK);
  }
  ~Opened() { mlc_artifact_close(artifact); }
};

const int64_t dims[] = {4};

mlc_status setState(mlc_session *session, const Four &value) {
  return mlc_session_set_state(session, 0, MLC_F32, 1, dims, value.data(),
                               MLC_SPACE_HOST);
}

Four stateOf(mlc_session *session) {
  mlc_tensor tensor;
  REQUIRE(mlc_session_state(session, 0, &tensor) == MLC_OK);
  return four(tensor);
}

std::string errorOf(mlc_status status) {
  CHECK(status != MLC_OK);
  return mlc_last_error();
}

} // namespace

TEST_CASE("entries and states by the C ABI", "[states][abi]") {
  Opened opened;
  mlc_artifact *artifact = opened.artifact;
  CHECK(mlc_artifact_entry_count(artifact) == 2);
  CHECK(mlc_artifact_entry_name(artifact, 1) == std::string("get"));
  CHECK(mlc_artifact_entry_name(artifact, 2) == nullptr);
  CHECK(mlc_artifact_entry_count(nullptr) == 0);
  size_t index = 9;
  REQUIRE(mlc_artifact_find_entry(artifact, "get", &index) == MLC_OK);
  CHECK(index == 1);
  CHECK_THAT(errorOf(mlc_artifact_find_entry(artifact, "got", &index)),
             Contains("no entry 'got'; there are 'set', 'get'"));
  CHECK(index == 1);
  // The first entry is what the artifact is.
  CHECK(mlc_artifact_input_count(artifact) == 1);
  mlc_artifact *get = nullptr;
  REQUIRE(mlc_artifact_entry(artifact, 1, &get) == MLC_OK);
  CHECK(mlc_artifact_input_count(get) == 0);
  CHECK(mlc_artifact_entry_index(get) == 1);
  CHECK(mlc_artifact_entry_index(artifact) == 0);
  mlc_artifact *none = nullptr;
  CHECK_THAT(errorOf(mlc_artifact_entry(artifact, 2, &none)),
             Contains("there is no entry 2"));
  CHECK(mlc_artifact_state_count(get) == 2);
  mlc_port port;
  REQUIRE(mlc_artifact_state(get, 0, &port) == MLC_OK);
  CHECK(port.name == std::string("s"));
  CHECK(port.rank == 1);
  CHECK(port.dims[0] == 4);
  CHECK(port.dim_texts[0] == std::string("4"));
  CHECK(mlc_artifact_state(get, 2, &port) == MLC_USAGE);
  REQUIRE(mlc_artifact_find_state(artifact, "t", &index) == MLC_OK);
  CHECK(mlc_artifact_find_state(artifact, "u", &index) == MLC_USAGE);

  mlc_session *second = nullptr;
  REQUIRE(mlc_session_create(get, nullptr, &second) == MLC_OK);
  CHECK_THAT(errorOf(mlc_session_run(second)), Contains("'s' has no value"));
  REQUIRE(setState(second, {1, 2, 3, 4}) == MLC_OK);
  REQUIRE(mlc_session_run(second) == MLC_OK);
  mlc_tensor tensor;
  REQUIRE(mlc_session_output(second, 0, &tensor) == MLC_OK);
  CHECK(four(tensor) == Four{1, 2, 3, 4});
  REQUIRE(mlc_session_state(second, 1, &tensor) == MLC_OK);
  CHECK(*static_cast<const float *>(tensor.data) == 5);
  mlc_session_destroy(second);
  mlc_artifact_close(get);
}

TEST_CASE("sessions of entries live as long as each of them", "[states][abi]") {
  Opened opened;
  mlc_session *set = nullptr, *get = nullptr, *none = nullptr;
  REQUIRE(mlc_session_create(opened.artifact, nullptr, &set) == MLC_OK);
  REQUIRE(mlc_session_entry(set, 1, &get) == MLC_OK);
  CHECK_THAT(errorOf(mlc_session_entry(set, 2, &none)),
             Contains("there is no entry 2; there are 2"));
  REQUIRE(setState(set, {}) == MLC_OK);
  alignas(64) Four x = {4, 3, 2, 1};
  REQUIRE(mlc_session_bind_input(set, 0, MLC_F32, 1, dims, x.data(),
                                 MLC_SPACE_HOST) == MLC_OK);
  REQUIRE(mlc_session_run_async(set) == MLC_OK);
  mlc_tensor tensor;
  CHECK_THAT(errorOf(mlc_session_state(get, 0, &tensor)),
             Contains("or of one that shares its states, is under way"));
  CHECK(mlc_session_run(get) == MLC_USAGE);
  REQUIRE(mlc_session_wait(set) == MLC_OK);
  REQUIRE(mlc_session_output(set, 0, &tensor) == MLC_OK);
  CHECK(four(tensor) == Four{});
  // One that goes with a run under way waits for it.
  REQUIRE(mlc_session_run_async(set) == MLC_OK);
  mlc_session_destroy(set);
  REQUIRE(mlc_session_run(get) == MLC_OK);
  REQUIRE(mlc_session_output(get, 0, &tensor) == MLC_OK);
  CHECK(four(tensor) == x);
  REQUIRE(mlc_session_reset_states(get) == MLC_OK);
  CHECK(mlc_session_state(get, 0, &tensor) == MLC_USAGE);
  mlc_session_destroy(get);
}

TEST_CASE("states are saved and loaded whole or not at all", "[states][abi]") {
  Opened opened;
  Folder folder;
  mlc_session *session = nullptr;
  REQUIRE(mlc_session_create(opened.artifact, nullptr, &session) == MLC_OK);
  std::string path = folder / "states.npz";
  CHECK_THAT(errorOf(mlc_session_save_states(session, path.c_str())),
             Contains("'s' has no value"));
  CHECK(readAll(path).empty());
  REQUIRE(setState(session, {1, 2, 3, 4}) == MLC_OK);
  REQUIRE(mlc_session_save_states(session, path.c_str()) == MLC_OK);
  REQUIRE(setState(session, {9, 9, 9, 9}) == MLC_OK);
  CHECK(mlc_session_save_states(session, (folder / "no/states.npz").c_str()) !=
        MLC_OK);
  REQUIRE(mlc_session_load_states(session, path.c_str()) == MLC_OK);
  CHECK(stateOf(session) == Four{1, 2, 3, 4});

  REQUIRE(setState(session, {7, 7, 7, 7}) == MLC_OK);
  std::vector<char> good = readAll(path);
  std::string bad = folder / "bad.npz";
  auto load = [&](const std::vector<char> &bytes) {
    std::ofstream(bad, std::ios::binary).write(bytes.data(), bytes.size());
    return mlc_session_load_states(session, bad.c_str());
  };
  // Whatever byte is another: all is as it was, or all is as it was saved.
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    std::vector<char> damaged = good;
    damaged[at] ^= 1;
    bool loaded = load(damaged) == MLC_OK;
    CHECK(stateOf(session) == (loaded ? Four{1, 2, 3, 4} : Four{7, 7, 7, 7}));
    refused += !loaded;
    REQUIRE(setState(session, {7, 7, 7, 7}) == MLC_OK);
  }
  CHECK(refused > good.size() / 2);
  CHECK(load({good.begin(), good.begin() + good.size() / 2}) == MLC_BAD_FILE);
  CHECK(mlc_session_load_states(session, (folder / "none").c_str()) != MLC_OK);
  float one = 1, value[4] = {};
  auto loadItems = [&](std::vector<NpzItem> items) {
    std::vector<char> bytes;
    Status status = writeNpz(items, [&](const void *data, size_t size) {
      auto *from = static_cast<const char *>(data);
      bytes.insert(bytes.end(), from, from + size);
      return true;
    });
    REQUIRE(status.ok());
    return errorOf(load(bytes));
  };
  CHECK_THAT(loadItems({{"s", DType::F32, {4}, value, 16}}),
             Contains("has no array 't'"));
  CHECK_THAT(loadItems({{"s", DType::F32, {2, 2}, value, 16},
                        {"t", DType::F32, {}, &one, 4}}),
             Contains("'s' has another type or other dims"));
  CHECK_THAT(loadItems({{"s", DType::F32, {4}, value, 16},
                        {"t", DType::I32, {}, &one, 4}}),
             Contains("'t' has another type or other dims"));
  CHECK(stateOf(session) == Four{7, 7, 7, 7});
  mlc_session_destroy(session);
}

TEST_CASE("wrong arguments of states and entries are refused",
          "[states][abi]") {
  Opened opened;
  mlc_session *session = nullptr;
  REQUIRE(mlc_session_create(opened.artifact, nullptr, &session) == MLC_OK);
  Four value = {};
  auto set = [&](size_t index, mlc_dtype type, size_t rank, const int64_t *dims,
                 mlc_space space) {
    return mlc_session_set_state(session, index, type, rank, dims, value.data(),
                                 space);
  };
  const int64_t five[] = {5};
  CHECK(set(0, MLC_F32, 1, dims, MLC_SPACE_HOST) == MLC_OK);
  CHECK(set(2, MLC_F32, 1, dims, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(set(0, MLC_F64, 1, dims, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(set(0, mlc_dtype(77), 1, dims, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(set(0, MLC_F32, 99, dims, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(set(0, MLC_F32, 1, five, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(set(0, MLC_F32, 1, nullptr, MLC_SPACE_HOST) == MLC_USAGE);
  CHECK(set(0, MLC_F32, 1, dims, mlc_space(5)) == MLC_USAGE);
  mlc_tensor tensor;
  mlc_port port;
  size_t index;
  mlc_session *entry = nullptr;
  CHECK(mlc_session_state(session, 2, &tensor) == MLC_USAGE);
  CHECK(mlc_session_state(session, 0, nullptr) == MLC_USAGE);
  CHECK(mlc_session_state(nullptr, 0, &tensor) == MLC_USAGE);
  CHECK(mlc_session_entry(session, 0, nullptr) == MLC_USAGE);
  CHECK(mlc_session_entry(nullptr, 0, &entry) == MLC_USAGE);
  CHECK(mlc_session_save_states(session, nullptr) == MLC_USAGE);
  CHECK(mlc_session_load_states(nullptr, "x") == MLC_USAGE);
  CHECK(mlc_session_reset_states(nullptr) == MLC_USAGE);
  CHECK(mlc_artifact_state(nullptr, 0, &port) == MLC_USAGE);
  CHECK(mlc_artifact_entry(nullptr, 0, nullptr) == MLC_USAGE);
  CHECK(mlc_artifact_find_state(opened.artifact, nullptr, &index) == MLC_USAGE);
  CHECK(mlc_artifact_find_entry(nullptr, "main", &index) == MLC_USAGE);
  CHECK(mlc_artifact_state_count(nullptr) == 0);
  mlc_session_destroy(session);
}
