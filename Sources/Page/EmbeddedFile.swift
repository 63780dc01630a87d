import CPage

/// One file of the web page, as it was when the program was built.
package struct EmbeddedFile: Sendable {
  /// Its name below `Sources/Page/Files`: `index.html`.
  package let name: String
  /// What it holds.
  package let bytes: [UInt8]

  /// Every file, in the order of the table in `page.c`.
  package static let all: [EmbeddedFile] = (0..<cpage_count()).map { place in
    let file = cpage_at(place)
    return EmbeddedFile(
      name: String(cString: file.name),
      bytes: [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count)))
  }
}
