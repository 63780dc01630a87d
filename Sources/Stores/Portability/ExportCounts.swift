package import JSON

/// Counts of what an export contains, or what an import has read.
package struct ExportCounts: Sendable, Equatable {
  /// Documents whose winner is live.
  package var documents = 0
  /// Documents whose winner is a tombstone.
  package var tombstones = 0
  package var bodies = 0
  /// The service's own notes that are exported with documents.
  package var notes = 0

  package init() {}

  /// Writes the counts as members of an open object.
  package func write(to writer: inout JSONWriter) {
    writer.member("documents", documents)
    writer.member("tombstones", tombstones)
    writer.member("bodies", bodies)
    writer.member("notes", notes)
  }

  package static func += (sum: inout ExportCounts, other: ExportCounts) {
    sum.documents += other.documents
    sum.tombstones += other.tombstones
    sum.bodies += other.bodies
    sum.notes += other.notes
  }
}
