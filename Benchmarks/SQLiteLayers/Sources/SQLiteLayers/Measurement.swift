import Foundation

/// The times of one operation: for each contender, one time for each round.
struct Measurement {
  /// The heading of the table.
  let title: String
  private var times: [(name: String, microseconds: [Double])] = []

  init(title: String) {
    self.title = title
  }

  /// Adds a line for a contender to the table.
  mutating func expect(_ name: String) {
    times.append((name, []))
  }

  /// Records one round: the average time of `count` operations.
  mutating func note(_ name: String, _ duration: Duration, count: Int) {
    guard let line = times.firstIndex(where: { $0.name == name }) else { return }
    let (seconds, attoseconds) = duration.components
    let total = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
    times[line].microseconds.append(total / Double(count))
  }

  /// Prints the median, minimum and maximum of the rounds, and the ratio of each median to the first one.
  func report() {
    print("\n\(title), microseconds")
    print(line("", "median", "least", "greatest", "ratio"))
    let reference = times.first.map { median($0.microseconds) } ?? 1
    for (name, rounds) in times {
      let middle = median(rounds)
      print(
        line(
          name, number(middle), number(rounds.min() ?? 0), number(rounds.max() ?? 0),
          number(middle / reference)))
    }
  }

  private func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }

  private func number(_ value: Double) -> String {
    String(format: "%.2f", value)
  }

  private func line(_ name: String, _ columns: String...) -> String {
    let cells = columns.map { String(repeating: " ", count: max(11 - $0.count, 1)) + $0 }
    return name + String(repeating: " ", count: max(22 - name.count, 1)) + cells.joined()
  }
}
