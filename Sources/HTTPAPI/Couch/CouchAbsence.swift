import Stores

/// The operations of CouchDB that this service does not have. Their names stand where a database's or a document's name
/// stands. The answer names the operation: that a database or a document is missing would be misleading.
///
/// Source: CouchDB, "API reference": `chttpd_handlers`.
enum CouchAbsence {
  /// Those of databases.
  private static let ofDatabases: Set<String> = [
    "_shards", "_sync_shards", "_partition", "_auto_purge", "_nouveau_cleanup", "_search_cleanup",
    "_purged_infos", "_temp_view",
  ]

  /// Those of design documents that are called with other methods than attachments have.
  private static let ofDesigns: Set<String> = [
    "_info", "_rewrite", "_search", "_search_info", "_search_disk_size", "_nouveau",
    "_nouveau_info", "_geo",
  ]

  /// 404 `not_found` for an operation that is absent; nil for anything else.
  /// - Parameter database: the first name of the path. Only one database's name begins with `_`.
  /// - Parameter document: the second name, percent-encoded as sent; nil for none.
  static func error(at database: some StringProtocol, _ document: String?) -> ServiceError? {
    if database.utf8.first == UInt8(ascii: "_"), DatabaseName(String(database)) != .replicator {
      return error(String(database))
    }
    return document.flatMap { ofDatabases.contains($0) ? error($0) : nil }
  }

  /// 404 `not_found` for an operation that is absent, whatever its method; nil for anything else.
  /// - Parameter names: the path within a database, percent-encoded as sent.
  static func error(inDatabase names: ArraySlice<Substring>) -> ServiceError? {
    guard let first = names.first else { return nil }
    guard first == "_design" else { return error(at: "", String(first)) }
    return names.dropFirst(2).first.flatMap { ofDesigns.contains(String($0)) ? error($0) : nil }
  }

  /// 404 `not_found` for what CouchDB does with a design document, such as `_info`; nil for anything else.
  static func error(ofDesign design: String?, _ name: String) -> ServiceError? {
    design != nil && name.utf8.first == UInt8(ascii: "_") ? error(name) : nil
  }

  private static func error(_ name: some StringProtocol) -> ServiceError {
    ServiceError(.missing, "CouchDB's \(name.prefix(64)) is not offered here")
  }
}
