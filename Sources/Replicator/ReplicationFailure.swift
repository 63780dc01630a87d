/// Why a replication does not go on, with CouchDB's words for it.
package struct ReplicationFailure: Error, Sendable, Equatable {
  /// The word, such as `db_not_found`.
  package let error: String
  /// A sentence. It never contains credentials.
  package let reason: String

  /// The longest text of another server in a reason, in bytes.
  private static let quoted = 400
  /// The longest reason, in bytes: the URL of an end may have 8 KiB.
  private static let maximum = 10_000

  init(_ error: String, _ reason: String) {
    (self.error, self.reason) = (error, reason.beginning(Self.maximum))
  }

  /// A database is absent, or its answer is none of a CouchDB.
  static func notFound(_ peer: String) -> ReplicationFailure {
    ReplicationFailure("db_not_found", "could not open \(peer)")
  }

  /// A database does not let the replication in: it is `unauthorized` or `forbidden`.
  static func refused(_ word: String, _ peer: String) -> ReplicationFailure {
    ReplicationFailure(word, "\(word) to access or create database \(peer)")
  }

  /// A peer has answered something that can't be used.
  static func badAnswer(_ peer: String, _ what: String) -> ReplicationFailure {
    ReplicationFailure("bad_answer", "\(peer): \(what.beginning(quoted))")
  }

  /// A peer does not answer, or only errors that may pass.
  static func unreachable(_ peer: String, _ what: String) -> ReplicationFailure {
    ReplicationFailure("http_request_failed", "\(peer): \(what.beginning(quoted))")
  }

  /// The checkpoint can't be written.
  static func checkpoint(_ reason: String) -> ReplicationFailure {
    ReplicationFailure("checkpoint_commit_failure", reason)
  }
}

extension String {
  /// At most so many bytes of it. A character may have any number of them.
  func beginning(_ bytes: Int) -> String {
    utf8.count <= bytes ? self : String(decoding: utf8.prefix(bytes), as: UTF8.self)
  }
}
