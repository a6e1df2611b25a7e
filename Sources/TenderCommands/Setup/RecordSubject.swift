internal import TenderModel

/// The provider, env and reference of a command, for the record of a later fault.
struct RecordSubject {
  var provider: ProviderName?
  var env: Env?
  var reference: String?
  /// Whether it is part of a list. Then the journal must not be asked again while the list is read.
  var isListed = false
}
