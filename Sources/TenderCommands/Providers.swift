internal import PayTheory
package import TenderCommandLine
package import TenderSimulator
internal import Toro
internal import TrueLayer

/// The providers of a program, each with its simulated side.
package struct Providers: Sendable {
  /// One provider: what the program knows of it, and how the simulator plays it.
  package struct Entry: Sendable {
    let module: any ProviderModule
    let simulated: any SimulatedProvider

    /// A provider and its other side.
    package init(_ module: any ProviderModule, _ simulated: any SimulatedProvider) {
      self.module = module
      self.simulated = simulated
    }
  }

  /// The providers that `tender` speaks to, in the order of help and lists; the first is asked where none
  /// is named.
  package static let all: [Entry] = [
    Entry(PayTheoryModule(), SimulatedPayTheory()),
    Entry(ToroModule(), SimulatedToro()),
    Entry(TrueLayerModule(), SimulatedTrueLayer()),
  ]

  /// Everything that can be typed.
  package let catalogue: Catalogue
  package let simulated: [any SimulatedProvider]

  package var modules: [any ProviderModule] { catalogue.modules }

  /// A program that speaks to these.
  package init(_ entries: [Entry] = Self.all) {
    catalogue = Catalogue(Action.all.map { action in { action().command } }, entries.map(\.module))
    simulated = entries.map(\.simulated)
  }
}
