import Stores
import Testing

@Suite struct ChangeFeedTests {
  @Test func theFirstWakeUpIsThereAtOnce() async {
    var wakeUps = ChangeFeed().wakeUps().makeAsyncIterator()
    #expect(await wakeUps.next() != nil)
  }

  @Test func wakeUpsAreCoalesced() async {
    let feed = ChangeFeed()
    let wakeUps = feed.wakeUps()
    for _ in 0..<1_000 { feed.wake() }
    feed.finish()
    var count = 0
    for await _ in wakeUps { count += 1 }
    #expect(count == 1)
  }

  @Test func everyReaderIsWoken() async {
    let feed = ChangeFeed()
    var readers = (0..<3).map { _ in feed.wakeUps().makeAsyncIterator() }
    #expect(feed.readerCount == 3)
    for index in readers.indices { #expect(await readers[index].next() != nil) }
    feed.wake()
    for index in readers.indices { #expect(await readers[index].next() != nil) }
    feed.finish()
    for index in readers.indices { #expect(await readers[index].next() == nil) }
    #expect(feed.readerCount == 0)
  }

  @Test func aFinishedFeedEndsNewReadersToo() async {
    let feed = ChangeFeed()
    feed.finish()
    for await _ in feed.wakeUps() { Issue.record("woken after the end") }
    feed.wake()
    feed.finish()
    #expect(feed.readerCount == 0)
  }

  @Test func aReaderThatGoesIsForgotten() async {
    let feed = ChangeFeed()
    do {
      let wakeUps = feed.wakeUps()
      #expect(feed.readerCount == 1)
      _ = wakeUps
    }
    #expect(feed.readerCount == 0)
    let task = Task { for await _ in feed.wakeUps() {} }
    while feed.readerCount == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await task.value
    #expect(feed.readerCount == 0)
  }

  @Test func aSleepingReaderIsWokenByAWriterElsewhere() async {
    let feed = ChangeFeed()
    let reader = Task {
      var count = 0
      for await _ in feed.wakeUps() {
        count += 1
        if count == 2 { return true }
      }
      return false
    }
    while feed.readerCount == 0 { try? await Task.sleep(for: .milliseconds(1)) }
    let writer = Task { while !Task.isCancelled { feed.wake(); await Task.yield() } }
    #expect(await reader.value)
    writer.cancel()
  }
}
