import Foundation
import HotelBookmarks
import Testing

/// The README and the book name exactly the existing settings.
@Suite struct SettingTableTests {
  private func rows(of page: String) throws -> [String] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
    return text.split(separator: "\n").map(String.init).filter { line in
      SettingKey.allCases.contains { line.hasPrefix("| `--\($0.flagName)` | `") }
    }
  }

  @Test func theBookHasEverySettingInItsOrder() throws {
    #expect(
      try rows(of: "Sources/HotelBookmarks/HotelBookmarks.docc/Operations.md")
        == SettingKey.allCases.map(\.row))
  }

  @Test func theReadmeHasSomeOfThem() throws {
    let rows = try rows(of: "README.md")
    #expect(rows.count > 5)
    #expect(rows == SettingKey.allCases.map(\.row).filter(rows.contains))
  }
}

extension SettingKey {
  /// The setting's row in a table of flags, names in a file, defaults and meanings.
  fileprivate var row: String {
    "| `--\(flagName)` | `\(rawValue)` | \(standard) | \(meaning) |"
  }
}
