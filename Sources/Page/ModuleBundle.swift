/// The modules of the app in one script: a first visit over a slow line asks for it once, instead of for each module
/// after the one that names it.
///
/// The modules that others import become one scope, each after those that it imports, the entry last. A module that is
/// only loaded later, as a view is, becomes an asynchronous function in that scope, which returns what the module exports.
/// It has a number, and runs when the module is first asked for, so a view that nobody opens costs nothing but its bytes.
/// The script exports what the entry exports. Names of the scope are short (``ShortNames/top(of:prefix:)``).
///
/// The rules look only at the lines of scripts as ``PageSource/script(_:)`` makes them: an import begins its line and
/// names what it imports in braces, an export begins its line with `export` before one declaration or names in braces, and
/// modules don't import each other in a circle. A name at the top level of an imported module is the name of one thing in
/// all of them: a browser refuses a second one. A module is either imported or loaded later. A module that is not given
/// stays a file of its own.
package enum ModuleBundle {
  /// - Parameters:
  ///   - entry: the module from which all others are reached.
  ///   - modules: the source of each module by its name, such as `offline/client.js`.
  ///   - served: makes what browsers get of a source.
  package static func script(
    from entry: String, of modules: [String: [UInt8]], served: ([UInt8]) -> [UInt8]
  ) -> [UInt8] {
    var scope = Scope(modules: modules)
    let first = scope.read(entry, served)
    var (functions, numbers) = ("", [String]())
    while let name = scope.later.popFirst() {
      let module = scope.read(name, served)
      let exports = module.exports.joined(separator: ",")
      let body = ShortNames.top(
        of: Array("\(module.body)return{\(exports)}".utf8), prefix: "_"
      ).script
      functions += "async()=>{\(String(decoding: body, as: UTF8.self))},\n"
      numbers.append(name)
    }
    let script = """
      \(scope.body)let loaded=[],modules=[
      \(functions)],load=number=>loaded[number]??=modules[number]()
      \(first.body)
      """
    let numbered = numbers.enumerated().reduce(script) {
      $0.replacing("load(\"\($1.element)\")", with: "load(\($1.offset))")
    }
    let (body, names) = ShortNames.top(of: Array(numbered.utf8), prefix: "$")
    let exports = first.exports.map { name in names[name].map { "\($0) as \(name)" } ?? name }
    return body + Array("export{\(exports.joined(separator: ","))}\n".utf8)
  }
}

/// What the modules of a bundle have in common.
private struct Scope {
  let modules: [String: [UInt8]]
  /// The texts of the imported modules, each after those that it imports.
  private(set) var body = ""
  /// The names of the modules that are loaded later and not read yet.
  var later: ArraySlice<String> = []
  private var seen: Set<String> = []

  init(modules: [String: [UInt8]]) { self.modules = modules }

  /// A module, after those that it imports have joined the scope.
  mutating func read(_ name: String, _ served: ([UInt8]) -> [UInt8]) -> Module {
    var module = Module(name: name, isGiven: modules.keys.contains)
    for line in served(modules[name] ?? []).split(separator: UInt8(ascii: "\n")) {
      module.add(String(decoding: line, as: UTF8.self))
    }
    for other in module.imported where seen.insert(other).inserted {
      let part = read(other, served).body
      body += part
    }
    later += module.loaded.filter { seen.insert($0).inserted }
    return module
  }
}

/// One module while its lines are read.
private struct Module {
  let name: String
  /// Whether a module is part of the bundle.
  let isGiven: (String) -> Bool
  private(set) var body = ""
  private(set) var exports: [String] = []
  /// The modules that it imports, and those that it loads later.
  private(set) var imported: [String] = []
  private(set) var loaded: [String] = []

  mutating func add(_ line: String) {
    if line.hasPrefix("import{"), let from = line.firstRange(of: "from \"") {
      imported.append(resolve(line[from.upperBound...].prefix { $0 != "\"" }))
    } else if line.hasPrefix("export{") {
      exports += line.dropFirst("export".count).filter { !"{}".contains($0) }
        .split(separator: ",").map(String.init)
    } else if line.hasPrefix("export ") {
      let words = line.split(maxSplits: 4) { " (={".contains($0) }
      exports.append(String(words[words[1] == "async" ? 3 : 2]))
      declare(line.dropFirst("export ".count))
    } else {
      declare(line[...])
    }
  }

  /// Adds a line, which may load other modules later.
  private mutating func declare(_ line: Substring) {
    var rest = line
    while let call = rest.firstRange(of: "import(\"") {
      let path = rest[call.upperBound...].prefix { $0 != "\"" }
      let module = resolve(path)
      let isPart = isGiven(module)
      if isPart { loaded.append(module) }
      body += rest[..<call.lowerBound] + (isPart ? "load(\"\(module)\")" : "import(\"\(path)\")")
      rest = rest[path.endIndex...].dropFirst("\")".count)
    }
    body += rest + "\n"
  }

  /// The name of the module at a path from this one, such as `./dom.js`.
  private func resolve(_ path: Substring) -> String {
    var folders = name.split(separator: "/").dropLast()
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { folders.removeLast() } else { folders.append(part) }
    }
    return folders.joined(separator: "/")
  }
}
