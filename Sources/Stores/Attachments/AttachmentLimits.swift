/// The limits of attachments. `GET /v1/limits` shows them.
package enum AttachmentLimits {
  /// The bytes of one row: 64 KiB.
  package static let pieceBytes = 64 << 10
  /// So many bytes of an attachment are held in memory while it arrives: 1 MiB. A longer one is written in parts before
  /// its document.
  package static let heldBytes = 1 << 20
  /// The most bytes of one attachment in the store of a guest, a user or a list: 10 MiB.
  package static let personBytes = 10 << 20
  /// The most bytes of one attachment in a database of the administrator: 20 MiB.
  package static let databaseBytes = 20 << 20
  /// The bytes of the names of all revisions of a document from which on no revision with attachments is taken: 4 MiB, the
  /// names of 7,000 attachments of maximum length. What the service adds by itself, such as a merge, may take it to twice
  /// as many.
  static let recordBytes = 4 << 20
  /// The bytes of a document's ``AttachmentRecord`` from which on no revision with attachments is taken: 256 KiB, some
  /// 3,000 revisions. Each edit reads and writes it.
  static let noteBytes = 256 << 10
  /// The most bytes of a revision's names that are in the ``AttachmentRecord`` itself: 256, of about three attachments.
  static let namesHere = 256
  /// How many names and bytes of attachments that nothing needs any more one update removes. It leaves the others to
  /// later ones, so that none takes long: a document may name 40,000 attachments, and have 256 MiB of them.
  static let removedNames = 100
  static let removedBytes = 2 << 20
  /// How many marks of such names, or of such bytes, it looks at.
  static let removedAtOnce = 50
  /// After so many seconds without further bytes the parts of an attachment whose document never came are removed: 1 day.
  /// The other attachments of a document may take as long.
  package static let abandonedSeconds: Int64 = 86_400
}
