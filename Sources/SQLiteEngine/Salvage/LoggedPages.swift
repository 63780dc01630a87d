import Stores

/// Copies the log that a crash left into its file, as SQLite would if it could read the file.
///
/// The format: <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
struct LoggedPages {
  private static let headerBytes = 32
  private static let frameHeaderBytes = 24

  /// The offset in the log of each page's newest content, by page number.
  private(set) var offsets: [UInt32: Int] = [:]
  /// The number of pages of the file after the last commit.
  private(set) var pageCount: UInt32 = 0

  private let isBigEndian: Bool
  private var sums: (UInt32, UInt32) = (0, 0)

  /// Copies the log's commits into the file, then removes the log. After an interruption, the call can be repeated.
  /// - Parameter isOurs: whether the rows that the log contains belong to this file. If not, the log is renamed to
  ///   ``DatabaseFile/damagedLogPath`` and not copied.
  /// - Throws: ``SystemError``.
  static func copy(into file: DatabaseFile, where isOurs: ([SalvagedRow]) -> Bool) throws {
    guard let entry = try Disk.entry(at: file.logPath), entry.size > 0 else { return }
    let limit = Int(clamping: entry.size)
    guard let log = try Disk.contents(of: file.logPath, atMost: limit) else { return }
    if let pages = LoggedPages(log), pages.pageCount > 0 {
      guard isOurs(pages.rows(in: log)) else {
        try Disk.rename(file.logPath, to: file.damagedLogPath)
        return try Disk.synchronizeDirectory(file.directory)
      }
      let target = try PagedFile(file.path, isWritten: true)
      for (number, offset) in pages.offsets where number <= pages.pageCount {
        try target.write(log[offset..<offset + PagedFile.pageSize], at: Int(number))
      }
      try target.setCount(Int(pages.pageCount))
      try target.synchronize()
    }
    try Disk.remove(file.logPath)
    try Disk.synchronizeDirectory(file.directory)
  }

  /// The rows in the log that are complete on one page.
  private func rows(in log: [UInt8]) -> [SalvagedRow] {
    offsets.flatMap { number, offset -> [SalvagedRow] in
      let page = Array(log[offset..<offset + PagedFile.pageSize])
      guard let layout = PageLayout(page, number: Int(number), of: Int(pageCount)) else {
        return []
      }
      return layout.cells.compactMap { cell in
        guard layout.kind != .tableInterior, cell.local == cell.payload,
          let record = Record(Array(page[cell.start..<cell.start + cell.local]))
        else { return nil }
        return SalvagedRow(.init(kind: layout.kind, number: cell.row, record: record))
      }
    }
  }

  /// Reads a log up to its last complete commit; nil when the bytes are not a log.
  init?(_ log: [UInt8]) {
    guard let magic = log.uint32(at: 0), magic & ~1 == 0x377F_0682,
      log.uint32(at: 8) == UInt32(PagedFile.pageSize), log.count >= Self.headerBytes
    else { return nil }
    isBigEndian = magic & 1 == 1
    add(log[0..<24])
    guard matchesSums(log, at: 24) else { return nil }
    readFrames(log)
  }

  private mutating func readFrames(_ log: [UInt8]) {
    var pending: [UInt32: Int] = [:]
    var start = Self.headerBytes
    let salt = log[16..<24]
    while start + Self.frameHeaderBytes + PagedFile.pageSize <= log.count {
      let content = start + Self.frameHeaderBytes
      guard let number = log.uint32(at: start), number > 0, let size = log.uint32(at: start + 4),
        log[start + 8..<start + 16].elementsEqual(salt)
      else { return }
      add(log[start..<start + 8])
      add(log[content..<content + PagedFile.pageSize])
      guard matchesSums(log, at: start + 16) else { return }
      pending[number] = content
      if size > 0 {
        offsets.merge(pending) { $1 }
        pending = [:]
        pageCount = size
      }
      start = content + PagedFile.pageSize
    }
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    var offset = bytes.startIndex
    while let first = word(bytes, at: offset), let second = word(bytes, at: offset + 4) {
      sums.0 = sums.0 &+ first &+ sums.1
      sums.1 = sums.1 &+ second &+ sums.0
      offset += 8
    }
  }

  private func word(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32? {
    bytes.uint32(at: offset).map { isBigEndian ? $0 : $0.byteSwapped }
  }

  private func matchesSums(_ log: [UInt8], at offset: Int) -> Bool {
    log.uint32(at: offset) == sums.0 && log.uint32(at: offset + 4) == sums.1
  }
}
