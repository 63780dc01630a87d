package import Documents

/// The origin of a catalogue, as stored in its file.
package struct CatalogueOrigin: Sendable {
  package enum Kind: String, Sendable {
    /// The hotels that this program contains.
    case embedded
    /// A file that an operator imported.
    case imported

    /// The application id in the file's SQLite header, "HBCe" or "HBCi". It shows the kind even when the file is
    /// damaged after the header. <https://sqlite.org/fileformat.html#application_id>
    var applicationID: Int32 {
      switch self {
      case .embedded: 0x4842_4365
      case .imported: 0x4842_4369
      }
    }

    /// The kind of an application id; nil for a file of another kind.
    init?(applicationID: Int32) {
      guard
        let kind = [Self.embedded, .imported].first(where: { $0.applicationID == applicationID })
      else { return nil }
      self = kind
    }
  }

  package let kind: Kind
  /// The digest of the embedded hotels, or the name of the imported file.
  package let name: String
  /// The number of hotels.
  package let rows: Int
  /// When the catalogue was made, by the clock of the importing process.
  package let date: Timestamp
}
