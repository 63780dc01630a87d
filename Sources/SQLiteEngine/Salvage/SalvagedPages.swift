import Lanes
import Stores

/// All rows of a damaged file that its pages still show, whether or not the pages above lead to them.
///
/// A page in which one byte of the structure has turned is computed back: each byte that tells where what is is tried
/// with each of its other values, until the page is a page again.
struct SalvagedPages {
  /// The file.
  let file: PagedFile
  /// Pages that hold nothing: what they once held was removed.
  private let free: Set<Int>
  /// Pages as they were before a byte turned, by number.
  private var mended: [Int: [UInt8]] = [:]
  /// Pages that hold something and could not be read.
  private(set) var unread: Set<Int> = []
  /// Pages that belong to the record of another page.
  private var overflow: Set<Int> = []
  /// How often a page is read with one byte changed, at most: that takes a second or two.
  private static let maximumTrials = 400_000

  /// Reads which pages are free.
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
    /// Its values.
    let record: Record
  }

  /// Visits every row of every page that is in use.
  /// - Parameter visit: takes a row, in no order.
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

  /// The pages of a tree that its root leads to.
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

  /// A page and what is where on it; nil for one that belongs to the record of another, or is lost.
  private mutating func read(_ number: Int) -> (page: [UInt8], layout: PageLayout)? {
    guard let found = file.page(number) else {
      unread.insert(number)
      return nil
    }
    let page = mended[number] ?? found
    let layout = PageLayout(page, number: number, of: file.count)
    if let layout, layout.isSound, mended[number] != nil || !hasLostRow(page, layout) {
      return (page, layout)
    }
    if overflow.contains(number) || unread.contains(number) { return layout.map { (page, $0) } }
    if let better = mending(page, layout, at: number),
      !(layout?.isSound ?? false) || soundRows(page, layout) < soundRows(better.page, better.layout)
    {
      mended[number] = better.page
      return better
    }
    if layout.map({ !$0.isSound || hasLostRow(page, $0, whole: false) }) ?? true {
      unread.insert(number)
    }
    return layout.map { (page, $0) }
  }

  /// Whether a document or an entry on a page is lost although the page is one: its number may have turned.
  /// - Parameter isWhole: whether a document is lost of which the body alone is: where it ends may have turned.
  private func hasLostRow(
    _ page: [UInt8], _ layout: PageLayout, whole isWhole: Bool = true
  ) -> Bool {
    guard layout.kind != .tableInterior else { return false }
    return layout.cells.contains { cell in
      guard let bytes = record(of: cell, on: page), let record = Record(bytes) else { return true }
      switch SalvagedRow(Row(kind: layout.kind, number: cell.row, record: record)) {
      case .document(let document, _):
        return document.head.isSound
          ? isWhole && !document.isBodySound : document.head.mended() == nil
      case .entry(let row): return !row.isSound && row.mended() == nil
      case .body, .piece, .local, .header, .root, nil: return false
      }
    }
  }

  /// The page as it was if one byte has turned. Of several that it may have been, the one with most rows.
  private func mending(
    _ page: [UInt8], _ layout: PageLayout?, at number: Int
  ) -> (page: [UInt8], layout: PageLayout)? {
    let start = number == 1 ? 100 : 0
    let structure = layout?.structure ?? []
    // The page's own header first: where it is wrong, all else looks wrong.
    let head = Set(structure.first ?? start..<start + 1)
    return LanePool.blocking {
      if let found = mending(page, at: number, trying: head) { return found }
      let rest = Set(structure.joined()).subtracting(head)
      guard rest.count * 255 <= Self.maximumTrials else { return nil }
      return mending(page, at: number, trying: rest)
    }
  }

  private func mending(
    _ page: [UInt8], at number: Int, trying places: Set<Int>
  ) -> (page: [UInt8], layout: PageLayout)? {
    var page = page
    var best: (page: [UInt8], layout: PageLayout, rows: Int)?
    for index in places.sorted() {
      let found = page[index]
      for mask in UInt8(1)...255 {
        page[index] = found ^ mask
        guard let other = PageLayout(page, number: number, of: file.count), other.isSound else {
          continue
        }
        let rows = soundRows(page, other)
        if rows > best?.rows ?? -1 { best = (page, other, rows) }
      }
      page[index] = found
    }
    return best.map { ($0.page, $0.layout) }
  }

  /// How many rows of a page have the checksum that they should have.
  private func soundRows(_ page: [UInt8], _ layout: PageLayout?) -> Int {
    (layout?.cells ?? []).reduce(0) { count, cell in
      guard let bytes = record(of: cell, on: page), let record = Record(bytes),
        let layout, let row = SalvagedRow(Row(kind: layout.kind, number: cell.row, record: record))
      else { return count }
      if case .document(let document, _) = row, document.isBodySound { return count + 3 }
      return count + (row.isSound ? 2 : 1)
    }
  }

  /// The bytes of a record; what is lost of it reads as zeros.
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
  /// Notes which pages belong to records of others, so that nobody takes them for pages that are lost.
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
