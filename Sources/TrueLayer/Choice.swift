internal import TenderModel

/// A bank that an authorization can go to.
package struct Bank: Sendable, Hashable {
  package let id: String
  package let name: String
  package let country: String?
  package let aliases: [String]
  /// Whether TrueLayer says that it works: anything but `unhealthy`.
  package let isHealthy: Bool
}

/// One of several things to choose from.
package struct Choice: Sendable, Hashable {
  package let id: String
  package let name: String
  /// Whether the provider would choose this one.
  package let isRecommended: Bool
}

extension Bank {
  /// Reads a provider; older answers name its id `provider_id`.
  init?(_ object: JSONObject) {
    guard let id = object.text("id") ?? object.text("provider_id") else { return nil }
    self.id = id
    name = object.text("display_name") ?? id
    country = object.text("country_code")
    aliases = object["search_aliases"]?.array?.compactMap(\.text) ?? []
    isHealthy = object["availability"]?["recommended_status"]?.text != "unhealthy"
  }
}
