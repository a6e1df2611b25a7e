import FoundationEssentials
import TenderCommandLine
import TenderCommands
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

extension FuzzTarget {
  /// Files that a command reads whole: a batch, a configuration, a journal.
  static let files: [FuzzTarget] = [
    FuzzTarget(
      "batch",
      seeds: [
        #"{"command":"transact","reference":"A","amount":"10.50","test_card":"visa"}"# + "\n"
          + #"{"command":"refund","reference":"A","amount":"5","refund_reference":"B"}"#,
        #"{"command":"transact","reference":"A","instrument":{"type":"card","number":"4"}}"#
          + "\r\n",
        #"{"command":"transact","reference":"A","user":{"name":"R"},"metadata":{"a":1,"b":null}}"#,
        #"{"command":"payment-status","id":"A","provider":"toro","wait":true}"# + "\n\n{\"a\"",
      ],
      words: [
        "\n", "\"command\":", "\"transact\"", "\"reference\":", "{", "}", "[", "true", "null",
      ]
    ) { bytes in
      guard let vocabulary = Subjects.vocabulary else { return "batch has no vocabulary" }
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { return nil }
      defer { close(ends[0]) }
      let sent = bytes.prefix(32_768)
      _ = unsafe sent.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
      close(ends[1])
      let reader = LineReader(descriptor: ends[0], limit: 4096, skipsLongLines: true)
      var count = 0
      while let text = try? reader.next() {
        count += 1
        if count > sent.count + 1 { return "there are more lines than bytes" }
        if text.utf8.count > 4096 + 16_384, !reader.isTooLong { return "a line is too long" }
        guard let line = try? BatchLine(text, vocabulary) else { continue }
        if line.reference.isEmpty { return "a line without a reference is taken" }
      }
      return reader.consumed == sent.count ? nil : "not every byte belongs to a line"
    },
    FuzzTarget(
      "configuration",
      seeds: [
        #"{"schema":1,"default_profile":"a","profiles":{"a":{"env":"sandbox","mode":"read-only"}}}"#,
        #"{"schema":1,"profiles":{"a":{"paytheory":{"api_key":"x"},"timeout":"5s"}}}"#,
        #"{"schema":1,"profiles":{"a":{"toro":{"device":"tcp://h:1","kdf":{"prf":"hmac-sha256"}}}}}"#,
        #"{"schema":1,"profiles":{"a":{"truelayer":{"redirect_url":"http://localhost:3000/c"}}}}"#,
      ],
      words: ["\"schema\":1", "\"profiles\":", "\"toro\":", "\"kdf\":", "{", "}", "null", "1e99"]
    ) { bytes in
      guard let path = Subjects.place(of: "config.json", bytes) else { return nil }
      let modules = Providers().modules
      guard let config = try? ConfigFile(path: path, isNamed: true, modules) else { return nil }
      for name in config.profiles.keys {
        guard
          let invocation = Subjects.invocation(["transact", "--profile=" + name]),
          let settings = try? Settings(invocation, Environment(), modules, config: config)
        else { continue }
        _ = (try? settings.env(), try? settings.timeout(), settings.journal())
        _ = (settings.markFolder(), try? settings.takeoverWindow(), try? settings.provider())
        for module in modules { _ = module.resources(settings) }
      }
      return nil
    },
    FuzzTarget("journal-file", bytes: JournalRun.seeds) { JournalRun($0).run() },
  ]
}

/// The common parts of the targets of files: a vocabulary, and a folder that is removed when the process
/// ends.
private enum Subjects {
  private static let parser = Parser(Providers().catalogue)

  static let vocabulary = invocation(["batch", "-"]).map {
    BatchVocabulary($0, Providers().catalogue, isLiveAllowed: false)
  }

  static func invocation(_ words: [String]) -> Invocation? {
    guard case .run(let invocation) = try? parser.parse(words) else { return nil }
    return invocation
  }

  /// A folder in memory if the system has one, so that no test waits for a disk.
  static let folder: String? = {
    let place = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var name = Array((place + "/tender-fuzz-XXXXXX").utf8CString)
    guard unsafe mkdtemp(&name) != nil else { return nil }
    atexit { Subjects.folder.map { try? FileManager.default.removeItem(atPath: $0) } }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }()

  /// The path of a file with these bytes.
  static func place(of name: String, _ bytes: [UInt8]) -> String? {
    guard let folder else { return nil }
    let path = folder + "/" + name
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return nil }
      rest = rest.dropFirst(count)
    }
    return path
  }

  static func bytes(of path: String) -> [UInt8] {
    guard let file = unsafe fopen(path, "rb") else { return [] }
    defer { unsafe fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe fread(&buffer, 1, buffer.count, file)
    return Array(buffer.prefix(count))
  }
}

/// A journal with some changed bytes. Reading it may fail, but not crash.
private struct JournalRun {
  /// A journal's database and log after some commands.
  private static let good: (database: [UInt8], log: [UInt8]) = {
    guard let folder = Subjects.folder else { return ([], []) }
    let path = folder + "/good"
    _ = unsafe mkdir(path, 0o700)
    do {
      let journal = try SQLiteJournal(folder: path, redactor: Redactor())
      AdapterRun.fill(journal)
    } catch {
      return ([], [])
    }
    return (Subjects.bytes(of: path + "/journal.db"), Subjects.bytes(of: path + "/journal.db-wal"))
  }()

  static let seeds: [[UInt8]] = [
    [], [0, 0, 0, 0, 255], [1, 0, 0, 24, 1], [0, 0, 16, 0, 13, 0, 0, 16, 8, 255], [2, 0, 40, 0, 0],
    [3, 0, 1, 0, 0],
  ]

  private var feed: Feed

  init(_ input: [UInt8]) { feed = Feed(input) }

  mutating func changed(_ bytes: [UInt8], _ isChosen: Bool) -> [UInt8] {
    guard isChosen, !bytes.isEmpty else { return bytes }
    var bytes = bytes
    while !feed.isOver {
      let place = (feed.below(256) << 16 | feed.below(256) << 8 | feed.below(256)) % bytes.count
      bytes[place] = feed.byte()
    }
    return bytes
  }

  func run() -> String? {
    var copy = self
    return copy.open()
  }

  private mutating func open() -> String? {
    let way = feed.below(4)
    var (database, log) = Self.good
    if way > 1 {
      // A copy that was cut short.
      let length = feed.below(256) << 8 | feed.below(256)
      if way == 2 {
        database = Array(database.prefix(length))
      } else {
        log = Array(log.prefix(length))
      }
    }
    database = changed(database, way % 2 == 0)
    log = changed(log, way % 2 == 1)
    guard let path = Subjects.place(of: "journal.db", database),
      Subjects.place(of: "journal.db-wal", log) != nil, let folder = Subjects.folder
    else { return nil }
    unsafe unlink(path + "-shm")
    guard let journal = try? SQLiteJournal(folder: folder, redactor: Redactor()) else { return nil }
    try? journal.checkWhole()
    _ = try? journal.verify()
    var count = 0
    try? journal.each(PaymentFilter()) { payment in
      count += 1
      _ = (payment.state.status, payment.state.captured, try? journal.history(of: payment))
      return count < 1000
    }
    return count < 1000 ? nil : "a journal of one payment has a thousand"
  }
}
