internal import PayTheory
package import TenderCommandLine
package import TenderSimulator
internal import Toro
internal import TrueLayer

/// The providers of a program, each with its simulated side.
package struct Providers: Sendable {
  /// One provider: its module, and its simulated counterpart.
  package struct Entry: Sendable {
    let module: any ProviderModule
    let simulated: any SimulatedProvider

    package init(_ module: any ProviderModule, _ simulated: any SimulatedProvider) {
      self.module = module
      self.simulated = simulated
    }
  }

  /// The providers of `tender`, in the order of help and lists. The first one is the default.
  package static let all: [Entry] = [
    Entry(PayTheoryModule(), SimulatedPayTheory()),
    Entry(ToroModule(), SimulatedToro()),
    Entry(TrueLayerModule(), SimulatedTrueLayer()),
  ]

  package let catalogue: Catalogue
  package let simulated: [any SimulatedProvider]

  package var modules: [any ProviderModule] { catalogue.modules }

  /// Creates a program with these providers.
  package init(_ entries: [Entry] = Self.all) {
    catalogue = Catalogue(Action.all.map { action in { action().command } }, entries.map(\.module))
    simulated = entries.map(\.simulated)
  }
}
