//===- ClusterFile.h - Clusters as JSON -------------------------*- C++ -*-===//
//
// Every number has its source, {"value": 25e9, "source": "..."}; unknown keys
// are refused, so that a misspelt key is not taken as a default.
// docs/Clusters.md has a table of the keys.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_CLUSTER_CLUSTERFILE_H
#define MLC_SIMULATOR_CLUSTER_CLUSTERFILE_H

#include "runtime/Status.h"
#include "simulator/cluster/Cluster.h"
#include <span>
#include <string_view>

namespace mlc::simulator {

/// A cluster file that ships with mlc, embedded when it is built.
struct EmbeddedClusterFile {
  const char *name; // "p3.16xlarge.json"
  const char *text;
};
std::span<const EmbeddedClusterFile> embeddedClusterFiles();

/// "cluster:NAME" of each shipped file, in order.
std::vector<std::string> shippedClusters();
/// Whether it names a cluster: "cluster:NAME", a file that ships with mlc.
bool isShippedCluster(std::string_view name);

/// Reads a cluster file's text. MLC_BAD_FILE for invalid JSON (with line and
/// column), unknown, missing and duplicate keys, and numbers out of range; the
/// message has the key, and what it should be.
runtime::Status readCluster(std::string_view text, Cluster &cluster);

/// Reads a file, or "cluster:NAME". Messages do not name the path.
runtime::Status openCluster(const std::string &name, Cluster &cluster);

/// The text of a cluster's file, ending in a newline; readCluster gives the
/// cluster back.
std::string writeCluster(const Cluster &cluster);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_CLUSTERFILE_H
