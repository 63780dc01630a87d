import Foundation
import SQLite
import Testing

@Suite struct SQLiteErrorTests {
  @Test func noCodeIsBothDamageAndUnavailable() {
    for code in SQLiteError.Code.allCases {
      let error = SQLiteError(code, message: "")
      let claims = [error.isDamage, error.isStorageFull, error.isUnavailable].filter { $0 }
      #expect(claims.count <= 1, "\(code)")
    }
  }

  @Test(arguments: [SQLiteError.Code.corrupt, .notADatabase])
  func damagedFilesAreDamage(code: SQLiteError.Code) {
    #expect(SQLiteError(code, message: "").isDamage)
  }

  @Test(arguments: [SQLiteError.Code.busy, .locked, .ioError, .cantOpen, .readOnly])
  func filesThatCannotBeUsedNowAreUnavailable(code: SQLiteError.Code) {
    #expect(SQLiteError(code, message: "").isUnavailable)
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG])
  func ioErrorForWantOfRoomIsFullStorage(errno: Int32) {
    let error = SQLiteError(.ioError, systemErrno: errno, message: "")
    #expect(error.isStorageFull)
    #expect(!error.isUnavailable)
  }

  @Test func outOfDescriptorsIsUnavailableAndNotFull() {
    let error = SQLiteError(.cantOpen, systemErrno: EMFILE, message: "")
    #expect(error.isUnavailable)
    #expect(!error.isStorageFull)
  }

  @Test func constraintKeepsItsExtendedCode() throws {
    let connection = try Connection.withItems()
    try connection.add("a")
    do throws(SQLiteError) {
      try connection.add("a")
      Issue.record("the same id twice")
    } catch {
      // SQLITE_CONSTRAINT_UNIQUE, https://sqlite.org/rescode.html#constraint_unique
      #expect(error.extendedCode == 2067)
      #expect(error.message.contains("item.id"))
      #expect(error.debugDescription.contains("2067"))
    }
  }
}
