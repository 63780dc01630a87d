import Metrics

/// The counters of one metric, one for each value of a dimension.
struct CounterTable<Value: RawRepresentable<String> & Hashable & Sendable>: Sendable {
  private let counters: [Value: Counter]

  /// Makes the counters, so that all of them are shown before their first event.
  /// - Parameter dimension: the name of the dimension that has the values.
  /// - Parameter others: the dimensions that all of them have.
  init(
    _ label: String, by dimension: String, of values: some Sequence<Value>,
    _ others: (String, String)...
  ) {
    counters = Dictionary(
      uniqueKeysWithValues: values.map { value in
        (value, Counter(label: label, dimensions: others + [(dimension, value.rawValue)]))
      })
  }

  func count(_ value: Value) { counters[value]?.increment() }
}
