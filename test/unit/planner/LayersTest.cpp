//===- LayersTest.cpp - Profiles, and chains of them ----------------------===//

#include "planner/stages/Layers.h"
#include <catch2/catch.hpp>

using namespace mlc::planner;
using Catch::Contains;

static const std::string kNames =
    "layer,operator,forward_ms,backward_ms,activation_bytes,parameter_bytes\n";

static LayerGraph parsed(const std::string &layers, const std::string &edges) {
  LayerGraph graph;
  auto status = LayerGraph::parse({"l.csv", kNames + layers},
                                  {"e.csv", "from,to\n" + edges}, graph);
  INFO(status.message);
  REQUIRE(status.ok());
  return graph;
}

TEST_CASE("layers come after those that they read", "[planner]") {
  LayerGraph graph =
      parsed("c,Add,1,2,30,0\r\nb,Relu,3,4,20,5\na,Conv,0.5,1,10,8\n",
             "a,b\nb,c\na,c\n");
  REQUIRE(graph.layers.size() == 3);
  CHECK(graph.layers[0].name == "a");
  CHECK(graph.layers[0].forwardSeconds == Approx(0.0005));
  CHECK(graph.layers[0].weightBytes == 8);
  CHECK(graph.layers[2].name == "c");
  CHECK(graph.edges ==
        std::vector<std::pair<size_t, size_t>>{{0, 1}, {1, 2}, {0, 2}});
}

TEST_CASE("cuts have the bytes of all tensors that cross", "[planner]") {
  // b and c stand between the two readers of a's result.
  LayerGraph graph =
      parsed("a,Conv,1,1,10,1\nb,Relu,1,1,20,2\nc,Relu,1,1,30,3\n"
             "d,Add,1,1,40,4\ne,Relu,1,1,50,5\n",
             "a,b\nb,c\na,d\nc,d\nd,e\n");
  CHECK(graph.chain().size() == 5);
  // Behind c, the results of a and c are still to be read.
  CHECK(graph.chain()[2].outputBytes == 40);
  CHECK(graph.chain()[3].outputBytes == 40);
  std::vector<Layer> chain = graph.chain(1);
  REQUIRE(chain.size() == 3);
  CHECK(chain[0].name == "a");
  CHECK(chain[1].name == "b+c+d");
  CHECK(chain[1].seconds() == Approx(0.006));
  CHECK(chain[1].outputBytes == 40);
  CHECK(chain[1].weightBytes == 9);
  CHECK(chain[0].outputBytes == 10);
  // A tensor that goes on beyond a layer that nobody reads is what crosses.
  chain = parsed("a,Conv,1,1,10,0\nb,Print,1,1,99,0\nc,Relu,1,1,5,0\n",
                 "a,b\na,c\n")
              .chain();
  REQUIRE(chain.size() == 3);
  CHECK(chain[1].outputBytes == 10);
}

TEST_CASE("what is no profile is named", "[planner]") {
  auto problem = [](const std::string &layers, const std::string &edges) {
    LayerGraph graph;
    return LayerGraph::parse({"l.csv", layers}, {"e.csv", edges}, graph)
        .message;
  };
  const std::string good = kNames + "a,Conv,1,1,1,1\nb,Relu,1,1,1,1\n";
  CHECK_THAT(problem("", "from,to\n"), Contains("is empty"));
  CHECK_THAT(problem("layer\n", ""),
             Contains("line 1") && Contains("the first line must be"));
  CHECK_THAT(problem(kNames, "from,to\n"), Contains("has no layers"));
  CHECK_THAT(problem(kNames + "a,Conv,1,1,1\n", "from,to\n"),
             Contains("line 2: has 5 cells, not 6"));
  for (const char *number : {"-1", "nan", "inf", "1e999", "", "1x", "0x1"})
    CHECK_THAT(problem(kNames + "a,Conv," + number + ",1,1,1\n", "from,to\n"),
               Contains("is no number from 0 on"));
  CHECK_THAT(problem(good + "a,Conv,1,1,1,1\n", "from,to\n"),
             Contains("line 4: layer a is there twice"));
  CHECK_THAT(problem(good, "from,to\na,c\n"),
             Contains("line 2: there is no layer 'c'"));
  CHECK_THAT(problem(good, "from,to\na,b\nb,a\n"), Contains("in a circle"));
  CHECK_THAT(problem(good, "from,to\na,a\n"), Contains("in a circle"));
}
