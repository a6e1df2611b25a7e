package import TenderModel

/// What can be seen of a simulated world from outside, and taken out of it.
extension InProcessSimulator {
  /// Returns what the providers' books have about an id or a reference; for nil, the latest of each kind.
  package func books(about name: String?) throws(Fault) -> [JSONObject] {
    try keepTime()
    var shown: [JSONObject] = []
    for provider in world.providers {
      let head = JSONObject.Member(key: "provider", value: .string(provider.name.text))
      shown += try provider.books(parts, about: name).map { JSONObject([head] + $0.members) }
    }
    return shown
  }

  /// Deletes all payments but the latest, with what came before those.
  func forget(butLatest number: Int) throws(Fault) {
    let kinds = world.providers.map(\.passing)
    try parts.ledger.forget(
      butLatest: number,
      of: kinds.map(\.payment),
      kinds.flatMap { [$0.payment] + $0.others },
      owned: world.providers.compactMap(\.owned)
    )
  }
}

extension Ledger {
  /// The version of a saved world.
  private static let version = 1

  /// Hands over the world as lines of text: a head, then a line for each thing.
  ///
  /// The signing key and the exchanges are left out: the key is a secret of this folder's clients.
  package func save(_ write: (String) -> Bool) throws(Fault) {
    try atOneMoment { () throws(Fault) in
      let head: JSON = ["tender_simulator": .integer(Self.version), "things": .integer(try size())]
      guard write(JSONWriter.text(head) + "\n") else { return }
      try each { kind, id, reference, parent, body in
        var thing: JSONObject = ["kind": .string(kind), "id": .string(id)]
        thing["reference"] = reference.map(JSON.string)
        thing["parent"] = parent.map(JSON.string)
        thing["body"] = JSONReader.read(body)
        return write(JSONWriter.text(.object(thing)) + "\n")
      }
    }
  }

  /// Replaces the world by a saved one; the signing key stays.
  ///
  /// Throws `usage` for lines that are not a whole saved world. Nothing is changed then.
  package func load(_ next: () throws(Fault) -> String?) throws(Fault) {
    try transaction { () throws(Fault) in
      let head = try next().flatMap { JSONReader.read($0) }
      guard head?["tender_simulator"]?.wholeNumber == Self.version,
        let count = head?["things"]?.wholeNumber
      else { throw .notSaved("it does not begin as a saved world does") }
      try clear()
      var line = 1
      while let text = try next() {
        line += 1
        guard let thing = JSONReader.read(text)?.object, let kind = thing.text("kind"),
          let id = thing.text("id"), let body = thing["body"], Self.isSaved(kind)
        else { throw .notSaved("line \(line) is not of a saved world") }
        try insert(kind, id, JSONWriter.text(body), thing.text("reference"), thing.text("parent"))
      }
      guard line == count + 1 else {
        throw .notSaved("it has \(line - 1) things, and \(count) were saved")
      }
    }
  }
}

extension Fault {
  fileprivate static func notSaved(_ problem: String) -> Fault {
    .badFile("the saved world: \(problem)", hint: "tender simulator save FILE writes such a file")
  }
}
