/// The modules of the app in one script: a first visit over a slow line asks for it once, instead of for each module
/// after the one that names it.
///
/// Each module becomes an asynchronous function that returns what the module exports. It runs when the module is first
/// asked for, so a view that nobody opens costs nothing but its bytes. The script exports `load`, which returns a promise
/// of a module's exports by its name.
///
/// The rules look only at the lines of scripts as ``PageSource/script(_:)`` makes them: an import begins its line and
/// names what it imports in braces, an export begins its line with `export` before one declaration or names in braces,
/// a name is exported once and never changes its value, and modules don't import each other in a circle.
package enum ModuleBundle {
  /// - Parameters:
  ///   - entry: the module from which all others are reached.
  ///   - modules: the text of each module by its name, such as `offline/client.js`.
  package static func script(from entry: String, of modules: [String: [UInt8]]) -> [UInt8] {
    var functions = ""
    var names = [entry]
    var seen: Set = [entry]
    while let name = names.popLast() {
      var module = Module(name: name)
      for line in (modules[name] ?? []).split(separator: UInt8(ascii: "\n")) {
        module.add(String(decoding: line, as: UTF8.self))
      }
      functions += "\"\(name)\":async()=>{\(module.body)return{\(module.exports)}},\n"
      names += module.imported.filter { seen.insert($0).inserted }
    }
    return Array(
      """
      const loaded={},modules={
      \(functions)}
      export const load=name=>loaded[name]??=modules[name]()

      """.utf8)
  }
}

/// One module while its lines are read.
private struct Module {
  let name: String
  private(set) var body = ""
  /// The exported names, as members of an object.
  private(set) var exports = ""
  /// The modules that it names, also those that it loads later.
  private(set) var imported: [String] = []

  init(name: String) { self.name = name }

  mutating func add(_ line: String) {
    if line.hasPrefix("import{"), let from = line.firstRange(of: "from \"") {
      let names = line[..<from.lowerBound].dropFirst("import".count).replacing(" as ", with: ":")
      let path = line[from.upperBound...].prefix { $0 != "\"" }
      body += "const\(names)=await \(load(path))\n"
    } else if line.hasPrefix("export{") {
      export(line.dropFirst("export".count))
    } else if line.hasPrefix("export ") {
      let words = line.split(maxSplits: 4) { " (={".contains($0) }
      export(words[words[1] == "async" ? 3 : 2])
      declare(line.dropFirst("export ".count))
    } else {
      declare(line[...])
    }
  }

  private mutating func export(_ names: Substring) {
    exports += names.filter { !"{}".contains($0) } + ","
  }

  /// Adds a line, which may load other modules later.
  private mutating func declare(_ line: Substring) {
    var rest = line
    while let call = rest.firstRange(of: "import(\"") {
      body += rest[..<call.lowerBound]
      let path = rest[call.upperBound...].prefix { $0 != "\"" }
      body += load(path)
      rest = rest[path.endIndex...].dropFirst("\")".count)
    }
    body += rest + "\n"
  }

  /// The call that loads a module by its path from this one, such as `./dom.js`.
  private mutating func load(_ path: Substring) -> String {
    var folders = name.split(separator: "/").dropLast()
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { folders.removeLast() } else { folders.append(part) }
    }
    imported.append(folders.joined(separator: "/"))
    return "load(\"\(folders.joined(separator: "/"))\")"
  }
}
