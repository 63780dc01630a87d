import Glibc
import HotelBookmarks

/// A progress bar on one line of a terminal.
struct ProgressBar: Sendable {
  let isShown: Bool

  /// Draws the progress.
  /// - Parameter fraction: from 0 to 1; nil if the total is not known.
  func show(_ fraction: Double?, _ text: String) {
    guard isShown else { return }
    let width = 30
    let filled = fraction.map { Int((min(max($0, 0), 1) * Double(width)).rounded()) }
    let bar = filled.map {
      "[" + String(repeating: "#", count: $0) + String(repeating: ".", count: width - $0) + "] "
    }
    StandardError.write(Array("\r\(bar ?? "")\(text)\u{1B}[K".utf8))
    if fraction == 1 { StandardError.write(Array("\n".utf8)) }
  }
}

extension BackupAdministration.Report {
  /// Shows a progress bar on a terminal, and damage on standard error.
  static var terminal: Self {
    Self(progress: ProgressBar(isShown: isatty(2) == 1).show) { line in
      StandardError.write(Array((line + "\n").utf8))
    }
  }
}
