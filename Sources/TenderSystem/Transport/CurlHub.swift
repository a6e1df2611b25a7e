import CLibraries
private import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Carries the reading requests of many threads over few connections: one thread drives libcurl's multi
/// interface, so that HTTP/2 has one connection, and HTTP/1.1 as many as slow answers are worth.
///
/// A request that can move money does not go this way: see `HTTPExchange.send`.
@safe
package final class CurlHub: @unchecked Sendable {
  // Unchecked: libcurl's handle is used by the hub's thread alone, but for waking it, which any may; the
  // rest is touched with the lock held.

  /// Connections to one host while its answers come at once.
  private static let few = 4
  /// From how many microseconds on an answer is slow, and more connections are worth their handshakes.
  private static let slow = 10_000
  /// How long the thread waits at most before it looks around, in milliseconds: whoever interrupts a
  /// request is heard by then, and what libcurl put off for want of a connection goes on.
  private static let pause: Int32 = 50
  /// How long it stays where nothing is asked, in milliseconds.
  private static let rest: Int32 = 500

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let connections: Int
  /// Requests that the thread has not taken yet.
  private var fresh: [Transfer] = []
  private var isRunning = false
  private var multi: UnsafeMutableRawPointer?
  private var isSlow = false

  /// `connections` is how many there may be to one host.
  package init(connections: Int) {
    self.connections = connections
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
  }

  deinit {
    if let multi = unsafe multi { unsafe tender_curl_multi_cleanup(multi) }
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body()
  }

  /// Performs a request whose options are all set, and waits until it is done.
  func perform(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    let transfer = unsafe Transfer(easy)
    return locked {
      if unsafe multi == nil {
        unsafe multi = tender_curl_multi_init()
        limit(to: Self.few)
      }
      guard unsafe multi != nil else { return CURLE_OUT_OF_MEMORY }
      fresh.append(transfer)
      if isRunning {
        _ = unsafe tender_curl_multi_wakeup(multi)
      } else {
        isRunning = DetachedThread.begin { [self] in run() }
        guard isRunning else {
          fresh.removeLast()
          return CURLE_OUT_OF_MEMORY
        }
      }
      while true {
        if let code = transfer.code { return code }
        unsafe pthread_cond_wait(transfer.done, lock)
      }
    }
  }

  private func limit(to count: Int) {
    _ = unsafe tender_curl_multi_set_long(
      multi,
      CURLMOPT_MAX_HOST_CONNECTIONS,
      min(count, connections)
    )
  }

  /// Works until nothing was asked for a while.
  private func run() {
    var active = unsafe [UnsafeMutableRawPointer: Transfer]()
    while true {
      locked {
        for transfer in fresh {
          if unsafe tender_curl_multi_add_handle(multi, transfer.easy) == CURLM_OK {
            unsafe active[transfer.easy] = transfer
          } else {
            transfer.end(CURLE_FAILED_INIT)
          }
        }
        fresh.removeAll(keepingCapacity: true)
      }
      let status = unsafe tender_curl_multi_perform(multi)
      var code = CURLE_OK
      var isAnyDone = false
      while let easy = unsafe tender_curl_multi_next(multi, &code) {
        unsafe note(timesOf: easy)
        _ = unsafe tender_curl_multi_remove_handle(multi, easy)
        locked { unsafe active.removeValue(forKey: easy)?.end(code) }
        isAnyDone = true
      }
      guard status == CURLM_OK else {
        for unsafe(easy, transfer) in unsafe active {
          _ = unsafe tender_curl_multi_remove_handle(multi, easy)
          locked { transfer.end(CURLE_RECV_ERROR) }
        }
        unsafe active = [:]
        continue
      }
      // What waited for the connection of one that is done goes on without waiting.
      if !isAnyDone, locked({ fresh.isEmpty }) {
        _ = unsafe tender_curl_multi_wait(multi, active.isEmpty ? Self.rest : Self.pause)
      }
      let isBusy = unsafe !active.isEmpty
      let goesOn = locked { () -> Bool in
        isRunning = isBusy || !fresh.isEmpty
        return isRunning
      }
      guard goesOn else { return }
    }
  }

  /// Allows more connections once an answer was slow: then their number bounds the work, not the machine.
  private func note(timesOf easy: UnsafeMutableRawPointer) {
    guard !isSlow else { return }
    var sent: curl_off_t = 0
    var answered: curl_off_t = 0
    _ = unsafe tender_curl_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T, &sent)
    _ = unsafe tender_curl_get_offset(easy, CURLINFO_STARTTRANSFER_TIME_T, &answered)
    guard answered - sent > Self.slow else { return }
    isSlow = true
    limit(to: connections)
  }

  /// One request of one thread, which waits for it; what changes in it is touched with the hub's lock held.
  @safe
  private final class Transfer {
    let easy: UnsafeMutableRawPointer
    let done: UnsafeMutablePointer<pthread_cond_t>
    /// How it ended; nil while it runs.
    var code: CURLcode?

    init(_ easy: UnsafeMutableRawPointer) {
      unsafe self.easy = easy
      unsafe done = .allocate(capacity: 1)
      unsafe pthread_cond_init(done, nil)
    }

    func end(_ code: CURLcode) {
      self.code = code
      unsafe pthread_cond_signal(done)
    }

    deinit {
      unsafe pthread_cond_destroy(done)
      unsafe done.deallocate()
    }
  }
}
