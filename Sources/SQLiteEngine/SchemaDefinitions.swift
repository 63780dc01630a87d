import SQLite
import Stores

/// The definitions of the tables and indexes of one kind of file, as SQLite keeps them.
struct SchemaDefinitions: Sendable {
  /// A table or an index.
  struct Definition: Sendable {
    let name: String
    /// The table itself, or the table of the index.
    let table: String
    /// The statement that creates it; empty for an index that belongs to a table's definition.
    let sql: String

    fileprivate func isSame(as other: Definition) -> Bool {
      name.utf8.elementsEqual(other.name.utf8) && sql.utf8.elementsEqual(other.sql.utf8)
    }
  }

  /// All that a file of this version may have, by name.
  let all: [Definition]
  /// The names of what a file may lack.
  let deferred: Set<String>

  /// Reads the definitions of a database in memory that has all tables, and drops those that are deferred.
  init(of schema: Schema, droppingDeferredFrom connection: Connection) throws {
    all = try Self.found(in: connection)
    try connection.execute(schema.dropsDeferred)
    let left = try Self.found(in: connection)
    deferred = Set(all.map(\.name)).subtracting(left.map(\.name))
  }

  /// Checks that a file has these definitions and no others. A deferred table may be missing with all of its indexes,
  /// and a deferred index of a table that every file has may be missing.
  /// - Throws: `damaged`.
  func requireMatch(in connection: Connection) throws {
    let found = try Self.found(in: connection)
    let names = Set(found.map(\.name))
    let isComplete = all.allSatisfy { definition in
      if names.contains(definition.name) { return true }
      guard deferred.contains(definition.name) else { return false }
      return !deferred.contains(definition.table) || !names.contains(definition.table)
    }
    let isKnown = found.allSatisfy { definition in all.contains { $0.isSame(as: definition) } }
    guard isComplete, isKnown else {
      throw ServiceError.damaged("the tables' definitions are not this version's")
    }
  }

  /// The definitions in a file, by name.
  static func found(in connection: Connection) throws -> [Definition] {
    try connection.statement(
      "SELECT name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY name"
    ).all { row in
      Definition(name: try row.string(0), table: try row.string(1), sql: try row.string(2))
    }
  }
}

/// What a store's file gets when it first needs it.
enum DeferredTable: String, CaseIterable {
  case bodies, locals, indexes, entries, histories
  case documentsByType = "documents_by_type"
  case documentsDeleted = "documents_deleted"
}

extension StoreRows {
  /// From this sequence number on, the documents have an index of their types. Below it, reading all rows is as fast.
  static let typedSequence: Int64 = 32

  /// Whether the file has a table or an index.
  func has(_ table: DeferredTable) throws -> Bool {
    if let tables { return tables.contains(table) }
    let found = try SchemaDefinitions.found(in: connection).compactMap {
      DeferredTable(rawValue: $0.name)
    }
    tables = Set(found)
    return found.contains(table)
  }

  /// Makes a table with its indexes, or an index, in the caller's transaction, if the file does not have it yet.
  func make(_ table: DeferredTable) throws {
    guard try !has(table) else { return }
    for definition in blank.definitions.all
    where definition.name == table.rawValue || definition.table == table.rawValue {
      if !definition.sql.isEmpty { try connection.create(definition.sql) }
    }
    tables?.insert(table)
  }
}
