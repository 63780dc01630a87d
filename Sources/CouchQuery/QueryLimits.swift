import RegularExpressions

/// What queries and their indexes take at most.
package enum QueryLimits {
  /// Index definitions of one store that count: the first ones by design document and name.
  package static let definitions = 16
  /// Fields of one index or one sort.
  package static let indexFields = 16
  /// Bytes of a document's key that an index keeps. Documents whose keys agree this far stand in the order
  /// of their ids, and a query's bounds are held against the documents themselves.
  package static let keyBytes = 1_024
  /// Bytes of what an index keeps of a document beside its key. A query that an index could answer alone reads a
  /// document whose fields take more.
  package static let contentBytes = 1_024
  /// Fields that one query may ask for.
  package static let projectedFields = 256
  /// Indexes that one `_bulk_delete` names.
  package static let bulkDeletes = 100
  /// Documents that a query reads from one state of the store, so that it doesn't hold up other readers.
  package static let pageDocuments = 200
  /// Bytes of documents after which such a page ends: 4 MiB.
  package static let pageBytes = 4 << 20
  /// Entries of an index that are read at once: some 5 MiB with what the longest keep.
  package static let pageEntries = 2_048
  /// Changes that one step of bringing an index up to date takes.
  package static let catchUpChanges = 1_000
  /// Bytes of documents after which such a step ends: 8 MiB.
  package static let catchUpBytes = 8 << 20
  /// Changes that are read from a store at once while an index is brought up to date.
  package static let catchUpBatch = 200
  /// Entries of an index that is defined no more that are removed in one commit.
  package static let removedEntries = 500
  /// Definitions that are read, those that turn out to define nothing included: some can take a while to find out.
  package static let triedDefinitions = 64
  /// Design documents that are searched for definitions: the first ones by id.
  package static let designDocuments = 64
  /// Bytes of a design document with definitions; a larger one counts for nothing.
  package static let designBytes = 64 << 10
}

/// How much selector a query may carry.
package enum SelectorLimits {
  /// The deepest nesting: operators and fields around a condition, itself included.
  package static let depth = 16
  /// Operators and fields, and values in place of one.
  package static let nodes = 128
  /// Values in all lists of `$in`, `$nin` and `$all`.
  package static let values = 10_000
  /// UTF-16 units of all regular expressions.
  package static let patternUnits = 1_024
  /// Instructions of all regular expressions' programs, as they are estimated before they are compiled:
  /// compiling takes some milliseconds at most.
  package static let patternInstructions = RegularExpression.programSize
  /// Bytes of memory for all regular expressions, which they have in equal parts: their programs, and
  /// the states of their automata.
  package static let patternMemoryBytes = RegularExpression.memoryBytes
  /// Milliseconds of matching that a whole query may take.
  package static let matchingMilliseconds = 5_000
  /// Milliseconds that one regular expression may take in one text.
  package static let patternMilliseconds = 50
}
