//===- ChoicesBench.cpp - Solvers of choices on random problems -----------===//
//
// mlc-bench-choices [--nodes=N] [--choices=N] [--rows=N] [--reach=N]
//   [--density=F] [--excluded=F] [--room=F] [--seed=N] [--count=N]
//   [--entries=N] [--iterations=N] [--steps=N] [--ilp=NODES] [--mps=FILE]
//
// Solves problems of seeds from --seed on by elimination, and by CBC with
// --ilp, and prints cost, bound, gap and seconds of each. --mps writes the
// first one for other solvers, and solves nothing (tools/bench/choices.py).
//
//===----------------------------------------------------------------------===//

#include "planner/choices/RandomProblem.h"
#include "planner/choices/Solve.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

using namespace mlc::planner;

/// The values of flags, which all are numbers but that of --mps.
static std::map<std::string, std::string> flags{
    {"nodes", "500"},      {"choices", "10"},
    {"rows", "5"},         {"reach", "3"},
    {"density", "0.3"},    {"excluded", "0"},
    {"room", "0.4"},       {"seed", "0"},
    {"count", "1"},        {"entries", "1e6"},
    {"iterations", "400"}, {"steps", "2e9"},
    {"ilp", "0"},          {"mps", ""}};

static double number(const char *flag) {
  const std::string &text = flags[flag];
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || !(value >= 0) || value > 1e18) {
    std::fprintf(stderr, "--%s=%s is no number from 0 on\n", flag,
                 text.c_str());
    std::exit(2);
  }
  return value;
}

/// As integer program of one variable for each choice and pair of choices.
static void writeMps(const ChoiceProblem &problem, std::FILE *file) {
  struct Column {
    std::string name;
    double cost;
    std::string entries;
  };
  std::string rows = "NAME choices\nROWS\n N COST\n", limits;
  std::vector<Column> columns;
  auto enter = [](const std::string &row, double value) {
    char text[64];
    std::snprintf(text, sizeof text, " %.17g\n", value);
    return " " + row + text;
  };
  std::vector<std::vector<std::string>> entries(problem.nodes.size());
  for (uint32_t n = 0; n < problem.nodes.size(); ++n) {
    const std::string row = "N" + std::to_string(n);
    rows += " E " + row + "\n";
    limits += " RHS" + enter(row, 1);
    entries[n].assign(problem.countChoices(n), enter(row, 1));
  }
  for (size_t r = 0; r < problem.rows.size(); ++r) {
    const std::string row = "M" + std::to_string(r);
    rows += " L " + row + "\n";
    limits += " RHS" + enter(row, double(problem.rows[r].budget));
    for (const ChoiceProblem::Use &use : problem.rows[r].uses)
      for (size_t i = 0; i < use.bytes.size(); ++i)
        entries[use.node][i] += enter(row, double(use.bytes[i]));
  }
  for (size_t e = 0; e < problem.edges.size(); ++e) {
    const ChoiceProblem::Edge &edge = problem.edges[e];
    auto rowOf = [&](const char *side, size_t i) {
      return "E" + std::to_string(e) + side + std::to_string(i);
    };
    const uint32_t from = edge.from, to = edge.to;
    for (size_t i = 0; i < problem.countChoices(from); ++i) {
      rows += " E " + rowOf("F", i) + "\n";
      entries[from][i] += enter(rowOf("F", i), -1);
    }
    for (size_t j = 0; j < problem.countChoices(to); ++j) {
      rows += " E " + rowOf("T", j) + "\n";
      entries[to][j] += enter(rowOf("T", j), -1);
    }
    for (size_t k = 0; k < edge.costs.size(); ++k) {
      const size_t i = k / problem.countChoices(to),
                   j = k % problem.countChoices(to);
      if (std::isfinite(edge.costs[k]))
        columns.push_back({"Y" + std::to_string(e) + "_" + std::to_string(k),
                           edge.costs[k],
                           enter(rowOf("F", i), 1) + enter(rowOf("T", j), 1)});
    }
  }
  std::fprintf(file, "%sCOLUMNS\n MARKER 'MARKER' 'INTORG'\n", rows.c_str());
  auto write = [&](const std::string &name, double cost,
                   const std::string &all) {
    std::fprintf(file, " %s COST %.17g\n", name.c_str(), cost);
    for (size_t at = 0; at < all.size();) {
      const size_t end = all.find('\n', at) + 1;
      std::fprintf(file, " %s%s", name.c_str(),
                   all.substr(at, end - at).c_str());
      at = end;
    }
  };
  std::string bounds;
  for (uint32_t n = 0; n < problem.nodes.size(); ++n)
    for (size_t i = 0; i < entries[n].size(); ++i) {
      const std::string name =
          "X" + std::to_string(n) + "_" + std::to_string(i);
      write(name, problem.nodes[n].costs[i], entries[n][i]);
      bounds += " UP BND " + name + " 1\n";
    }
  std::fprintf(file, " MARKER 'MARKER' 'INTEND'\n");
  for (const Column &column : columns)
    write(column.name, column.cost, column.entries);
  std::fprintf(file, "RHS\n%sBOUNDS\n%sENDATA\n", limits.c_str(),
               bounds.c_str());
}

