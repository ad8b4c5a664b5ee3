//===- Samples.cpp - Tables that tests of schedules share -----------------===//

#include "Samples.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using mlc::runtime::Status;
using mlc::runtime::schedule::Table;

Table parsed(const std::string &csv) {
  Table table;
  Status status = Table::parse(csv, table);
  INFO(status.message);
  REQUIRE(status.ok());
  return table;
}

/// Reads "# GPipe ranks=2 micro_batches=2 chunks=1", or leaves `ranks` 0 for
/// another comment.
static PytorchTable parseHeader(const std::string &line) {
  PytorchTable result;
  std::istringstream words(line.substr(1));
  words >> result.schedule;
  for (std::string word; words >> word;) {
    const size_t sign = word.find('=');
    if (sign == std::string::npos)
      return {};
    const int value = std::stoi(word.substr(sign + 1));
    const std::string key = word.substr(0, sign);
    (key == "ranks"           ? result.ranks
     : key == "micro_batches" ? result.microBatches
                              : result.chunks) = value;
  }
  return result;
}

std::vector<PytorchTable> readPytorchTables() {
  std::ifstream file(MLC_PYTORCH_SCHEDULES);
  std::vector<PytorchTable> tables;
  for (std::string line; std::getline(file, line);) {
    if (line[0] != '#') {
      REQUIRE_FALSE(tables.empty());
      tables.back().csv += line + "\n";
      continue;
    }
    PytorchTable header = parseHeader(line);
    if (header.ranks)
      tables.push_back(header);
  }
  REQUIRE(tables.size() == 54);
  for (PytorchTable &one : tables)
    one.table = parsed(one.csv);
  return tables;
}
