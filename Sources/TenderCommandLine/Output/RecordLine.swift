internal import TenderEngine
package import TenderModel

/// A record as one JSON line.
package enum RecordLine {
  /// Returns `{"schema":2,"record":…,…}` without the line's end. `fields` (nested by dots) chooses some.
  package static func text(_ record: Record, fields: [String] = []) -> String {
    JSONWriter.text(.object(FieldChoice.apply(fields, to: whole(record))))
  }

  /// Returns the values of some fields without their names, with tabs between them. A missing value is empty,
  /// and a control character becomes a space.
  package static func values(_ record: Record, _ fields: [String]) -> String {
    let object = whole(record)
    return fields.map { path in
      let value = object.value(at: path).flatMap { $0 == .null ? nil : $0 }
      let text = value.map { $0.plainText ?? JSONWriter.text($0) } ?? ""
      // A value may come from outside, and go to a terminal.
      return Printable.text(
        String(text.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) })
      )
    }.joined(separator: "\t")
  }

  /// The members at some paths, each named by the last part of its path. If two share that name, the first
  /// one counts.
  package static func flat(_ record: Record, _ paths: [String]) -> Record {
    var fields: JSONObject = [:]
    for path in paths {
      let name = path.split(separator: ".").last.map(String.init) ?? ""
      guard let value = record.fields.value(at: path), fields[name] == nil else { continue }
      fields[name] = value
    }
    // The currency is needed to read the amounts.
    fields["currency"] = record.fields["currency"]
    return Record(record.kind, fields)
  }

  /// The record with the members that all records share, in the order of the schema.
  static func whole(_ record: Record) -> JSONObject {
    let first: JSONObject = [
      "schema": .integer(RecordSchema.version), "record": .string(record.kind.rawValue),
    ]
    return JSONObject(first.members + record.fields.members)
      .ordered(by: RecordSchema.names(record.kind))
  }
}

/// Chooses fields by paths such as `result.body.amount`.
package enum FieldChoice {
  /// Returns the chosen members, nested as before, in the order of the record.
  static func apply(_ paths: [String], to object: JSONObject) -> JSONObject {
    guard !paths.isEmpty else { return object }
    var chosen: JSONObject = [:]
    for member in object.members {
      if paths.contains(member.key) {
        chosen[member.key] = member.value
        continue
      }
      let inner = paths.filter { $0.hasPrefix(member.key + ".") }
        .map { String($0.dropFirst(member.key.count + 1)) }
      guard !inner.isEmpty, let value = member.value.object else { continue }
      let part = apply(inner, to: value)
      if !part.members.isEmpty { chosen[member.key] = .object(part) }
    }
    return chosen
  }

  /// Checks that records have the first part of each path.
  ///
  /// Throws a `usage` fault with the nearest name.
  package static func check(_ paths: [String], option: String = "fields") throws(Fault) {
    for path in paths {
      let first = String(path.split(separator: ".").first ?? "")
      guard !RecordSchema.names.contains(first) else { continue }
      throw .usage(
        "bad_value",
        "--\(option): records have no \(path.quotedForMessage)",
        Suggestion.hint(for: first, among: RecordSchema.names, else: "see: tender schema")
      )
    }
  }
}
