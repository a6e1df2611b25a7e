internal import TenderModel

/// The provider, env and reference of a command, for the record of a later fault.
struct RecordSubject {
  var provider: ProviderName?
  var env: Env?
  var reference: String?
}
