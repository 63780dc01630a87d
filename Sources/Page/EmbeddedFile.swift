import CPage

/// One file of the web page, as it was when the program was built.
package struct EmbeddedFile: Sendable {
  /// Its name below `Sources/Page/Files`: `index.html`.
  package let name: String
  /// What it holds, as browsers get it: scripts and styles without comments and indentation (``PageSource``).
  package let bytes: [UInt8]

  /// Every file, in the order of the table in `page.c`.
  package static let all: [EmbeddedFile] = (0..<cpage_count()).map { place in
    let file = cpage_at(place)
    let name = String(cString: file.name)
    let source = [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count))
    return EmbeddedFile(name: name, bytes: served(source, name: name))
  }

  private static func served(_ source: [UInt8], name: String) -> [UInt8] {
    if name.hasSuffix(".js") { return PageSource.script(source) }
    return name.hasSuffix(".css") ? PageSource.style(source) : source
  }
}