static void print(const char *solver, uint64_t seed,
                  const mlc::runtime::Status &status,
                  const ChoiceSolution &found, double seconds) {
  if (!status.ok())
    std::printf("%s seed %llu: %s\n", solver, (unsigned long long)seed,
                status.message.c_str());
  else
    std::printf("%s seed %llu: cost %.6f bound %.6f gap %.4f %% width %zu "
                "copies %zu steps %.2e in %.2f s\n",
                solver, (unsigned long long)seed, found.cost, found.bound,
                100 * found.gap(), found.width, found.copies, found.steps,
                seconds);
  std::fflush(stdout);
}

int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    const size_t equals = text.find('=');
    const std::string name = text.size() > 2 && equals != std::string::npos
                                 ? text.substr(2, equals - 2)
                                 : "";
    if (!flags.count(name)) {
      std::fprintf(stderr, "no flag '%s'; see the head of ChoicesBench.cpp\n",
                   text.c_str());
      return 2;
    }
    flags[name] = text.substr(equals + 1);
  }
  RandomProblemOptions options;
  options.nodes = uint32_t(number("nodes"));
  options.choices = uint32_t(number("choices"));
  options.rows = uint32_t(number("rows"));
  options.reach = uint32_t(number("reach"));
  options.density = number("density");
  options.excluded = number("excluded");
  options.room = number("room");
  for (int i = 0; i < int(number("count")); ++i) {
    options.seed = uint64_t(number("seed")) + i;
    const ChoiceProblem problem = makeRandomProblem(options);
    if (!flags["mps"].empty()) {
      std::FILE *file = std::fopen(flags["mps"].c_str(), "w");
      if (!file) {
        std::perror(flags["mps"].c_str());
        return 9;
      }
      writeMps(problem, file);
      return std::fclose(file) ? 9 : 0;
    }
    ChoiceOptions how;
    how.maxEntries = number("entries");
    how.iterations = unsigned(number("iterations"));
    how.steps = number("steps");
    ChoiceSolution found;
    using Clock = std::chrono::steady_clock;
    const auto time = [](Clock::time_point since) {
      return std::chrono::duration<double>(Clock::now() - since).count();
    };
    auto begin = Clock::now();
    auto status = solveByElimination(problem, how, found);
    print("elimination", options.seed, status, found, time(begin));
    if (number("ilp") < 1)
      continue;
    begin = Clock::now();
    status = solveByIntegerProgram(problem, int(number("ilp")), found);
    print("cbc", options.seed, status, found, time(begin));
  }
  return 0;
}
