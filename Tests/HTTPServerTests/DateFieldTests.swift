import HTTPTypes
import Synchronization
import Testing

@testable import HTTPServer

@Suite struct DateFieldTests {
  /// The example of RFC 9110, section 5.6.7.
  @Test func dateIsInTheWordsOfHTTP() {
    let field = DateField(clock: { 784_111_777 }).now
    #expect(field.name == .date && field.value == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test func dateGoesOnWithTheClock() {
    let clock = Mutex(1_709_251_199)
    let date = DateField(clock: { clock.withLock { $0 } })
    #expect(date.now.value == "Thu, 29 Feb 2024 23:59:59 GMT")
    clock.withLock { $0 += 1 }
    #expect(date.now.value == "Fri, 01 Mar 2024 00:00:00 GMT")
  }
}
