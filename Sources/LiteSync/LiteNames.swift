import Documents

/// The revisions of a tree by the texts in which Couchbase Lite names them. A client may name a thousand in a tree of
/// thousands, so each way of naming is looked up in a table, which is made when it is first needed.
struct LiteNames {
  /// The most texts of one history or vector that are read, as of any peer.
  static let most = HistoryLimits.standard.revisions

  private let tree: RevisionTree
  private lazy var known = Set(tree.nodes.map(\.revision))
  /// Revisions with a digest that ``LiteRevision/digest(of:)`` replaces, by what replaces it.
  private lazy var replaced: [RevisionID: RevisionID] = table { revision in
    guard case .word = revision.digest else { return nil }
    return RevisionID(
      generation: revision.generation, digest: RevisionDigest(LiteRevision.digest(of: revision)))
  }
  private lazy var versions: [LiteVersion: RevisionID] = {
    var versions = table { LiteVersion($0) }
    guard let winner = tree.winner?.revision else { return versions }
    // A version that was kept in a conflict is also that of a branch that was not.
    for revision in tree.history(of: winner).reversed() {
      versions[LiteVersion(revision)] = revision
    }
    if let version = LiteRevision.vector(of: winner, in: tree).first { versions[version] = winner }
    return versions
  }()

  init(_ tree: RevisionTree) { self.tree = tree }

  private func table<Name: Hashable>(_ name: (RevisionID) -> Name?) -> [Name: RevisionID] {
    tree.nodes.reduce(into: [:]) { table, node in
      if let name = name(node.revision) { table[name] = node.revision }
    }
  }

  /// The revision that a text names; nil for an unknown one.
  mutating func find(_ text: String) -> RevisionID? { find(text, LiteVersion(text)) }

  /// - Parameter version: the text as a version.
  private mutating func find(_ text: String, _ version: LiteVersion?) -> RevisionID? {
    if let version { return versions[version] }
    guard let revision = try? RevisionID(text) else { return nil }
    return known.contains(revision) ? revision : replaced[revision]
  }

  /// The revision that a client has named and that needs not be written again; nil if there is none.
  ///
  /// Version 4 resolves a conflict without a new version if it keeps its own revision: then only its vector says that it has
  /// seen the other one. If the server has the kept version on another branch, it is still written, as a child of the winner.
  /// - Parameter former: the rest of the vector.
  mutating func findWritten(_ text: String, former: some Sequence<String>) -> RevisionID? {
    guard let revision = find(text) else { return nil }
    guard LiteVersion(text) != nil, let winner = tree.winner?.revision,
      !tree.history(of: winner).contains(revision)
    else { return revision }
    return seen(by: Array(former)).contains(winner) ? nil : revision
  }

  /// The revisions that a client has seen, by its history or its version vector. A vector names only the newest version of
  /// each maker, who has seen its own older ones. Revisions of trees have no such order.
  mutating func seen(by texts: [String]) -> [RevisionID] {
    var (named, newest): ([RevisionID], [String: UInt64]) = ([], [:])
    for text in texts {
      let version = LiteVersion(text)
      if let revision = find(text, version) { named.append(revision) }
      if let version, !version.isTree {
        newest[version.maker] = max(version.time, newest[version.maker] ?? 0)
      }
    }
    guard !newest.isEmpty else { return named }
    return named
      + versions.filter { version, _ in newest[version.maker].map { $0 >= version.time } ?? false }
      .values
  }

  /// The versions of a vector that no revision has, unless there is a newer one of their maker, the oldest first.
  /// - Parameter maker: whose versions are left out.
  mutating func unknown(among texts: [String], besides maker: String) -> [LiteVersion] {
    var newest: [String: UInt64] = [:]
    for version in versions.keys {
      newest[version.maker] = max(version.time, newest[version.maker] ?? 0)
    }
    var found: [String: LiteVersion] = [:]
    for version in texts.compactMap({ LiteVersion($0) })
    where !version.isTree && version.maker != maker && version.time > newest[version.maker] ?? 0 {
      newest[version.maker] = version.time
      found[version.maker] = version
    }
    return found.values.sorted { ($0.time, $0.maker) < ($1.time, $1.maker) }
  }
}
