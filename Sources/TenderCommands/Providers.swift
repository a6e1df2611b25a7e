internal import PayTheory
package import TenderModule
internal import Toro
internal import TrueLayer

/// The providers that this program speaks to; the first is asked where none is named.
package enum Providers {
  /// In the order of help and lists.
  package static let all: [any ProviderModule] = [
    PayTheoryModule(), ToroModule(), TrueLayerModule(),
  ]
}
