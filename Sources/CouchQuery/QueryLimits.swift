import Text

package enum QueryLimits {
  /// The most index definitions of one store that are used: the first ones by design document and name.
  package static let definitions = 16
  /// The most fields of one index or one sort.
  package static let indexFields = 16
  /// The most bytes of a document's key that an index stores. Documents whose keys have the same first bytes are in the
  /// order of their ids; the query compares the documents themselves with its bounds.
  package static let keyBytes = 1_024
  /// The most bytes of a document's content that an index stores with its key. When a document's fields are longer, a
  /// query that could use the index alone reads the document.
  package static let contentBytes = 1_024
  /// The most fields that one query may request.
  package static let projectedFields = 256
  /// The most design documents in one `_bulk_delete`.
  package static let bulkDeletes = 100
  /// The most documents that a query reads from one snapshot of the store, so that it does not delay other requests.
  package static let pageDocuments = 200
  /// A page ends after this many bytes of documents: 4 MiB.
  package static let pageBytes = 4 << 20
  /// The most entries of an index that are read at once: about 5 MiB with the longest content.
  package static let pageEntries = 2_048
  /// The most changes in one step of bringing an index up to date.
  package static let catchUpChanges = 1_000
  /// Such a step ends after this many bytes of documents: 8 MiB.
  package static let catchUpBytes = 8 << 20
  /// The most changes that are read from a store at once while an index is brought up to date.
  package static let catchUpBatch = 200
  /// The most entries of an index without a definition that are removed in one commit.
  package static let removedEntries = 500
  /// The most definitions that are read, invalid ones included, because even an invalid one can take time to read.
  package static let triedDefinitions = 64
  /// The most design documents that are searched for definitions: the first ones by id.
  package static let designDocuments = 64
  /// The most bytes of a design document with definitions; a longer one is ignored.
  package static let designBytes = 64 << 10
}

package enum SelectorLimits {
  /// The deepest nesting: operators and fields around a condition, the condition included.
  package static let depth = 16
  /// The most operators and fields, and values in the place of one.
  package static let nodes = 128
  /// The most values in all lists of `$in`, `$nin` and `$all` together.
  package static let values = 10_000
  /// The most JSON values in all: lists, objects and the values in them all count.
  package static let allValues = 20_000
  /// The most UTF-16 code units of all regular expressions together.
  package static let patternUnits = 1_024
  /// The most instructions of all regular expressions' programs together, estimated before they are compiled. With this
  /// limit, compiling takes a few milliseconds at most.
  package static let patternInstructions = RegularExpression.programSize
  /// The bytes of memory for all regular expressions, shared equally: for their programs and the states of their
  /// automata.
  package static let patternMemoryBytes = RegularExpression.memoryBytes
  /// The most milliseconds of matching for a whole query.
  package static let matchingMilliseconds = 5_000
  /// The most milliseconds of one regular expression in one text.
  package static let patternMilliseconds = 50
}
