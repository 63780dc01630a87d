import CEmbedded

/// One file of the web page, embedded when the program was built.
package struct EmbeddedFile: Sendable {
  /// The file's name below `Sources/Page/Files`, for example `index.html`.
  package let name: String
  /// The content that browsers get: scripts and styles are without comments and indentation (``PageSource``).
  package let bytes: [UInt8]

  /// Whether it is the file that also has the names of places, which another target makes.
  package var isOfPlaces: Bool { name == "places.txt" }

  /// All files, in the order of the table in `page.c`, and the script that has all modules of the app (``ModuleBundle``).
  package static let all: [EmbeddedFile] = {
    let sources = (0..<cembedded_file_count()).map { index in
      let file = cembedded_file(index)
      return EmbeddedFile(
        name: String(cString: file.name),
        bytes: [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }
    let modules = Dictionary(uniqueKeysWithValues: sources.map { ($0.name, $0.bytes) })
      .filter { !apart.contains($0.key) }
    let properties = CustomProperties(of: sources.filter { $0.name.hasSuffix(".css") }.map(\.bytes))
    let keys = sources.first { $0.name == "texts-en.js" }.map { ShortNames.keys(of: $0.bytes) }
    func short(_ source: [UInt8]) -> [UInt8] {
      PageSource.script(ShortNames.script(properties.shortened(script: source), keys: keys ?? [:]))
    }
    func bundle(_ entry: String) -> [UInt8] {
      ModuleBundle.script(from: entry, of: modules, served: short)
    }
    return sources.map { source in
      switch source.name {
      case shared: EmbeddedFile(name: source.name, bytes: bundle(shared))
      case _ where apart.contains(source.name):
        EmbeddedFile(name: source.name, bytes: short(source.bytes))
      default: EmbeddedFile(name: source.name, bytes: served(source, properties))
      }
    } + [EmbeddedFile(name: "bundle.js", bytes: bundle("app.js"))]
  }()

  /// The script of the page of a link, which also has all its modules.
  private static let shared = "shared.js"

  /// The modules that are in no other script: a visitor needs one language, and the coast only for the map.
  private static let apart: Set = ["coast.js", "texts-de.js", "texts-en.js", "texts-ja.js"]

  private static func served(_ source: EmbeddedFile, _ properties: CustomProperties) -> [UInt8] {
    if source.name.hasSuffix(".js") {
      return PageSource.script(properties.shortened(script: source.bytes))
    }
    guard source.name.hasSuffix(".css") else { return source.bytes }
    return PageSource.style(properties.shortened(source.bytes))
  }
}
