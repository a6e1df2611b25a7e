/// A value that JSON can show.
package protocol JSONConvertible {
  var json: JSON { get }
}

extension JSON: JSONConvertible { package var json: JSON { self } }

extension JSONObject: JSONConvertible { package var json: JSON { .object(self) } }

extension String: JSONConvertible { package var json: JSON { .string(self) } }

extension Int: JSONConvertible { package var json: JSON { .integer(self) } }

extension Bool: JSONConvertible { package var json: JSON { .bool(self) } }

extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSON { .array(map(\.json)) }
}
