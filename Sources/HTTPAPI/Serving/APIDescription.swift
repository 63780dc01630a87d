/// `openapi.yaml` in the forms in which the server answers it.
package struct APIDescription: Sendable {
  /// The text of the file.
  let yaml: [UInt8]
  /// What of it an app needs.
  let appPart: [UInt8]
  /// The whole as JSON, for the page at `/docs`.
  let json: PageFile

  /// Cuts the part for apps out of the text, and packs the JSON.
  package init(yaml: [UInt8], json: [UInt8]) {
    self.yaml = yaml
    appPart = ContractPart.ofApps(yaml)
    self.json = PageFile(name: "openapi.json", bytes: json)
  }
}

/// The part of `openapi.yaml` that an app needs, as a document of its own: the operations of the tags with
/// `x-part: app`, and the components to which they lead.
///
/// It works on lines, so the part keeps the words and the order of the whole. It relies on that file's layout: two
/// spaces for each level, a tag on a line of its own, and an operation's `tags: [NAME]` on a line of its own.
struct ContractPart {
  /// A line, and those below it that are indented further.
  private struct Block {
    let lines: ArraySlice<Substring>

    /// The text before the first colon.
    var name: Substring { (lines.first ?? "").drop { $0 == " " }.prefix { $0 != ":" } }
    /// The lines below the first, in blocks.
    var inner: [Block] { ContractPart.blocks(lines.dropFirst()) }

    /// The same with other lines below the first.
    func holding(_ inner: [Block]) -> Block {
      Block(lines: lines.prefix(1) + inner.flatMap(\.lines))
    }

    /// The components to which it refers: `schemas/Hotel`.
    var references: Set<Substring> {
      var found: Set<Substring> = []
      for line in lines where line.utf8.contains(UInt8(ascii: "#")) {
        for text in line.split(separator: "\"") where text.hasPrefix(ContractPart.prefix) {
          found.insert(text.dropFirst(ContractPart.prefix.count))
        }
      }
      return found
    }
  }

  private static let prefix = "#/components/"
  private let sections: [Block]

  /// The part for apps.
  static func ofApps(_ whole: [UInt8]) -> [UInt8] {
    let text = String(decoding: whole, as: UTF8.self)
    let lines = text.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init)
    let part = ContractPart(sections: blocks(lines[...])).cut
    return Array((part.flatMap(\.lines).joined(separator: "\n") + "\n").utf8)
  }

  private func section(_ name: Substring) -> [Block] {
    sections.first { $0.name == name }?.inner ?? []
  }

  private var cut: [Block] {
    let tags = section("tags").filter { $0.lines.contains { $0.hasSuffix("x-part: app}") } }
    let marks = Set<Substring>(
      tags.map { tag in
        let name = (tag.lines.first ?? "").drop { $0 != ":" }.dropFirst(2).prefix { $0 != "," }
        return "      tags: [\(name)]"
      })
    let paths = section("paths").compactMap { path -> Block? in
      let inner = path.inner
      let operations = inner.filter { !marks.isDisjoint(with: $0.lines) }
      guard !operations.isEmpty else { return nil }
      return path.holding(inner.filter { $0.name == "parameters" } + operations)
    }
    let kinds = section("components")
    let reached = Self.reached(from: paths, in: kinds)
    let components = kinds.compactMap { kind -> Block? in
      let members = kind.inner.filter {
        kind.name == "securitySchemes" || reached.contains("\(kind.name)/\($0.name)")
      }
      return members.isEmpty ? nil : kind.holding(members)
    }
    return sections.map { section in
      switch section.name {
      case "tags": section.holding(tags)
      case "paths": section.holding(paths)
      case "components": section.holding(components)
      default: section
      }
    }
  }

  /// The components to which blocks refer, and those to which these refer, and so on.
  private static func reached(from blocks: [Block], in kinds: [Block]) -> Set<Substring> {
    var members: [Substring: Block] = [:]
    for kind in kinds {
      for member in kind.inner { members["\(kind.name)/\(member.name)"] = member }
    }
    var reached: Set<Substring> = []
    var next = Set(blocks.flatMap(\.references))
    while !next.isEmpty {
      reached.formUnion(next)
      next = Set(next.flatMap { members[$0]?.references ?? [] }).subtracting(reached)
    }
    return reached
  }

  /// Lines in blocks: each begins with a line that is indented as little as the first one.
  private static func blocks(_ lines: ArraySlice<Substring>) -> [Block] {
    func indentation(_ line: Substring) -> Int { line.utf8.prefix { $0 == 0x20 }.count }
    let level = lines.first.map(indentation) ?? 0
    let starts = lines.indices.filter { indentation(lines[$0]) <= level }
    return zip(starts, starts.dropFirst() + [lines.endIndex]).map { Block(lines: lines[$0..<$1]) }
  }
}
