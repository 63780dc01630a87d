/// What an import tells while it runs, on its own lane and in order.
package enum ImportEvent: Sendable {
  /// More bytes have been read; after each chunk.
  case progress(ImportProgress)
  /// A row was no hotel, and was passed over.
  case badRow(BadRow)
}

/// How far an import is.
package struct ImportProgress: Sendable, Equatable {
  /// The bytes read.
  package internal(set) var bytes = 0
  /// The rows taken, those included that a later one replaced.
  package internal(set) var rows = 0
  /// The rows whose id an earlier row had; the later one counts.
  package internal(set) var replaced = 0
  /// The rows passed over.
  package internal(set) var badRows = 0
}

/// A row that is no hotel.
package struct BadRow: Sendable, Equatable {
  /// Its number, from 1.
  package let ordinal: Int
  /// The line it starts on, from 1.
  package let line: Int
  /// What is wrong with it.
  package let reason: String
}

/// What happens when a row is no hotel.
package enum BadRowPolicy: Sendable, Equatable {
  /// The row is reported and passed over.
  case skip
  /// The import ends, and the old catalogue stays.
  case refuse
}

/// What an import did.
package struct ImportSummary: Sendable, Equatable {
  /// The most bad rows that a summary names.
  package static let maximumBadRows = 100

  /// How many hotels the new catalogue has.
  package let hotels: Int
  /// The counts at the end.
  package let progress: ImportProgress
  /// The first bad rows, in order.
  package let badRows: [BadRow]
}
