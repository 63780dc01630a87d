import CEmbedded

/// One file of the web page, embedded when the program was built.
package struct EmbeddedFile: Sendable {
  /// The file's name below `Sources/Page/Files`, for example `index.html`.
  package let name: String
  /// The content that browsers get: scripts and styles are without comments and indentation (``PageSource``).
  package let bytes: [UInt8]

  /// All files, in the order of the table in `page.c`, and the script that has all modules of the app (``ModuleBundle``).
  package static let all: [EmbeddedFile] = {
    let files = (0..<cembedded_file_count()).map { index in
      let file = cembedded_file(index)
      let name = String(cString: file.name)
      let source = [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count))
      return EmbeddedFile(name: name, bytes: served(source, name: name))
    }
    let modules = Dictionary(
      uniqueKeysWithValues: files.filter { !apart.contains($0.name) }.map { ($0.name, $0.bytes) })
    return files + [
      EmbeddedFile(name: "bundle.js", bytes: ModuleBundle.script(from: "app.js", of: modules))
    ]
  }()

  /// The modules that are not in the script: only the map needs the coast.
  private static let apart = ["coast.js"]

  private static func served(_ source: [UInt8], name: String) -> [UInt8] {
    if name.hasSuffix(".js") { return PageSource.script(source) }
    return name.hasSuffix(".css") ? PageSource.style(source) : source
  }
}
