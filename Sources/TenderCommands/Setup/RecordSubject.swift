internal import TenderModel

/// The provider, env and reference of a command, for the record of a fault that comes later.
struct RecordSubject {
  var provider: ProviderName?
  var env: Env?
  var reference: String?
  /// Whether it is one of a list, whose reading no other question to the journal interrupts.
  var isListed = false
}
