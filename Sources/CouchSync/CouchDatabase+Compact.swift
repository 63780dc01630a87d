import Documents
import Stores

extension CouchDatabase {
  /// `POST /{db}/_compact`: gives the disk space of what was removed back to the system. Unlike CouchDB, which
  /// answers when it begins, it is done when this returns; other requests to the database wait meanwhile.
  ///
  /// Source: CouchDB, "POST /{db}/_compact".
  /// - Returns: 202 `{"ok":true}`.
  /// - Throws: what is wrong with the store, a full disk too; nothing is lost then.
  package func compact() async throws(CouchError) -> CouchAnswer {
    do { try await store.compact() } catch { throw CouchError(error) }
    let value: JSONValue = ["ok": true]
    return CouchAnswer(202, value.bytes)
  }
}
