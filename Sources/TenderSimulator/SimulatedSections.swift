package import TenderModel
import TenderWire

/// What the simulated providers were given, under the keys of their sections: with it everything works
/// without an account.
package enum SimulatedSections {
  /// A provider's section; empty for one that is not simulated.
  package static func section(of provider: ProviderName) -> JSONObject {
    switch provider.text {
    case "paytheory":
      [
        "api_key": .string(PayTheoryCatalog.apiKey),
        "merchant_uid": .string(PayTheoryCatalog.merchantUID),
        "secret_key": .string(PayTheoryCatalog.secretKey),
      ]
    case "toro": ToroCatalog.section
    case "truelayer":
      [
        "client_id": .string(BankCatalog.clientID),
        "client_secret": .string(BankCatalog.clientSecret),
        "key_id": .string(BankCatalog.keyID), "private_key": .string(BankCatalog.privateKey),
      ]
    default: [:]
    }
  }
}

extension ToroCatalog {
  fileprivate static var section: JSONObject {
    [
      "device": "simulator", "passphrase": .string(passphrase), "key_id": .string(keyID),
      "key_version": .string(keyVersion), "card_key_version": .string(cardKeyVersion),
      "kdf": [
        "prf": "hmac-sha256", "salt": .string(salt), "iterations": .integer(iterations),
        "length": .integer(keyLength),
      ],
      "acquirer_id": .string(acquirerID), "merchant_id": .string(merchantID),
      "merchant_name": .string(merchantName), "merchant_category_code": .string(merchantCategory),
      "poi_id": .string(poiID), "recipient_id": .string(recipientID),
      "reader_serial": .string(readerSerial), "reader_key_set": .string(Hex.encode(readerKeySet)),
    ]
  }
}
