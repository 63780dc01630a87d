extension Schema {
  /// The registry's file, `HBrg`: which stores exist. `is_erasing` marks a store whose files are being
  /// removed, so that a crash in between never brings it back.
  static let registry = Schema(
    applicationID: 0x4842_7267,
    steps: [
      """
      CREATE TABLE stores(
        key TEXT PRIMARY KEY, epoch TEXT NOT NULL, is_erasing INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      """
    ])
}
