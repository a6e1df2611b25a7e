import Foundation
import Synchronization
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Threads that share a connection commit together. No thread continues before a commit and a sync that cover its
/// write, and an error concerns only the threads that it belongs to.
@Suite struct CommitGroupTests {
  private final class Numbers: Sendable {
    let written = Atomic(0)
    let committed = Atomic(0)
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

  private static func join(_ group: CommitGroup, needsDisk: Bool = true) -> Int {
    group.take()
    defer { group.end() }
    return group.join(needsDisk: needsDisk)
  }

  @Test func `no thread continues before a commit and a sync that cover its write`() {
    let group = CommitGroup()
    let numbers = Numbers()
    crowd { _ in
      for _ in 0..<300 {
        group.take()
        let own = numbers.written.add(1, ordering: .sequentiallyConsistent).newValue
        let number = group.join(needsDisk: true)
        group.end()
        let problem = group.wait(for: number) {
          let written = numbers.written.load(ordering: .sequentiallyConsistent)
          numbers.committed.store(written, ordering: .sequentiallyConsistent)
        } sync: {
          let committed = numbers.committed.load(ordering: .sequentiallyConsistent)
          numbers.safe.store(committed, ordering: .sequentiallyConsistent)
        }
        #expect(problem == nil)
        #expect(numbers.safe.load(ordering: .sequentiallyConsistent) >= own)
      }
    }
  }

  @Test func `threads that write during a sync share the next commit`() {
    let group = CommitGroup()
    let first = Self.join(group)
    let numbers = Numbers()
    // All seven have written before the first sync ends.
    crowd { place in
      if place == 0 {
        let problem = group.wait(
          for: first,
          commit: {},
          sync: {
            numbers.syncs.add(1, ordering: .relaxed)
            while numbers.waiting.load(ordering: .acquiring) < 7 { sched_yield() }
          }
        )
        #expect(problem == nil)
      } else {
        while numbers.syncs.load(ordering: .acquiring) == 0 { sched_yield() }
        let number = Self.join(group)
        numbers.waiting.add(1, ordering: .releasing)
        let problem = group.wait(for: number) {
          numbers.committed.add(1, ordering: .relaxed)
        } sync: {
          numbers.syncs.add(1, ordering: .relaxed)
        }
        #expect(problem == nil)
      }
    }
    #expect(numbers.syncs.load(ordering: .relaxed) == 2)
    #expect(numbers.committed.load(ordering: .relaxed) == 1)
  }

  private static let full = Fault.state("state_unusable", "the disk is full", "make room")

  /// Waits for a transaction whose commit or sync may fail. Returns the fault.
  private static func end(
    _ number: Int,
    of group: CommitGroup,
    commit: Fault? = nil,
    sync: Fault? = nil
  ) -> Fault? {
    func fail(_ fault: Fault?) throws(Fault) { if let fault { throw fault } }
    return group.wait(
      for: number,
      commit: { () throws(Fault) in try fail(commit) },
      sync: { () throws(Fault) in
        #expect(commit == nil)
        try fail(sync)
      }
    )
  }

  @Test func `a failed commit or sync is reported to the threads of its transaction only`() {
    let group = CommitGroup()
    let before = Self.join(group)
    #expect(Self.end(before, of: group) == nil)
    let (one, other) = (Self.join(group), Self.join(group))
    #expect(Self.end(one, of: group, sync: Self.full) == Self.full)
    // A later sync that succeeds proves nothing about the writes that the failed one lost.
    #expect(Self.end(other, of: group) == Self.full)
    #expect(Self.end(Self.join(group), of: group, commit: Self.full) == Self.full)
    #expect(Self.end(Self.join(group), of: group) == nil)
    #expect(Self.end(before, of: group) == nil)
  }

  @Test func `a lost transaction is reported to all threads that wrote into it`() {
    let group = CommitGroup()
    let (one, other) = (Self.join(group), Self.join(group))
    group.take()
    group.lose(Self.full)
    group.end()
    let next = Self.join(group)
    #expect(Self.end(one, of: group) == Self.full)
    #expect(Self.end(other, of: group) == Self.full)
    #expect(Self.end(next, of: group) == nil)
  }

  @Test func `nothing is synced for writes that need no disk`() {
    let group = CommitGroup()
    let number = Self.join(group, needsDisk: false)
    #expect(Self.end(number, of: group, sync: Self.full) == nil)
  }

  @Test func `an error undoes the writes of its own thread only`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "shared.db").path
    let (database, isNew) = try Database.shared(path: path, busyTimeout: 5000)
    #expect(isNew)
    try database.useLog()
    try database.execute("PRAGMA synchronous = NORMAL; CREATE TABLE item (name TEXT PRIMARY KEY)")
    crowd { place in
      for number in 0..<100 {
        let name = "\(place)-\(number)"
        let isRefused = number % 3 == 0
        do throws(Fault) {
          let (own, isNew) = try Database.shared(path: path, busyTimeout: 5000)
          #expect(!isNew && own === database)
          try own.transaction(isDurable: true) { () throws(Fault) in
            try own.query("INSERT INTO item (name) VALUES (?)", [.text(name)])
            if isRefused { throw Self.full }
          }
          #expect(!isRefused)
        } catch {
          #expect(isRefused && error == Self.full)
        }
      }
    }
    // Another connection sees only what is committed.
    let names = try Database(path: path).all("SELECT name FROM item").compactMap(\.[0].text)
    let kept = (0..<8).flatMap { place in
      (0..<100).filter { $0 % 3 != 0 }.map { "\(place)-\($0)" }
    }
    #expect(Set(names) == Set(kept))
  }
}
