/// What the first bytes of a file say about its encoding and its format.
enum FileStart {
  /// The longest mark that is looked for, in bytes.
  static let longestMark = 4

  /// How many bytes the byte order mark of UTF-8 has in this file: three or none.
  /// - Throws: `malformed` for another encoding, and for formats that are neither JSON nor a table.
  static func markLength(of bytes: [UInt8]) throws(CatalogueError) -> Int {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return 3 }
    for (start, reason) in refused where bytes.starts(with: start) {
      throw CatalogueError(.malformed, reason, line: 1)
    }
    // A text's first character is in ASCII, so one of its bytes is zero in UTF-16.
    guard !bytes.prefix(2).contains(0) else {
      throw CatalogueError(.malformed, utf16, line: 1)
    }
    return 0
  }

  private static let utf16 = "The file is UTF-16; save it as UTF-8."

  private static let refused: [([UInt8], String)] = [
    ([0xFF, 0xFE, 0, 0], "The file is UTF-32; save it as UTF-8."),
    ([0, 0, 0xFE, 0xFF], "The file is UTF-32; save it as UTF-8."),
    ([0xFF, 0xFE], utf16), ([0xFE, 0xFF], utf16),
    (
      [0x50, 0x4B, 0x03, 0x04],
      "The file is a ZIP archive or a workbook of a spreadsheet; save the table as CSV in UTF-8."
    ),
    ([0xD0, 0xCF, 0x11, 0xE0], "The file is a workbook; save the table as CSV in UTF-8."),
    ([0x1F, 0x8B], "The file is packed twice; unpack it once."),
    (Array("%PDF".utf8), "The file is a PDF, not JSON or CSV."),
    (Array("<".utf8), "The file is XML or HTML; it must be JSON or CSV."),
  ]
}
