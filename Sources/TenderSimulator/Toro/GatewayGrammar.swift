import TenderModel

/// The parts of messages that the simulated gateway reads: elements, their order, number and codes
/// (Toro/README, 3.1 to 3.6; the schemas of the V12 set).
enum GatewayGrammar {
  /// A plain name must occur once. `?` means at most once, `*` any number, `+` at least once.
  private static let orders = EmbeddedText.rows("TenderSimulator/Toro/Elements.txt")

  private static let codes = EmbeddedText.rows("TenderSimulator/Toro/Codes.txt")

  /// The types of texts by their elements' names.
  private static let types: [String: String] = {
    var types: [String: String] = [:]
    for (type, names) in EmbeddedText.rows("TenderSimulator/Toro/Types.txt") {
      for name in names.split(separator: " ") { types[String(name)] = type }
    }
    return types
  }()

  /// The error in an element; nil without one.
  static func problem(_ element: XMLElement, path: String = "") -> String? {
    let path = path.isEmpty ? element.name : "\(path)/\(element.name)"
    // The same name can have two types. Then its parent is named, too.
    let names = [path.split(separator: "/").suffix(2).joined(separator: "/"), element.name]
    if element.children.isEmpty {
      let codes = names.lazy.compactMap { Self.codes[$0] }.first
      let type = names.lazy.compactMap { Self.types[$0] }.first
      guard codes?.split(separator: " ").contains(Substring(element.text)) ?? true,
        type.map({ TextType.fits(element.text, $0) }) ?? true
      else { return "\(path) is \(element.text.prefix(40).debugDescription)" }
    }
    if path == "Document" {
      return element.children.lazy.compactMap { problem($0, path: path) }.first
    }
    guard let order = order(path) else { return nil }
    var rest = element.children[...]
    for part in order.split(separator: " ") {
      let mark = part.last.flatMap { "?*+".contains($0) ? $0 : nil }
      let name = mark == nil ? part : part.dropLast()
      var count = 0
      while let next = rest.first, next.name == name {
        count += 1
        rest.removeFirst()
        if let problem = problem(next, path: path) { return problem }
      }
      let isRight =
        switch mark {
        case "?": count <= 1
        case "*": true
        case "+": count >= 1
        default: count == 1
        }
      guard isRight else {
        return "\(path)/\(name) is there \(count == 0 ? "not at all" : "\(count) times")"
      }
    }
    if let extra = rest.first { return "\(path)/\(extra.name) does not belong there" }
    return element.children.isEmpty && element.text.isEmpty ? "\(path) is empty" : nil
  }

  /// The rule of a path: by its last three names, then two, then one.
  private static func order(_ path: String) -> String? {
    if path.hasPrefix("Document/StsRpt/"), path.hasSuffix("/Hdr") { return orders["TMSHdr"] }
    let names = path.split(separator: "/")
    for count in [3, 2, 1] where names.count >= count {
      let key = names.suffix(count).joined(separator: "/")
      if let order = orders[key] { return order }
    }
    return nil
  }
}
