import Documents

extension DatabaseManager {
  /// The server's own id, which stays the same as long as its data exist. PouchDB uses it in the ids of its
  /// checkpoints, and so do this server's replications. It comes from the system store, which the first question makes.
  /// - Returns: nil while nothing can be written and there is no such store yet.
  package func serverID() async throws -> String? {
    do {
      return try await withStore(.system) { store in
        let epoch = try await store.readInline { view in try view.info().firstEpoch }
        return Hex.digest(of: "server " + epoch, digits: 32)
      }
    } catch let error as ServiceError where [.storageFull, .readOnly].contains(error.code) {
      return nil
    }
  }
}
