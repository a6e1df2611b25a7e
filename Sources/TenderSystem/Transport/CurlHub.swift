import CLibraries
private import TenderModel

/// Sends the reading requests of many threads over few connections. One thread drives libcurl's multi
/// interface.
///
/// HTTP/2 has one connection. HTTP/1.1 has more connections if answers are slow. A request that can move
/// money does not go this way: see `HTTPExchange.send`.
@safe
package final class CurlHub: @unchecked Sendable {
  // Unchecked: only the hub's thread uses libcurl's handle, except for the call that wakes it, which is safe
  // from any thread. `lock` guards the rest.

  /// The number of connections to one host while its answers are fast.
  private static let few = 4
  /// An answer that takes at least this many microseconds is slow. Then more connections are worth their
  /// handshakes.
  private static let slow = 10_000
  /// The longest wait of the thread, in milliseconds. After it, interrupted requests end, and requests that
  /// libcurl delayed for lack of a connection continue.
  private static let pause: Int32 = 50
  /// The time without requests after which the thread ends, in milliseconds.
  private static let rest: Int32 = 500

  private let lock = ThreadLock()
  private let connections: Int
  /// Requests that the thread has not taken yet.
  private var fresh: [Transfer] = []
  private var isRunning = false
  private var multi: UnsafeMutableRawPointer?
  private var isSlow = false

  /// Creates a hub with a limit of connections to one host.
  package init(connections: Int) { self.connections = connections }

  deinit {
    if let multi = unsafe multi { unsafe tender_curl_multi_cleanup(multi) }
  }

  /// Performs a prepared request, and waits until it is done.
  func perform(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    let transfer = unsafe Transfer(easy, ThreadCondition(of: lock))
    return lock.locked {
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
        transfer.done.wait()
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

  /// Works until there was no request for a while.
  private func run() {
    var active = unsafe [UnsafeMutableRawPointer: Transfer]()
    while true {
      lock.locked {
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
        lock.locked { unsafe active.removeValue(forKey: easy)?.end(code) }
        isAnyDone = true
      }
      guard status == CURLM_OK else {
        for unsafe(easy, transfer) in unsafe active {
          _ = unsafe tender_curl_multi_remove_handle(multi, easy)
          lock.locked { transfer.end(CURLE_RECV_ERROR) }
        }
        unsafe active = [:]
        continue
      }
      // A finished request frees its connection, so the requests that wait for one continue at once.
      if !isAnyDone, lock.locked({ fresh.isEmpty }) {
        _ = unsafe tender_curl_multi_wait(multi, active.isEmpty ? Self.rest : Self.pause)
      }
      let isBusy = unsafe !active.isEmpty
      let goesOn = lock.locked { () -> Bool in
        isRunning = isBusy || !fresh.isEmpty
        return isRunning
      }
      guard goesOn else { return }
    }
  }

  /// Allows more connections after a slow answer. Then their number limits the work, not the machine.
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

  /// One request of one thread, which waits for it. The hub's lock guards its changes.
  @safe
  private final class Transfer {
    let easy: UnsafeMutableRawPointer
    let done: ThreadCondition
    /// The result; nil while it runs.
    var code: CURLcode?

    init(_ easy: UnsafeMutableRawPointer, _ done: ThreadCondition) {
      unsafe self.easy = easy
      self.done = done
    }

    func end(_ code: CURLcode) {
      self.code = code
      done.wakeOne()
    }
  }
}
