import TenderModel

/// An event that TrueLayer publishes by webhook, in the documented members ([DOC] payment, mandate, refund and payout
/// webhooks; TrueLayer/README, 10.8).
struct BankEvent {
  let type: String
  /// Milliseconds since 1970.
  let at: Int
  /// The members after `type`, `event_version` and `event_id`.
  private let members: JSONObject

  /// Creates the event of a status that a payment or mandate entered; nil if TrueLayer publishes none.
  init?(_ resource: BankResource, _ status: BankResource.Status) {
    guard let time = resource.times[status] else { return nil }
    let isPayment = resource.kind == .payment
    switch status {
    case .authorized, .failed: break
    case .executed, .settled: guard isPayment else { return nil }
    case .revoked: guard !isPayment else { return nil }
    case .authorizationRequired, .authorizing, .attemptFailed: return nil
    }
    let order = resource.order
    type = "\(resource.kind.rawValue)_\(status.rawValue)"
    at = time
    var members: JSONObject = [:]
    members[order.kind.parameter] = resource.id.json
    members["\(status.rawValue)_at"] = Timestamp.milliText(time).json
    if isPayment { members["payment_method"] = .object(order.method(resource.selection)) }
    switch status {
    case .failed:
      members["failure_stage"] = resource.failure?.stage.json
      members["failure_reason"] = resource.failure?.reason.json
    case .executed: members["payment_source"] = .object(BankScreens.source)
    case .settled:
      var source = BankScreens.source
      source["id"] = resource.userID.json
      members["payment_source"] = .object(source)
      members["user_id"] = resource.userID.json
    case .revoked:
      members["revocation_source"] = resource.isRevokedByPayer ? "provider" : "client"
    case .authorized where !isPayment:
      members["statement_reference"] = order.shown(resource.id, resource.selection)["reference"]
    default: break
    }
    members["metadata"] = order.metadata?.json
    self.members = members
  }

  /// Creates the event of a refund or payout that has ended.
  init(_ transfer: BankTransfer, at time: Int) {
    let end = transfer.status == .executed ? "executed" : "failed"
    type = (transfer.isPayout ? "payout_" : "refund_") + end
    at = time
    var members: JSONObject = [:]
    members[transfer.isPayout ? "payout_id" : "refund_id"] = transfer.id.json
    if !transfer.isPayout { members["payment_id"] = transfer.payment.json }
    members["\(end)_at"] = Timestamp.milliText(time).json
    members["failure_reason"] = transfer.failureReason?.json
    if transfer.isPayout {
      let payee = transfer.payout?["beneficiary"]
      let isSource = payee?["type"] == "payment_source"
      members["beneficiary"] = [
        "type": payee?["type"], "payment_source_id": isSource ? payee?["payment_source_id"] : nil,
        "user_id": isSource ? payee?["user_id"] : nil,
      ]
      members["merchant_account_id"] = isSource ? transfer.account?.json : nil
    }
    if transfer.status == .executed {
      members["scheme_id"] =
        transfer.payout?["scheme_id"] ?? BankCatalog.schemes(transfer.currency).last?.json
    }
    members["metadata"] = transfer.metadata?.json
    self.members = members
  }

  func body(id: String) -> JSONObject {
    let head: JSONObject = ["type": type.json, "event_version": 1, "event_id": id.json]
    return JSONObject(head.members + members.members)
  }
}
