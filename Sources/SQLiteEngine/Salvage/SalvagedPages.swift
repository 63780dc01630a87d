import Lanes
import StoreRecords
import Stores

/// The rows of a damaged file, read from all of its pages, even from those that no other page points to.
///
/// A page in whose structure one byte is wrong is repaired: the code tries every other value of each byte of the
/// structure until the page is valid.
struct SalvagedPages {
  /// The damaged file.
  let file: PagedFile
  /// The pages that are not in use; their former content was removed.
  private let free: Set<Int>
  /// The repaired pages, by number.
  private var repaired: [Int: [UInt8]] = [:]
  /// The pages in use that could not be read.
  private(set) var unread: Set<Int> = []
  /// The pages that contain the rest of a record that begins on another page.
  private var overflow: Set<Int> = []
  /// The most changed versions of a page that are tried, which takes one or two seconds.
  private static let maximumTrials = 400_000

  /// Reads the list of free pages.
  init(_ file: PagedFile) {
    self.file = file
    free = Self.freePages(of: file)
  }

  /// A row of a page.
  struct Row {
    /// The kind of the page.
    let kind: PageLayout.Kind
    /// The row's number in a table.
    let number: Int64
    /// The row's values.
    let record: Record
  }

  /// Visits every row of every page in use.
  /// - Parameter visit: receives the rows, in no particular order.
  mutating func visit(_ visit: (Row) throws -> Void) throws {
    guard file.count > 0 else { return }
    for number in 1...file.count where !free.contains(number) {
      if Slice.isEnded { throw ServiceError.ended }
      guard let (page, layout) = read(number) else { continue }
      for cell in layout.cells where layout.kind != .tableInterior {
        guard let bytes = record(of: cell, on: page), let record = Record(bytes) else { continue }
        try visit(Row(kind: layout.kind, number: cell.row, record: record))
      }
    }
    unread.subtract(overflow)
  }

  /// The rows of a tree, which are found by following its pages from the root.
  /// - Returns: the rows, and whether every page could be read.
  mutating func rows(below root: Int) -> (rows: [Record], isWhole: Bool) {
    var (rows, isWhole, waiting): ([Record], Bool, [Int]) = ([], true, [root])
    var seen: Set<Int> = []
    while let number = waiting.popLast() {
      guard seen.insert(number).inserted, let (page, layout) = read(number), layout.isSound else {
        isWhole = false
        continue
      }
      for cell in layout.cells {
        if layout.kind.isInterior { waiting.append(Int(cell.child)) }
        if let bytes = record(of: cell, on: page), let record = Record(bytes) {
          rows.append(record)
        }
      }
      if layout.kind.isInterior { waiting.append(Int(layout.last)) }
    }
    return (rows, isWhole)
  }

  /// A page and its layout, repaired if possible; nil when the page is lost, or contains the rest of a record that
  /// begins on another page.
  private mutating func read(_ number: Int) -> (page: [UInt8], layout: PageLayout)? {
    guard let found = file.page(number) else {
      unread.insert(number)
      return nil
    }
    let page = repaired[number] ?? found
    let layout = PageLayout(page, number: number, of: file.count)
    if let layout, layout.isSound, repaired[number] != nil || !hasLostRow(page, layout) {
      return (page, layout)
    }
    if overflow.contains(number) || unread.contains(number) { return layout.map { (page, $0) } }
    if let better = withOneByteRepaired(page, layout, at: number),
      !(layout?.isSound ?? false) || soundRows(page, layout) < soundRows(better.page, better.layout)
    {
      repaired[number] = better.page
      return better
    }
    if layout.map({ !$0.isSound || hasLostRow(page, $0, whole: false) }) ?? true {
      unread.insert(number)
    }
    return layout.map { (page, $0) }
  }

  /// Whether a valid page contains a document or a registry's entry that can't be repaired. The row's number, which is
  /// part of the page's structure, may then be wrong.
  /// - Parameter isWhole: whether a document whose columns are sound counts as lost when its body is damaged. The
  ///   length of its record may then be wrong.
  private func hasLostRow(
    _ page: [UInt8], _ layout: PageLayout, whole isWhole: Bool = true
  ) -> Bool {
    guard layout.kind != .tableInterior else { return false }
    return layout.cells.contains { cell in
      guard let bytes = record(of: cell, on: page), let record = Record(bytes) else { return true }
      switch SalvagedRow(Row(kind: layout.kind, number: cell.row, record: record)) {
      case .document(let document, _):
        return document.head.isSound
          ? isWhole && !document.isBodySound : document.head.repaired() == nil
      case .entry(let row): return !row.isSound && row.repaired() == nil
      case .body, .piece, .local, .header, .root, nil: return false
      }
    }
  }

