import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Lists of payments as files for spreadsheets.
@Suite struct CSVTests {
  private func shop() throws -> Binary {
    let binary = try Binary()
    let card = ["transact", "--test-card", "visa", "--json", "--no-input"]
    for words in [
      card + ["--amount", "10.50", "--reference", "A,1"],
      card + ["--amount", "20", "--reference", "=1+1"],
      card + ["--amount", "1.93", "--reference", "say \"no\""],
      ["refund", "A,1", "--amount", "4", "--json"],
    ] { _ = try binary.run(words) }
    return binary
  }

  private let head =
    "line,provider,env,reference,attempt,replayed,id,status,provider_status,final,amount,requested_amount,"
    + "captured_amount,released_amount,voided_amount,refunded_amount,refunding_amount,returned_amount,currency,original,source,"
    + "brand,last_four,created_at,"
    + "updated_at,error.code,error.message,group\r\n"

  @Test func `chosen fields are columns, amounts are decimals, formulas are texts`() throws {
    let binary = try shop()
    defer { binary.remove() }
    let fields = ["--fields", "reference,status,amount,refunded_amount,currency", "-o", "csv"]
    for words in [["find"], ["journal", "list"]] {
      let result = try binary.run(words + fields)
      #expect(result.status == 0, "\(result.errors)")
      #expect(
        result.output
          == [
            "reference,status,amount,refunded_amount,currency",
            "\"say \"\"no\"\"\",declined,1.93,,USD",
            "'=1+1,succeeded,20.00,,USD", "\"A,1\",partially_refunded,10.50,4.00,USD", "",
          ].joined(separator: "\r\n")
      )
    }
    let looked = try binary.run(["payment-status", "A,1"] + fields)
    #expect(
      looked.output
        == "reference,status,amount,refunded_amount,currency\r\n\"A,1\",partially_refunded,10.50,4.00,USD\r\n"
    )
  }

  @Test func `the columns are always the same`() throws {
    let binary = try shop()
    defer { binary.remove() }
    for words in [
      ["find"], ["find", "--status", "open"], ["journal", "list"], ["payment-status", "A,1"],
    ] {
      let result = try binary.run(words + ["-o", "csv"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.hasPrefix(head), "\(words)")
    }
    let empty = try binary.run("totals", "--env", "live", "-o", "csv")
    #expect(
      empty.output
        == "day,provider,status,env,currency,payments,charged,refunded,net,refunding,unknown\r\n"
    )
    let totals = try binary.run("totals", "-o", "csv")
    #expect(
      totals.output.hasSuffix(",,,simulator,USD,3,30.50,4.00,26.50,,\r\n"),
      "\(totals.output)"
    )
  }

  @Test func `a batch has its summary on standard error`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = """
      {"command":"transact","reference":"X","amount":"5","test_card":"visa"}
      {"command":"refund","reference":"NONE"}

      """
    let result = try binary.run(
      [
        "batch", "-", "--ordered", "-o", "csv", "--fields",
        "line,reference,status,amount,error.code",
      ],
      input: lines
    )
    #expect(result.status == 14)
    #expect(
      result.output
        == "line,reference,status,amount,error.code\r\n1,X,succeeded,5.00,\r\n2,NONE,,,payment_not_found\r\n"
    )
    #expect(result.errors.contains(#""record":"batch_summary""#))
  }

  @Test func `other commands refuse it, and json is jsonl`() throws {
    let binary = try shop()
    defer { binary.remove() }
    for words in [
      ["transact", "--amount", "5", "--test-card", "visa"], ["providers"], ["journal", "export"],
    ] {
      let result = try binary.run(words + ["-o", "csv"])
      #expect(result.status == 2)
      #expect(result.errors.contains("has no --output csv"), "\(result.errors)")
    }
    let one = try binary.run("journal", "list", "-o", "json", "--fields", "reference,amount").output
    let other = try binary.run("journal", "list", "-o", "jsonl", "--fields", "reference,amount")
      .output
    #expect(one == other)
    #expect(one.hasPrefix("{\"reference\""))
  }

  /// Another program reads the same values as in the records.
  @Test(.enabled(if: Judge.has("csv"), "python3 is not installed"))
  func `python reads the same values`() throws {
    let binary = try shop()
    defer { binary.remove() }
    let file = binary.home.appending(path: "list.csv")
    try Data(binary.run("find", "-o", "csv").output.utf8).write(to: file)
    let read = Process()
    read.executableURL = URL(filePath: "/usr/bin/env")
    read.arguments = [
      "python3", "-c",
      "import csv,json,sys;print(json.dumps(list(csv.DictReader(open(sys.argv[1],newline='')))))",
      file.path,
    ]
    let pipe = Pipe()
    read.standardOutput = pipe
    try read.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    read.waitUntilExit()
    let rows = JSONReader.read(text)?.array ?? []
    let records = try binary.run("find", "--json").records
    #expect(rows.count == records.count)
    for (row, record) in zip(rows, records) {
      for name in ["id", "status", "currency", "created_at", "provider", "last_four"] {
        #expect(row[name]?.text == record.text(name) ?? "")
      }
      let reference = record.text("reference") ?? ""
      #expect(row["reference"]?.text == (reference.hasPrefix("=") ? "'" + reference : reference))
      let cents = row["amount"]?.text.flatMap { Double($0) }.map { Int(($0 * 100).rounded()) }
      #expect(cents == record["amount"]?.wholeNumber)
    }
  }
}
