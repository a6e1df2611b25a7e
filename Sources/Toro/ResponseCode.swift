/// The words of a receipt's `responseCode` besides `approved` and `declined`: the documents name those
/// two alone, and these spellings are ours (README, 5.1).
enum ResponseCode {
  static let partiallyApproved = "partiallyApproved"
  static let suspended = "suspended"
  static let technical = "technicalError"
}
