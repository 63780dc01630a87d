package import Documents

/// Where a catalogue came from, as its file remembers it.
package struct CatalogueOrigin: Sendable {
  /// Who made a catalogue.
  package enum Kind: String, Sendable {
    /// The hotels that this program carries.
    case embedded
    /// A file that somebody imported.
    case imported

    /// What SQLite keeps in the file's header, so that a file that is damaged further on still says
    /// who made it: "HBCe" and "HBCi". <https://sqlite.org/fileformat.html#application_id>
    var applicationID: Int32 {
      switch self {
      case .embedded: 0x4842_4365
      case .imported: 0x4842_4369
      }
    }

    /// The kind of a header's number; nil for a file of something else.
    init?(applicationID: Int32) {
      guard
        let kind = [Self.embedded, .imported].first(where: { $0.applicationID == applicationID })
      else { return nil }
      self = kind
    }
  }

  /// Who made it.
  package let kind: Kind
  /// The digest of the embedded hotels, or the name of the file that was imported.
  package let name: String
  /// How many hotels it has.
  package let rows: Int
  /// When it was made, by the clock of whoever made it.
  package let date: Timestamp

  /// An origin.
  package init(kind: Kind, name: String, rows: Int, date: Timestamp) {
    self.kind = kind
    self.name = name
    self.rows = rows
    self.date = date
  }
}
