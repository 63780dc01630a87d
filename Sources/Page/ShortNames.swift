/// A script with short names for what only it sees: the private members of classes, the variables of each function, and the
/// keys of the page's texts; and with short forms of three words (``literals``).
///
/// No scope is worked out. The rules look only at tokens, and leave a name as it is where they could be wrong. A variable is
/// renamed within one declaration at the top level of a module, if it is declared there and every word that could be the
/// variable is one. So a name stays that is also a member's (`{ name }`), one of the module's top level, or one that
/// browsers give (``known``).
struct ShortNames {
  private let script: [UInt8]
  private let tokens: [ScriptToken]
  /// The new names of tokens.
  private var renamed: [Int: String] = [:]

  /// - Parameter keys: the short keys of the page's texts.
  static func script(_ script: [UInt8], keys: [String: String]) -> [UInt8] {
    var names = ShortNames(script)
    names.renamePrivateMembers()
    names.renameKeys(keys)
    names.shortenLiterals()
    let top = names.topNames
    for declaration in names.declarations {
      _ = names.renameVariables(in: declaration, except: top) {
        $0.isDeclared($1)
      } as: {
        name($0)
      }
    }
    return names.result
  }

  /// A script with short names for what is at its top level, and the short name of each.
  /// - Parameter prefix: it begins the names, so that no other name is the same: `$` in a bundle, for what all of its
  ///   modules see, and `_` in a module that is a function there.
  static func top(
    of script: [UInt8], prefix: String
  ) -> (script: [UInt8], names: [String: String]) {
    var names = ShortNames(script)
    let short = names.renameVariables(in: names.tokens.indices, except: []) { names, index in
      names.tokens[index].opener == nil && names.isVariable(index)
    } as: {
      prefix + name($0)
    }
    for index in names.tokens.indices where names.isName(index) && names.renamed[index] == nil {
      names.renamed[index] = members.firstIndex(of: names.word(index)).map { name($0) + "_" }
    }
    return (names.result, short)
  }

  /// Names of members that only the bundle's own scripts know: nothing that is stored, sent, written in a text or a
  /// browser's. They are renamed wherever they stand.
  static let members = [
    "synchroniser", "isSessionEnd", "isShown", "isOffline", "setMeta", "forms", "nominatives",
    "countries", "exclusive", "endings", "offers", "tellLeader", "keepPlaces", "modeChanged",
    "sortedPlace", "isComplete", "isWanted",
  ]

  /// The keys of the page's texts, each with a short one.
  static func keys(of texts: [UInt8]) -> [String: String] {
    let names = ShortNames(texts)
    let keys = names.tokens.indices.filter(names.isTextKey).map(names.word)
    return Dictionary(uniqueKeysWithValues: zip(keys, keys.indices.lazy.map(name)))
  }

  private init(_ script: [UInt8]) {
    self.script = script
    tokens = ScriptToken.all(of: script)
  }

  /// Words of the language and names of browsers that may stand where parameters do.
  private static let known: Set = [
    "async", "await", "caches", "case", "clearTimeout", "clients", "close", "console", "crypto",
    "delete", "document", "else", "event", "false", "fetch", "find", "focus", "function", "history",
    "in", "indexedDB", "instanceof", "length", "localStorage", "location", "matchMedia", "name",
    "navigator", "new", "null", "of", "open", "origin", "parent", "performance", "return", "self",
    "sessionStorage", "setTimeout", "status", "stop", "super", "this", "top", "true", "typeof",
    "undefined", "window",
  ]

  private func word(_ index: Int) -> String {
    String(decoding: script[tokens[index].range], as: UTF8.self)
  }

  private func isName(_ index: Int) -> Bool {
    tokens.indices.contains(index) && tokens[index].kind == .name
  }

  private func isWord(_ index: Int, _ words: [StaticString]) -> Bool {
    guard isName(index) else { return false }
    let bytes = script[tokens[index].range]
    return words.contains { $0.withUTF8Buffer { $0.elementsEqual(bytes) } }
  }

  /// Whether a token is one of these signs.
  private func isSign(_ index: Int?, _ signs: StaticString) -> Bool {
    guard let index, tokens.indices.contains(index), tokens[index].kind == .sign else {
      return false
    }
    let sign = script[tokens[index].range.lowerBound]
    return signs.withUTF8Buffer { $0.contains(sign) }
  }

  private func isArrow(_ index: Int) -> Bool { isSign(index, "=") && isSign(index + 1, ">") }

  /// Whether a name stands after a dot, but not after `...`.
  private func isMember(_ index: Int) -> Bool { isSign(index - 1, ".") && !isSign(index - 2, ".") }

  /// Whether a name is a key of the page's texts.
  private func isTextKey(_ index: Int) -> Bool {
    guard isName(index), let opener = tokens[index].opener, isSign(index + 1, ":") else {
      return false
    }
    return isWord(opener - 2, ["texts"]) && isWord(opener - 4, ["export"])
      && isSign(index - 1, "{,")
  }

  /// Whether `const` or `let` begins the list in which a token stands.
  private func isDeclaredInList(_ index: Int) -> Bool {
    guard isSign(index - 1, ",") else { return false }
    var index = index - 1
    while index >= 0, index != tokens[index + 1].opener {
      // What is in brackets is no part of the list, and begins after the bracket that opens it.
      if let opener = tokens[index].closes {
        index = opener
      } else if isWord(index, Self.declaring) {
        return true
      }
      index -= 1
    }
    return false
  }

  private static let declaring: [StaticString] = ["const", "let"]