  /// The repaired page if one byte of it is wrong. Of several candidates, this is the one with the most sound rows.
  private func withOneByteRepaired(
    _ page: [UInt8], _ layout: PageLayout?, at number: Int
  ) -> (page: [UInt8], layout: PageLayout)? {
    let start = number == 1 ? 100 : 0
    let structure = layout?.structure ?? []
    // The page's header is tried first: if it is wrong, everything else appears wrong, too.
    let head = Set(structure.first ?? start..<start + 1)
    return LanePool.blocking {
      if let found = withOneByteRepaired(page, at: number, trying: head) { return found }
      let rest = Set(structure.joined()).subtracting(head)
      guard rest.count * 255 <= Self.maximumTrials else { return nil }
      return withOneByteRepaired(page, at: number, trying: rest)
    }
  }

  private func withOneByteRepaired(
    _ page: [UInt8], at number: Int, trying offsets: Set<Int>
  ) -> (page: [UInt8], layout: PageLayout)? {
    var page = page
    var best: (page: [UInt8], layout: PageLayout, rows: Int)?
    for offset in offsets.sorted() {
      let found = page[offset]
      for mask in UInt8(1)...255 {
        page[offset] = found ^ mask
        guard let other = PageLayout(page, number: number, of: file.count), other.isSound else {
          continue
        }
        let rows = soundRows(page, other)
        if rows > best?.rows ?? -1 { best = (page, other, rows) }
      }
      page[offset] = found
    }
    return best.map { ($0.page, $0.layout) }
  }

  /// A score for comparing candidates: 3 for a document whose body matches its checksum, 2 for another sound row, 1 for
  /// any other row of a known kind.
  private func soundRows(_ page: [UInt8], _ layout: PageLayout?) -> Int {
    (layout?.cells ?? []).reduce(0) { count, cell in
      guard let bytes = record(of: cell, on: page), let record = Record(bytes),
        let layout, let row = SalvagedRow(Row(kind: layout.kind, number: cell.row, record: record))
      else { return count }
      if case .document(let document, _) = row, document.isBodySound { return count + 3 }
      return count + (row.isSound ? 2 : 1)
    }
  }

  /// The bytes of a record; lost bytes are replaced by zeros.
  private func record(of cell: PageLayout.Cell, on page: [UInt8]) -> [UInt8]? {
    guard cell.start <= page.count, cell.payload <= file.count * PagedFile.pageSize else {
      return nil
    }
    var bytes = Array(page[cell.start..<min(cell.start + cell.local, page.count)])
    var next = cell.overflow
    while bytes.count < cell.payload, let number = next, let more = file.page(Int(number)) {
      bytes += more[4...].prefix(cell.payload - bytes.count)
      next = more.uint32(at: 0)
    }
    return bytes + [UInt8](repeating: 0, count: cell.payload - bytes.count)
  }
}

extension SalvagedPages {
  /// Records which pages contain the rest of a record, so that they do not count as lost pages.
  mutating func noteOverflow() {
    guard file.count > 0 else { return }
    for number in 1...file.count where !free.contains(number) {
      guard let page = file.page(number),
        let layout = PageLayout(page, number: number, of: file.count)
      else { continue }
      for cell in layout.cells {
        var next = cell.overflow
        while let number = next.map(Int.init), number >= 2, overflow.insert(number).inserted {
          next = file.page(number)?.uint32(at: 0)
        }
      }
    }
  }

  /// The pages of the file's free list (<https://sqlite.org/fileformat2.html#the_freelist>), as far as it can be read.
  private static func freePages(of file: PagedFile) -> Set<Int> {
    var pages: Set<Int> = []
    var next = file.page(1)?.uint32(at: 32).map(Int.init) ?? 0
    while next >= 2, let trunk = file.page(next), let count = trunk.uint32(at: 4),
      Int(count) <= PagedFile.pageSize / 4 - 2, pages.insert(next).inserted
    {
      for index in 0..<Int(count) {
        if let leaf = trunk.uint32(at: 8 + 4 * index) { pages.insert(Int(leaf)) }
      }
      next = trunk.uint32(at: 0).map(Int.init) ?? 0
    }
    return pages
  }
}
