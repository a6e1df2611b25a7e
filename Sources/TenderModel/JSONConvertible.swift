/// A value that JSON can show.
package protocol JSONConvertible {
  var json: JSON { get }
}

extension JSON: JSONConvertible { package var json: JSON { self } }

extension JSONObject: JSONConvertible {
  package var json: JSON { .object(self) }

  /// Creates an object of values in their order. Those that are nil are left out.
  package init(values: KeyValuePairs<String, (any JSONConvertible)?>) {
    self.init(
      values.compactMap { key, value in value.map { Member(key: key, value: $0.json) } }
    )
  }
}

extension String: JSONConvertible { package var json: JSON { .string(self) } }

extension Int: JSONConvertible { package var json: JSON { .integer(self) } }

extension Bool: JSONConvertible { package var json: JSON { .bool(self) } }

extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSON { .array(map(\.json)) }
}
