import Stores

/// The cells of a page of a B-tree, read from its bytes (<https://sqlite.org/fileformat2.html#b_tree_pages>).
struct PageLayout {
  /// The kind of a page.
  enum Kind: UInt8 {
    case indexInterior = 0x02
    case tableInterior = 0x05
    case indexLeaf = 0x0A
    case tableLeaf = 0x0D

    /// Whether the page points to child pages.
    var isInterior: Bool { self == .indexInterior || self == .tableInterior }
  }

  /// An entry of a page: a row, a key, or a pointer to a child page.
  struct Cell {
    /// The row's number in a table; 0 in an index.
    var row: Int64 = 0
    /// The child page whose keys come before this cell; 0 in a leaf.
    var child: UInt32 = 0
    /// The length of the whole record in bytes.
    var payload = 0
    /// The offset on this page where the record begins.
    var start = 0
    /// How many bytes of the record are on this page.
    var local = 0
    /// The overflow page with the record's next part; nil when there is none.
    var overflow: UInt32?
  }

  let kind: Kind
  /// The cells that can be read.
  private(set) var cells: [Cell] = []
  /// The last child page; 0 in a leaf.
  private(set) var last: UInt32 = 0
  /// Whether cells, free blocks and fragments fill the page exactly, and each cell's record has the length that it
  /// states.
  private(set) var isSound = true
  /// The ranges of bytes that describe the page's structure. A wrong byte in them makes the page unreadable.
  private(set) var structure: [Range<Int>] = []

  private var used = 0
  private var extents: [Range<Int>] = []
  private let pageCount: Int

  /// Reads a page; nil when its kind or its length is not one of SQLite's.
  /// - Parameter number: the page's number. Page 1 begins with the file's header.
  init?(_ page: [UInt8], number: Int, of pageCount: Int) {
    let start = number == 1 ? 100 : 0
    guard page.count == PagedFile.pageSize, let kind = Kind(rawValue: page[start]),
      let count = page.uint16(at: start + 3), let content = page.uint16(at: start + 5)
    else { return nil }
    self.kind = kind
    self.pageCount = pageCount
    let pointers = start + (kind.isInterior ? 12 : 8)
    if kind.isInterior {
      last = page.uint32(at: start + 8) ?? 0
      if !isPage(last) { isSound = false }
    }
    structure.append(start..<pointers)
    // On a page without cells, the cell content begins at the page's end. Only a page of 64 KiB would store that as 0.
    let end = min(pointers + 2 * count, page.count)
    if end > content || pointers + 2 * count > page.count { isSound = false }
    structure.append(pointers..<end)
    for pointer in stride(from: pointers, to: end - 1, by: 2) {
      guard let offset = page.uint16(at: pointer) else { break }
      read(page, at: offset, from: max(content, end))
    }
    let free = freeBytes(page, from: start) + Int(page[start + 7])
    if used + free != page.count - content || hasOverlaps { isSound = false }
  }

  private var hasOverlaps: Bool {
    let sorted = extents.sorted { $0.lowerBound < $1.lowerBound }
    return zip(sorted, sorted.dropFirst()).contains { $0.upperBound > $1.lowerBound }
  }

  private func isPage(_ number: UInt32) -> Bool { number >= 2 && Int(number) <= pageCount }

  private mutating func read(_ page: [UInt8], at offset: Int, from content: Int) {
    guard offset >= content, offset < page.count else {
      isSound = false
      return
    }
    var cell = Cell()
    var next = offset
    if kind.isInterior {
      cell.child = page.uint32(at: offset) ?? 0
      if !isPage(cell.child) { isSound = false }
      next += 4
    }
    var hasRecord = true
    if kind == .tableInterior {
      hasRecord = false
    } else if let length = page.varint(at: next), length.value >= 0, length.value <= 1 << 31 {
      cell.payload = Int(length.value)
      next = length.end
    } else {
      isSound = false
      structure.append(offset..<min(next + 9, page.count))
      return
    }
    if kind == .tableLeaf || kind == .tableInterior {
      guard let row = page.varint(at: next) else {
        isSound = false
        return
      }
      cell.row = row.value
      next = row.end
    }
    cell.start = next
    cell.local = hasRecord ? Self.local(cell.payload, isTable: kind == .tableLeaf) : 0
    var end = next + cell.local
    if cell.local < cell.payload {
      cell.overflow = page.uint32(at: end)
      if cell.overflow.map({ !isPage($0) }) ?? true { isSound = false }
      end += 4
    }
    let head = hasRecord ? Record.headerEnd(page, at: next, payload: cell.payload) : next
    structure.append(offset..<min(head ?? next + 24, page.count))
    if end > page.count {
      isSound = false
      cell.local = max(0, page.count - next)
    } else if head == nil {
      isSound = false
    }
    let extent = offset..<max(offset + 4, min(end, page.count))
    used += extent.count
    extents.append(extent)
    cells.append(cell)
  }

  /// How many bytes of a record are on its own page. A short record is complete there. Of a long record, the page keeps
  /// so many bytes that the rest fills whole overflow pages. If these bytes do not fit, the page keeps the minimum.
  private static func local(_ payload: Int, isTable: Bool) -> Int {
    let usable = PagedFile.pageSize
    let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
    guard payload > most else { return payload }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (payload - least) % (usable - 4)
    return fitting <= most ? fitting : least
  }

  /// The total length of the free blocks, which are a linked list.
  private mutating func freeBytes(_ page: [UInt8], from start: Int) -> Int {
    var (sum, last) = (0, 0)
    var offset = page.uint16(at: start + 1) ?? 0
    while offset != 0 {
      guard offset > last, let next = page.uint16(at: offset),
        let size = page.uint16(at: offset + 2)
      else {
        isSound = false
        break
      }
      structure.append(offset..<offset + 4)
      sum += size
      last = offset
      offset = next
    }
    return sum
  }
}
