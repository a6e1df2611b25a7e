import Foundation
import Synchronization
import TenderJournal
import TenderSystem
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// One sync serves all threads that wait when it begins. No thread continues before a sync that covers it.
@Suite struct WriterTurnTests {
  private final class Numbers: Sendable {
    let written = Atomic(0)
    let safe = Atomic(0)
    let syncs = Atomic(0)
    let waiting = Atomic(0)
  }

  /// Runs a body on eight threads at once, with any number of cores.
  private func crowd(_ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for place in 0..<8 {
      group.enter()
      Thread.detachNewThread {
        body(place)
        group.leave()
      }
    }
    group.wait()
  }

  private static func commit(_ turn: WriterTurn) -> Int {
    turn.take()
    defer { turn.end() }
    return turn.committed()
  }

  @Test func `nobody goes on before a sync that began after the commit`() {
    let turn = WriterTurn()
    let numbers = Numbers()
    crowd { _ in
      for _ in 0..<300 {
        turn.take()
        // A commit is written before it is counted, as in `Database`.
        numbers.written.add(1, ordering: .sequentiallyConsistent)
        let number = turn.committed()
        turn.end()
        let isOnDisk = turn.waitForDisk(number) {
          // The writes before the start of the sync are on the disk.
          let begun = numbers.written.load(ordering: .sequentiallyConsistent)
          numbers.safe.store(begun, ordering: .sequentiallyConsistent)
          return true
        }
        #expect(isOnDisk)
        #expect(numbers.safe.load(ordering: .sequentiallyConsistent) >= number)
      }
    }
  }

  @Test func `those who come during a sync share the next one`() {
    let turn = WriterTurn()
    let first = Self.commit(turn)
    let numbers = Numbers()
    // All seven have committed before the first sync ends.
    crowd { place in
      if place == 0 {
        #expect(
          turn.waitForDisk(first) {
            numbers.syncs.add(1, ordering: .relaxed)
            while numbers.waiting.load(ordering: .acquiring) < 7 { sched_yield() }
            return true
          }
        )
      } else {
        while numbers.syncs.load(ordering: .acquiring) == 0 { sched_yield() }
        let number = Self.commit(turn)
        numbers.waiting.add(1, ordering: .releasing)
        #expect(
          turn.waitForDisk(number) {
            numbers.syncs.add(1, ordering: .relaxed)
            return true
          }
        )
      }
    }
    #expect(numbers.syncs.load(ordering: .relaxed) == 2)
  }

  @Test func `a sync that fails is told to those whom it was for, and to nobody else`() {
    let turn = WriterTurn()
    let before = Self.commit(turn)
    #expect(turn.waitForDisk(before) { true })
    let one = Self.commit(turn)
    let other = Self.commit(turn)
    #expect(!turn.waitForDisk(one) { false })
    // A later sync that succeeds proves nothing about the writes that the failed one lost.
    #expect(!turn.waitForDisk(other) { true })
    #expect(turn.waitForDisk(Self.commit(turn)) { true })
    #expect(turn.waitForDisk(before) { false })
  }
}
