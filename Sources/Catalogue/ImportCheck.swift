/// The rule that refuses an import that looks like a mistake: the wrong file, half a file, or a file of another form.
///
/// Perhaps no one sees a warning, for example when an import runs each night. So the former catalogue stays, and
/// the operator says that the file is meant (`--replace`).
package enum ImportCheck {
  /// At most one row in so many may be bad: a tenth.
  package static let rowsPerBadRow = 10
  /// The new catalogue has at least one hotel for so many of the former import: half.
  package static let formerHotelsPerHotel = 2

  /// Checks an import before its catalogue replaces the former one.
  /// - Parameter hotels: how many hotels the new catalogue has.
  /// - Parameter former: the origin of the former catalogue. Hotels that the program contains don't count.
  /// - Throws: `doubtful`.
  static func check(
    _ progress: ImportProgress, hotels: Int, former: CatalogueOrigin?
  ) throws(CatalogueError) {
    let rows = progress.rows + progress.badRows
    guard progress.badRows * rowsPerBadRow <= rows else {
      throw refusal("\(progress.badRows) of \(rows) rows are bad, more than a tenth")
    }
    guard let former, former.kind == .imported else { return }
    guard hotels * formerHotelsPerHotel >= former.rows else {
      throw refusal(
        "the file has \(hotels) hotels, fewer than half of the \(former.rows) that were imported before"
      )
    }
  }

  private static func refusal(_ what: String) -> CatalogueError {
    CatalogueError(
      .doubtful, "Nothing was replaced: \(what). If the file is right, import it with replace.")
  }
}

/// How an import treats the catalogue that is there.
enum Replacement: Sendable {
  /// An operator's import: the former catalogue is kept. A doubtful import is refused unless it is forced.
  case imported(isForced: Bool)
  /// The same hotels in another form: nothing is kept or checked.
  case rebuilt
}
