import Stores

/// Makes the target of a move have no other stores than the source.
struct NameDifference: Sendable {
  let source: any CopyingEngine
  let target: any CopyingEngine

  /// Erases the stores that only the target has, and lists those that only the source has. No one may change stores
  /// meanwhile.
  ///
  /// What only the target has was copied by this move and erased in the source after that. It must not come back.
  /// - Returns: the names that only the source has, in byte order, without the accounts'.
  /// - Throws: the errors of both engines.
  func settle() async throws -> [StoreName] {
    var missing: [StoreName] = []
    for namespace in StoreName.namespaces where namespace != StoreName.system.namespace {
      var ours = NameCursor(in: namespace, of: source)
      var theirs = NameCursor(in: namespace, of: target)
      var (own, other) = (try await ours.next(), try await theirs.next())
      while own != nil || other != nil {
        if own == other {
          (own, other) = (try await ours.next(), try await theirs.next())
        } else if let name = own, other.map({ name.precedes($0) }) ?? true {
          missing.append(name)
          own = try await ours.next()
        } else if let name = other {
          _ = try await target.erase(name)
          other = try await theirs.next()
        }
      }
    }
    return missing
  }
}

/// Visits the names of one namespace of an engine, in byte order.
struct NameCursor: Sendable {
  /// How many names are listed at a time.
  private static let namesAtOnce = 500

  private let namespace: String
  private let engine: any StorageEngine
  private var names: ArraySlice<StoreName> = []
  private var last: String?

  /// A cursor before the first name.
  init(in namespace: String, of engine: any StorageEngine) {
    self.namespace = namespace
    self.engine = engine
  }

  /// The next name; nil after the last.
  /// - Throws: the errors of the engine.
  mutating func next() async throws -> StoreName? {
    if names.isEmpty { names = try await nextPage()[...] }
    return names.popFirst()
  }

  /// The names that follow those of the last page; empty after the last.
  mutating func nextPage() async throws -> [StoreName] {
    let page = try await engine.names(in: namespace, after: last, limit: Self.namesAtOnce)
    if let end = page.last { last = end.key }
    return page
  }
}

extension StoreName {
  /// Whether the key comes before another one in byte order.
  fileprivate func precedes(_ other: StoreName) -> Bool {
    key.utf8.lexicographicallyPrecedes(other.key.utf8)
  }
}
