import Accounts
import Documents
import HTTPAPI
import PostgresEngine
import SQLiteEngine
import Scheduling
import Stores

/// The storage engine of a server or a command, and what depends on where the stores are: the clock, the signing keys
/// and the administrator's password.
struct StorageAssembly: Sendable {
  let engine: any StorageEngine
  /// The engine of files; nil with a database.
  let files: FileEngine?
  /// The clock whose times are stored: the machine's for files, the database's for servers that share one.
  let now: @Sendable () -> Timestamp
  private let database: PostgresDatabase?
  private let directory: NodeDirectory?

  /// What gives all servers of a database the same catalogue; nil with files.
  func sharedCatalogue(in data: String) -> SharedCatalogue? {
    database.map { SharedCatalogue(database: $0, data: data) }
  }

  /// Opens the stores of a server. With a database it locks the data directory, too, which has what belongs to this
  /// server only.
  /// - Parameter pool: the threads that work on the stores; closing the engine stops them.
  /// - Throws: `DataDirectoryError`, ``SettingsError``, `ServiceError`; the server can't start then.
  static func open(_ settings: Settings, pool: ThreadPool) async throws -> StorageAssembly {
    guard let address = try settings.storage.databaseAddress() else {
      return StorageAssembly(
        try await FileEngine.open(
          directory: settings.data, pool: pool, keptBytes: settings.limits.keptBytes))
    }
    let directory = try await NodeDirectory.open(settings.data)
    let database = try await Self.open(
      address, connections: settings.databaseConnections, pool: pool)
    return StorageAssembly(database, directory)
  }

  /// Opens stores for a command.
  /// - Throws: `DataDirectoryError` for a directory without data or in use; ``SettingsError``, `ServiceError`.
  static func open(_ location: StorageLocation) async throws -> StorageAssembly {
    if let address = try location.databaseAddress() {
      let pool = ThreadPool.forStores(threads: ThreadPool.storeThreads)
      return StorageAssembly(try await Self.open(address, connections: 4, pool: pool), nil)
    }
    try FileEngine.requireDirectory(location.data)
    return StorageAssembly(try await FileEngine.open(directory: location.data))
  }

  /// Opens stores for a command, and closes them after use.
  /// - Throws: the errors of ``open(_:)-(StorageLocation)``, and of `use`.
  static func with<Value>(
    _ location: StorageLocation, _ use: (StorageAssembly, DatabaseManager) async throws -> Value
  ) async throws -> Value {
    let storage = try await open(location)
    let stores = ServiceAssembly.stores(over: storage, Settings())
    return try await closing {
      await stores.close()
      await storage.close()
    } after: {
      try await use(storage, stores)
    }
  }

  /// Opens a database that no move has marked.
  /// - Throws: ``SettingsError`` for one with a mark; `ServiceError`.
  private static func open(
    _ address: DatabaseAddress, connections: Int, pool: ThreadPool
  ) async throws -> PostgresDatabase {
    let database = try await PostgresDatabase.open(address, connections: connections, pool: pool)
    do {
      if let mark = try await database.moveMark() {
        let location = address.description
        throw SettingsError(
          "database: " + mark.reason(at: location, removal: "run move --undo with its URL"))
      }
    } catch {
      await database.close()
      throw error
    }
    return database
  }

  /// The stores of a data directory.
  init(_ files: FileEngine) {
    (engine, self.files, database, directory) = (files, files, nil, nil)
    now = SystemClock.now
  }

  private init(_ database: PostgresDatabase, _ directory: NodeDirectory?) {
    (engine, files, self.database, self.directory) = (database, nil, database, directory)
    now = database.clock.now
  }

  /// The keys that sign tokens.
  /// - Throws: `ServiceError`.
  func keys(in data: String, _ stores: DatabaseManager) async throws -> SigningKeys {
    guard engine.isShared else { return try SigningKeys.open(DataFiles.keys(in: data), now: now()) }
    return try await SigningKeys.open(in: SharedSecrets(stores: stores), now: now())
  }

  /// Writes the row of a store in a database again if it is damaged; see ``PostgresDatabase/repairRow(of:)``.
  /// - Returns: whether it was written; false with files.
  func repairRow(of name: StoreName) async throws -> Bool {
    try await database?.repairRow(of: name) ?? false
  }

  /// Registers lost stores of a database again; see ``PostgresDatabase/registerLostStores()``.
  func registerLostStores() async throws -> (registered: [String], left: [String]) {
    try await database?.registerLostStores() ?? ([], [])
  }

  /// Why the stores can't be used any more: ``PostgresDatabase/refusal``.
  @Sendable func refusal() -> ServiceError? { database?.refusal }

  /// The number of commits since the engine was opened.
  var commits: Int { files?.statistics.commits ?? database?.statistics.commits ?? 0 }

  /// Adds the engine's counts to the metrics.
  func report(to metrics: PrometheusRegistry) {
    files?.report(to: metrics)
    database?.report(to: metrics)
  }

  /// Closes the engine. All stores are closed.
  func close() async {
    await engine.close()
    directory?.close()
  }
}

extension Settings {
  var storage: StorageLocation {
    StorageLocation(data: data, database: database, databasePasswordFile: databasePasswordFile)
  }
}

extension PostgresDatabase {
  /// Adds the engine's counts to the metrics.
  func report(to metrics: PrometheusRegistry) {
    metrics.collect {
      let statistics = self.statistics
      return PrometheusSample.engine(
        commits: statistics.commits, updates: statistics.updates, repaired: statistics.repaired,
        setAside: statistics.damaged, dropped: statistics.dropped
      ) + [
        PrometheusSample("database_connections", .gauge, Double(statistics.connections)),
        PrometheusSample("database_connections_hung", .gauge, Double(statistics.hung)),
        PrometheusSample("database_connections_idle", .gauge, Double(statistics.idle)),
        PrometheusSample("database_writes_on_one_disk", .gauge, self.writesOnOneDisk ? 1 : 0),
        PrometheusSample("database_waiting", .gauge, Double(statistics.waiting)),
        PrometheusSample("database_reconnections_total", .counter, Double(statistics.lost)),
        PrometheusSample("database_outcomes_unknown_total", .counter, Double(statistics.unknown)),
      ]
    }
  }
}
