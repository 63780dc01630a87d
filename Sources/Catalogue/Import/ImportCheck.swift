/// The rule that refuses an import that looks like a mistake: the wrong file, half a file, or a file of another form.
///
/// Perhaps no one sees a warning, for example when an import runs each night. So the former catalogue stays, and
/// the operator says that the file is meant (`--replace`).
package struct ImportCheck {
  /// At most one row in so many may be bad: a tenth.
  package static let rowsPerBadRow = 10
  /// The new catalogue has at least one hotel for so many of the former import: half.
  package static let formerHotelsPerHotel = 2
  /// So few different names with so many rows each and no place are no hotels, but kinds of them, or lines of a log.
  static let (fewNames, rowsPerName) = (10, 10)

  let progress: ImportProgress
  let found: ImportReport
  /// How many hotels the new catalogue has.
  let hotels: Int
  /// Whether the file is one object, not a list.
  let isOneObject: Bool

  /// Refuses a file with rows that are not UTF-8. Its other rows are probably of the same encoding, and without letters
  /// that would show it.
  /// - Throws: `doubtful`.
  func requireUTF8() throws(CatalogueError) {
    guard let (first, rows) = found.notUTF8 else { return }
    throw CatalogueError(
      .doubtful,
      "Nothing was replaced: \(rows) of \(allRows) rows are not UTF-8. Save the file as UTF-8, or import it with "
        + "replace to leave these rows out.", line: first.line)
  }

  /// Refuses a file without hotels.
  /// - Throws: `empty`.
  func requireHotels() throws(CatalogueError) {
    guard hotels == 0 else { return }
    var reason = "There is no hotel in the file."
    if let fault = found.faults.first {
      reason +=
        " \(progress.badRows) of \(allRows) rows are bad; row \(fault.first.ordinal): \(fault.first.reason)"
    }
    if !found.others.isEmpty { reason += " It has other rows: \(found.otherRows)." }
    throw CatalogueError(.empty, reason, line: found.faults.first?.first.line)
  }

  /// Checks an import before its catalogue replaces the former one.
  /// - Parameter former: the origin of the former catalogue. Hotels that the program contains don't count.
  /// - Throws: `doubtful`.
  func requireLikely(after former: CatalogueOrigin?) throws(CatalogueError) {
    guard progress.badRows * Self.rowsPerBadRow <= allRows else {
      let first = found.faults.first.map { " (row \($0.first.ordinal): \($0.first.reason))" } ?? ""
      throw refusal("\(progress.badRows) of \(allRows) rows are bad, more than a tenth\(first)")
    }
    guard !isOneObject || progress.rows != 1 || found.likelyHotels > 0 else {
      throw refusal("the file is one object that has a name, but no address, city or position")
    }
    if let doubt = found.doubt { throw refusal(doubt) }
    guard hotels > Self.fewNames || found.repeatedNames < hotels * (Self.rowsPerName - 1) else {
      throw refusal(
        "\(progress.rows) rows have only \(hotels) different names and no address, city or position, so another column may have the name"
      )
    }
    guard let former, former.kind == .imported else { return }
    guard hotels * Self.formerHotelsPerHotel >= former.rows else {
      throw refusal(
        "the file has \(hotels) hotels, fewer than half of the \(former.rows) that were imported before"
      )
    }
  }

  /// The rows that should be hotels.
  private var allRows: Int { progress.rows + progress.badRows }

  private func refusal(_ what: String) -> CatalogueError {
    CatalogueError(
      .doubtful, "Nothing was replaced: \(what). If the file is right, import it with replace.")
  }
}

/// How an import treats the catalogue that is there.
enum Replacement: Sendable {
  /// An operator's import: the former catalogue is kept. A doubtful import is refused unless it is forced.
  case imported(isForced: Bool)
  /// As an operator's import, but the catalogue stays.
  case tried(isForced: Bool)
  /// The same hotels in another form: nothing is kept or checked.
  case rebuilt
}
