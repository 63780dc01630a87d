import ArgumentParser
import Glibc
import HotelBookmarks

/// Commands for the hotels of the embedded upstream.
struct CatalogueCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue", abstract: "Manage the hotels of the embedded catalogue.",
    subcommands: [Import.self, Undo.self])

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Replace all hotels of the catalogue by those of a file, also in a running server.",
      discussion: """
        The file is JSON (an array, a hotel on each line, or an object with the hotels in it), GeoJSON, or a table \
        (CSV) with commas, semicolons or tabs. It is in UTF-8, and may be packed with gzip. It may have any size. \
        Common names of columns are understood, such as `hotel_name` or `Latitude`; --dry-run shows what each \
        becomes. A file is refused with exit status 65 if more than a tenth of its rows are bad, or if it has fewer \
        than half of the hotels of the former import. The former catalogue is kept until the next import; \
        `catalogue undo` restores it.
        """)

    @Argument(help: "The file; - for standard input.")
    var file: String
    @OptionGroup var location: LocationOptions
    @Flag(help: "Refuse the whole file if one row is bad. Otherwise bad rows are skipped.")
    var strict = false
    @Flag(help: "Accept a file with many bad rows or few hotels, too.")
    var replace = false
    @Flag(
      help:
        "Replace nothing. Show the first hotels as they would be, the columns, and each kind of fault once."
    )
    var dryRun = false

    func run() async throws {
      let summary = try await CatalogueAdministration.importHotels(
        from: file, into: location.location, isStrict: strict, isForced: replace, isDryRun: dryRun,
        progress: ProgressBar(isShown: isatty(2) == 1).show,
        badRow: { StandardError.write(Array(($0 + "\n").utf8)) })
      print(summary)
    }
  }

  /// Brings the former catalogue back.
  struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Restore the catalogue that the last import replaced, also in a running server.")

    @OptionGroup var location: LocationOptions

    func run() async throws { print(try await CatalogueAdministration.undo(in: location.location)) }
  }
}
