import ArgumentParser
import Glibc
import HotelBookmarks

/// Commands for the hotels of the embedded upstream.
struct CatalogueCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue", abstract: "Look after the embedded upstream's hotels.",
    subcommands: [Import.self, Undo.self])

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Replace the catalogue by a file's hotels, all at once; a running server sees them.",
      discussion: """
        The file is a JSON array of hotels or one hotel a line (NDJSON), of any size. A file with more than a tenth of \
        bad rows, or with fewer than half of the hotels of the former import, is refused with exit status 65. The \
        former catalogue is kept until the next import; `catalogue undo` brings it back.
        """)

    @Argument(help: "The file; - for standard input.")
    var file: String
    @OptionGroup var location: LocationOptions
    @Flag(help: "Refuse the whole file for one bad row instead of leaving bad rows out.")
    var strict = false
    @Flag(help: "Replace the catalogue also by a file that looks like a mistake.")
    var replace = false

    func run() async throws {
      do {
        let summary = try await CatalogueAdministration.importHotels(
          from: file, into: location.location, strict: strict, replaces: replace,
          progress: ProgressBar(isShown: isatty(2) == 1).show,
          badRow: { StandardError.write(Array(($0 + "\n").utf8)) })
        print(summary)
      } catch { throw Failure.start(error) }
    }
  }

  /// Brings the former catalogue back.
  struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Bring back the catalogue that the last import replaced; a running server sees it.")

    @OptionGroup var location: LocationOptions

    func run() async throws {
      do { print(try await CatalogueAdministration.undo(in: location.location)) } catch {
        throw Failure.start(error)
      }
    }
  }
}

/// A progress bar on one line of a terminal.
struct ProgressBar: Sendable {
  let isShown: Bool

  /// Draws the progress.
  /// - Parameter fraction: from 0 to 1; nil if the total is not known.
  func show(_ fraction: Double?, _ text: String) {
    guard isShown else { return }
    let width = 30
    let filled = fraction.map { Int((min(max($0, 0), 1) * Double(width)).rounded()) }
    let bar = filled.map {
      "[" + String(repeating: "#", count: $0) + String(repeating: ".", count: width - $0) + "] "
    }
    StandardError.write(Array("\r\(bar ?? "")\(text)\u{1B}[K".utf8))
    if fraction == 1 { StandardError.write(Array("\n".utf8)) }
  }
}