  /// Whether a name is declared where it stands, alone.
  private func isVariable(_ index: Int) -> Bool {
    isWord(index - 1, ["const", "let", "function", "class"]) || isDeclaredInList(index)
  }

  /// Whether a name is declared where it stands: as a variable, alone or in a pattern, or as a parameter.
  private func isDeclared(_ index: Int) -> Bool {
    if isVariable(index) || isArrow(index + 1) { return true }
    var opener = tokens[index].opener
    while let pattern = opener, isSign(pattern, "[{") {
      if isWord(pattern - 1, Self.declaring) || isDeclaredInList(pattern) { return true }
      guard isSign(pattern - 1, "(,[{:.") else { return false }
      opener = tokens[pattern].opener
    }
    guard let opener, isSign(opener, "("), let closer = tokens[opener].closer else { return false }
    return isArrow(closer + 1)
      || isSign(closer + 1, "{") && isName(opener - 1)
        && !isWord(opener - 1, ["if", "for", "while", "switch"])
  }

  /// What a name could be.
  private enum Role { case variable, other, unclear }

  private func role(_ index: Int) -> Role {
    if isMember(index) { return .other }
    guard let opener = tokens[index].opener, isSign(opener, "{") else { return .variable }
    if isWord(opener - 2, ["class", "extends"]) { return .unclear }
    if isSign(index - 1, "{,") {
      if isSign(index + 1, ":") { return .other }
      let isAlone =
        isSign(index + 1, ",}") || isSign(index + 1, "=") && !isArrow(index + 1)
        || isSign(index + 1, "(") && isSign(tokens[index + 1].closer.map { $0 + 1 }, "{")
      if isAlone, !isDeclaredInList(index) { return .unclear }
    }
    return isWord(index - 1, ["get", "set", "async"]) && isSign(index + 1, "(")
      ? .unclear : .variable
  }

  /// The declarations at the top level, which begin their lines.
  private var declarations: [Range<Int>] {
    let starts = tokens.indices.filter { tokens[$0].beginsLine && tokens[$0].kind == .name }
    return zip(starts, starts.dropFirst() + [tokens.count]).map { $0..<$1 }
  }

  /// The names at the top level, and those that are imported.
  private var topNames: Set<String> {
    var top: Set<String> = []
    for declaration in declarations {
      let isImport = isWord(declaration.lowerBound, ["import"])
      for index in declaration where isName(index) {
        let pattern = tokens[index].opener
        if pattern == nil && isVariable(index)
          || pattern.map({ isImport || isWord($0 - 1, Self.declaring) && tokens[$0].opener == nil })
            ?? false
        {
          top.insert(word(index))
        }
      }
    }
    return top
  }

  /// A short name for a number: one letter, or more letters and digits.
  static func name(_ number: Int) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    let rest = number / letters.count
    return String(letters[number % letters.count]) + (rest == 0 ? "" : String(rest - 1, radix: 36))
  }

  private mutating func renamePrivateMembers() {
    var names: [String: String] = [:]
    for index in tokens.indices where script[tokens[index].range.lowerBound] == UInt8(ascii: "#") {
      let name = names[word(index)] ?? "#" + Self.name(names.count)
      names[word(index)] = name
      renamed[index] = name
    }
  }

  private mutating func renameKeys(_ keys: [String: String]) {
    for index in tokens.indices where isName(index) {
      let isUse = isMember(index) && isWord(index - 2, ["t"]) && !isMember(index - 2)
      if isUse || isTextKey(index) { renamed[index] = keys[word(index)] }
    }
  }

  /// Values that have a shorter form.
  private static let literals = ["true": "!0", "false": "!1", "undefined": "void 0"]

  private mutating func shortenLiterals() {
    for index in tokens.indices where isName(index) && !isMember(index) {
      guard let short = Self.literals[word(index)],
        !isSign(index - 1, "{,") || !isSign(index + 1, ":")
      else { continue }
      renamed[index] = short
    }
  }

  /// Renames the variables that are declared in a part of the script, the most frequent first.
  /// - Returns: their new names.
  private mutating func renameVariables(
    in declaration: Range<Int>, except top: Set<String>,
    isDeclared: (ShortNames, Int) -> Bool, as shortName: @escaping (Int) -> String
  ) -> [String: String] {
    var uses: [String: [Int]] = [:]
    var declared: Set<String> = []
    var unclear = top.union(Self.known)
    /// Each name that stands there, also those of the top level and of browsers.
    var all: Set<String> = []
    for index in declaration where isName(index) {
      let name = word(index)
      switch role(index) {
      case .other: continue
      case .unclear: unclear.insert(name)
      case .variable:
        uses[name, default: []].append(index)
        if !declared.contains(name), isDeclared(self, index) { declared.insert(name) }
      }
      all.insert(name)
    }
    let names = declared.subtracting(unclear).filter { $0.first?.isLetter ?? false }
      .map { (name: $0, bytes: $0.utf8.count * (uses[$0]?.count ?? 0)) }
      .sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
    var free = (0...).lazy.map(shortName).filter { !all.contains($0) }.makeIterator()
    var short: [String: String] = [:]
    for (name, _) in names {
      guard let next = free.next(), next.utf8.count < name.utf8.count else { continue }
      short[name] = next
      for index in uses[name] ?? [] { renamed[index] = next }
    }
    return short
  }

  private var result: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(script.count)
    var end = 0
    for (index, name) in renamed.sorted(by: { $0.key < $1.key }) {
      let range = tokens[index].range
      result += script[end..<range.lowerBound] + name.utf8
      end = range.upperBound
    }
    return result + script[end...]
  }
}
