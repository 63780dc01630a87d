import Crypto
import Documents

/// The files of the web page in one version.
///
/// The version is a digest of all files, and is a part of the URL of each file that a document loads. So an URL names one
/// content for ever: no browser and no proxy can mix two versions, and a server answers 404 for the files of another one.
/// Modules import each other by relative URLs. In documents, `"/page/` becomes `"/page/<version>/`.
package struct WebPage: Sendable {
  /// How many bytes of the digest the version has.
  private static let versionBytes = 16

  let version: String
  /// The files whose URLs contain the version, by name.
  private let files: [String: PageFile]
  /// The documents and the other files whose URLs stay the same, by name.
  private let documents: [String: PageFile]

  /// - Parameter sources: the files, by their names below `Sources/Page/Files`.
  package init(_ sources: [(name: String, bytes: [UInt8])]) {
    var digest = SHA256()
    for source in sources {
      digest.update(data: Array("\(source.name)\0\(source.bytes.count)\0".utf8))
      digest.update(data: source.bytes)
    }
    let version = Hex.string(Array(digest.finalize())[..<Self.versionBytes])
    var files: [String: PageFile] = [:]
    var documents: [String: PageFile] = [:]
    var shell: [PageFile] = []
    for (name, bytes) in sources {
      if name == Self.worker {
        documents[name] = PageFile(name: name, bytes: bytes)
        continue
      }
      let isText = name.hasSuffix(".html") || name.hasSuffix(".webmanifest")
      let bytes = isText ? Self.naming(version, in: bytes) : bytes
      let file = PageFile(name: name, bytes: bytes, hasVersion: true)
      files[name] = file
      if !Self.isElsewhere(name) { shell.append(file) }
      if name.hasSuffix(".html") || name == Self.types {
        documents[name] = PageFile(name: name, bytes: bytes)
      }
    }
    let module = """
      // What it exports is described in /\(Self.types) and at /docs.
      export * from "\(Self.path(of: Self.module, version))"

      """
    documents[Self.module] = PageFile(name: Self.module, bytes: Array(module.utf8))
    documents[Self.shell] = PageFile(name: Self.shell, bytes: Self.manifest(of: shell, version))
    self.version = version
    self.files = files
    self.documents = documents
  }

  /// What browsers show of the installed app. Its answer is in the language that the client prefers.
  static let webManifest = "app.webmanifest"
  /// The languages of the manifest; `app.webmanifest` itself is in English.
  private static let languages = ["de", "en", "ja"]
  /// The service worker. A browser looks for changes of it at one URL.
  static let worker = "worker.js"
  /// The module for other pages. At its own URL it is one line, which exports the module of the present version.
  static let module = "offline.js"
  /// The types of that module, for TypeScript and editors.
  static let types = "offline.d.ts"
  /// The app's scripts: the one that starts it and what it imports, the one that has its modules, and those apart from it.
  private static let scripts = [
    "boot.js", "bundle.js", "coast.js", "texts.js", "texts-de.js", "texts-en.js", "texts-ja.js",
  ]
  /// The answer of `/shell.json`.
  static let shell = "shell.json"

  /// A document, or another file whose URL stays the same.
  func document(_ name: String) throws(Problem) -> PageFile {
    guard let file = documents[name] else { throw .notFound }
    return file
  }

  /// A file of a version; only the present one has files.
  /// - Parameter languages: the client's field `Accept-Language`.
  func file(
    _ name: String, of version: String, languages: String? = nil
  ) throws(Problem) -> PageFile {
    guard version == self.version, let file = files[name] else { throw .notFound }
    guard file.name == Self.webManifest,
      let language = LanguagePreference.first(of: Self.languages, in: languages)
    else { return file }
    return files["app-\(language).webmanifest"] ?? file
  }

  /// What a service worker keeps, so that the app opens without a network: each file with its path and digest, and the
  /// path of the document that is every view of the app.
  private static func manifest(of files: [PageFile], _ version: String) -> [UInt8] {
    return JSONWriter.object { writer in
      writer.member("version", version)
      writer.member("page", path(of: "index.html", version))
      writer.objects("files", of: files) { file, writer in
        writer.member("path", path(of: file.name, version))
        writer.member("sha256", file.digest)
      }
    }
  }

  /// Whether the app does not need a file offline: its modules are in one script, and the pages for developers, for
  /// operators and of links to lists need the server, and the names of places are kept beside the
  /// hotels. The manifest has another form in each language.
  private static func isElsewhere(_ name: String) -> Bool {
    name.hasSuffix(".js")
      ? !scripts.contains(name)
      : ["docs", "admin", "shared"].contains { name.hasPrefix($0) }
        || [".md", ".d.ts", ".txt", ".webmanifest"].contains { name.hasSuffix($0) }
  }

  private static func path(of name: String, _ version: String) -> String {
    "/page/\(version)/\(name)"
  }

  /// A document that loads the files of a version.
  private static func naming(_ version: String, in bytes: [UInt8]) -> [UInt8] {
    let (mark, name) = (Array("\"/page/".utf8), Array(version.utf8) + [UInt8(ascii: "/")])
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for byte in bytes {
      result.append(byte)
      if byte == UInt8(ascii: "/"), result.suffix(mark.count).elementsEqual(mark) { result += name }
    }
    return result
  }
}

/// The languages that a client prefers.
///
/// Source: RFC 9110, section 12.5.4.
enum LanguagePreference {
  /// The most languages of a field that are read.
  private static let most = 32

  /// The language among some that a field `Accept-Language` prefers; nil if it names none of them. Regions are ignored:
  /// `de-AT` is `de`.
  static func first(of known: [String], in field: String?) -> String? {
    var best: (language: String, quality: Double)?
    for range in (field ?? "").utf8.split(separator: UInt8(ascii: ",")).prefix(most) {
      let parts = range.split(separator: UInt8(ascii: ";")).map {
        String(decoding: $0, as: UTF8.self).trimmingSpaces.lowercased()
      }
      let language = parts.first?.utf8.prefix { $0 != UInt8(ascii: "-") } ?? ""[...].utf8
      let weight = parts.dropFirst().first { $0.utf8.starts(with: "q=".utf8) }
      let quality = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      guard let found = known.first(where: { $0.utf8.elementsEqual(language) }),
        quality > best?.quality ?? 0
      else { continue }
      best = (found, quality)
    }
    return best?.language
  }
}
