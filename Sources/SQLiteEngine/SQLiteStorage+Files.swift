import Lanes
import SQLite
import Stores

/// Making, opening and removing the file.
extension SQLiteStorage {
  /// Opens the file.
  /// - Parameter epoch: what the registry says of it; nil for a file that is not registered.
  /// - Returns: the file's own epoch.
  /// - Throws: `damaged` for a file that is missing, empty, another store's or not sound; `unavailable`,
  ///   `storage`, `storageFull`, `readOnly`.
  func open(epoch: String?) throws(StoreError) -> String {
    let key = key
    // What a crash left of a file that was being written anew is of no use, and nothing depends on it.
    try? file.removeDraft()
    adopt(
      try Connection.opening(file, as: blank) { connection throws(StoreError) in
        let header = try StoreHeader(readingOrMendingFrom: connection)
        guard header.key.utf8.elementsEqual(key.utf8) else {
          throw .damaged("the file is another store's")
        }
        guard epoch?.utf8.elementsEqual(header.epoch.utf8) ?? true else {
          throw .damaged("the file is of another life of this store")
        }
        return header
      })
    return header.epoch
  }

  private func adopt(_ opened: Connection.Opened<StoreHeader>) {
    rows = StoreRows(opened.connection)
    header = opened.header
    isReadOnly = opened.isReadOnly
    hasOldLog = opened.hasOldLog
    counters.countOpening()
  }

  /// Whether there is a file.
  func fileExists() throws(StoreError) -> Bool { try file.exists() }

  /// Makes the file, durably, and opens it. It is not looked through, as a file that was found is: these are
  /// the bytes that were written just now, and there is no log.
  /// - Throws: `storageFull` also while there is room for nothing but deletions.
  func create(_ image: [UInt8], in directory: DataDirectory) throws(StoreError) {
    guard reserve.isWhole() else { throw .full }
    try LanePool.blocking { () throws(StoreError) in
      try calling { () throws(SystemError) in
        try directory.makeDirectory(of: file)
        try file.create(image)
      }
    }
    counters.countCreation()
    adopt(
      try Connection.openingSound(file, as: blank) { connection throws(StoreError) in
        try StoreHeader(readingFrom: connection)
      })
  }

  /// Removes the file and those beside it; may be repeated.
  func erase() throws(StoreError) {
    try LanePool.blocking { () throws(StoreError) in try calling(file.erase) }
  }
}
