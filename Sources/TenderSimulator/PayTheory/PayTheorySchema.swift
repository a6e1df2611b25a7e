/// The part of Pay Theory's published GraphQL schema of 2026 that the simulator answers.
///
/// If a document does not match this schema, the whole document is refused, as by the real server
/// (PayTheory/README, 6.3).
enum PayTheorySchema {
  static let schema = GraphQLSchema(text)

  private static let text = """
    scalar AWSJSON
    scalar AWSDateTime
    scalar AWSDate

    enum ConjunctiveOperator { AND_NEXT NONE_NEXT OR_NEXT }
    enum Operator {
      EQUAL EQUAL_FALSE EQUAL_TRUE GREATER_EQUAL GREATER_THAN IN_LIST IS_NOT_NULL IS_NULL LESS_EQUAL
      LESS_THAN LIKE NOT_EQUAL NOT_IN_LIST NOT_LIKE
    }
    enum SortDirection { ASC DESC }
    enum MoveDirection { BACKWARD FORWARD }
    enum AchReturnTransferType { CREDIT DEBIT }
    enum AvsStatus {
      NO_MATCH POSTAL_CODE_AND_STREET_MATCH POSTAL_CODE_MATCH STREET_MATCH UNKNOWN
    }
    enum DisputeStatus { INQUIRY LOST PENDING WON }
    enum FeeMode { CUSTOM_FEE INTERCHANGE MERCHANT_FEE SERVICE_FEE }
    enum TransactionReviewStatus {
      EXCEEDS_AUTH EXCEEDS_FEE_LIMIT EXCEEDS_THRESHOLD POTENTIAL_DUPLICATE
    }
    enum RefundReasonCode { DUPLICATE FRAUDULENT OTHER REQUESTED_BY_CUSTOMER }
    enum TransactionStatus {
      FAILED PARTIALLY_REFUNDED PENDING REFUNDED RETURNED SETTLED SUCCEEDED VOIDED
    }
    enum AuthorizationStatus { CANCELED FAILED SUCCEEDED }
    enum BarcodePaymentStatus { PAYMENT_ACCEPTED PAYMENT_DECLINED SYSTEM_ERROR }
    enum TransactionType { ACH_RETURN DEBIT FAILURE REVERSAL }
    enum BankAccountType {
      BUSINESS_CHECKING BUSINESS_SAVINGS PERSONAL_CHECKING PERSONAL_SAVINGS
    }
    enum CardType { BUSINESS_CREDIT BUSINESS_DEBIT CREDIT_CARD DEBIT_CARD PREPAID_CARD }
    enum CvvStatus { MATCH NO_MATCH UNKNOWN }
    enum PaymentType { ACH CARD CASH }
    enum WalletType { APPLE_PAY CLICK_TO_PAY GOOGLE_PAY PAZE SAMSUNG_PAY VISA_STAGED }
    enum HealthExpenseType { CLINICAL COPAY DENTAL HEALTHCARE RX TRANSIT VISION }

    input QueryPair {
      conjunctive_operator: ConjunctiveOperator
      in_values: [String]
      key: String
      operator: Operator
      query_group: [QueryPair]
      value: String
    }
    input SortPair { direction: SortDirection key: String }
    input SqlQuery { query_list: [QueryPair] sort_list: [SortPair] }
    input RefundReasonInput { reason_code: RefundReasonCode! reason_details: String }
    input SplitInput {
      amount: Int! merchant_uid: String! account_code: String reference: String metadata: AWSJSON
    }

    type AchReturnDetails {
      return_code: String
      return_details: String
      transfer_type: AchReturnTransferType
    }
    type RefundReason { reason_code: RefundReasonCode reason_details: String }
    type Payor {
      address_line1: String address_line2: String city: String country: String email: String
      full_name: String merchant_uid: String metadata(query_list: [QueryPair]): AWSJSON
      payor_id: String phone: String postal_code: String region: String
    }
    type PaymentMethodToken {
      address_line1: String address_line2: String bank_account_type: BankAccountType
      bank_code: String barcode_id: String card_brand: String card_type: CardType city: String
      country: String cvv_status: CvvStatus exp_date: String full_name: String is_active: Boolean
      issuing_country_code: String last_four: String merchant_uid: String
      metadata(query_list: [QueryPair]): AWSJSON payment_method_id: String
      payment_type: PaymentType payor(query_list: [QueryPair]): Payor postal_code: String
      region: String wallet_type: WalletType
    }
    type RecurringPayment { recurring_id: String reference: String }
    type Invoice { invoice_id: String reference: String }
    type ListMerchant { merchant_uid: String merchant_name: String }
    type Split { id: String! amount: Int! transaction_id: String! }
    type Transaction {
      account_code: String ach_return_details: AchReturnDetails authorization_id: String
      avs_status: AvsStatus currency: String device_id: String dispute_status: DisputeStatus
      failure_reasons: [String] fee_mode: FeeMode fees: Int
      flag_for_review: TransactionReviewStatus gross_amount: Int invoice: Invoice
      is_settled: Boolean merchant: ListMerchant merchant_uid: String
      metadata(query_list: [QueryPair]): AWSJSON net_amount: Int parent_id: String
      payment_method(query_list: [QueryPair]): PaymentMethodToken processor: String
      recurring: RecurringPayment reference: String refund_reason: RefundReason
      refund_voidable: Boolean refunded_amount: Int sale_id: String settlement_batch: Int
      splits: [Split] status: TransactionStatus timezone: String transaction_date: AWSDateTime
      transaction_id: String transaction_type: TransactionType updated_row_at: AWSDateTime
    }
    type Authorization {
      account_code: String amount: Int! authorization_date: AWSDateTime! authorization_id: String!
      avs_status: AvsStatus captured_amount: Int currency: String! device_id: String
      expiration_date: AWSDateTime failure_reasons: [String] fee_mode: FeeMode! fees: Int!
      invoice: Invoice merchant_uid: String! metadata: AWSJSON payment_method: PaymentMethodToken!
      processor: String reference: String sale_id: String status: AuthorizationStatus!
      timezone: String transaction_id: String updated_row_at: AWSDateTime
    }
    type Authorizations { items: [Authorization] total_row_count: Int }
    type Barcode {
      account_code: String amount: Int! barcode_id: String! barcode_url: String
      email_or_phone: String! expiration_date: AWSDate fees: Int full_name: String!
      invoice_id: String merchant_uid: String! metadata: AWSJSON payor: Payor payor_id: String
      reference: String sale_id: String
    }
    type BarcodePaymentResponse {
      confirmation_code: String! status: BarcodePaymentStatus! status_message: String!
    }
    type Transactions { items: [Transaction] total_row_count: Int }
    type PaymentMethodTokens { items: [PaymentMethodToken] total_row_count: Int }
    type ServiceFeeCalculation {
      adjusted_total: Int fee: Int fee_limit_reached: Boolean total: Int
    }
    type ReversalResponse { is_void: Boolean! transaction_id: String }

    type Query {
      transactions(
        query: SqlQuery, limit: Int, offset: String, direction: MoveDirection, offset_id: String
      ): Transactions
      paymentMethodTokens(
        query: SqlQuery, limit: Int, offset: String, direction: MoveDirection, offset_id: String
      ): PaymentMethodTokens
      serviceFee(
        merchant_uid: String!, amount: Int!, bank_id: String, payment_type: String,
        is_ach: Boolean, payment_method_id: String
      ): ServiceFeeCalculation!
      authorizations(
        query: SqlQuery, limit: Int, offset: String, direction: MoveDirection, offset_id: String
      ): Authorizations
      barcode(merchant_uid: ID!, barcode_id: String!): Barcode
    }
    type Mutation {
      createReversal(
        transaction_id: String!, amount: Int!, refund_reason: RefundReasonInput!,
        refund_email: String
      ): ReversalResponse!
      createTransaction(
        merchant_uid: String!, amount: Int!, payment_method_id: String, recurring_id: String,
        invoice_id: String, fee: Int, fee_mode: FeeMode, account_code: String, reference: String,
        send_receipt: Boolean, receipt_description: String, metadata: AWSJSON,
        health_expense_type: HealthExpenseType, one_time_use_token: Boolean, split: [SplitInput]
      ): Transaction!
      createAuthorization(
        merchant_uid: String!, sale_id: String, amount: Int!, payment_method_id: String,
        invoice_id: String, fee: Int, fee_mode: FeeMode, account_code: String, reference: String,
        metadata: AWSJSON, health_expense_type: HealthExpenseType, one_time_use_token: Boolean
      ): Authorization!
      createCapture(
        merchant_uid: String!, authorization_id: String!, amount: Int!, fee: Int,
        send_receipt: Boolean, receipt_description: String, allow_reauth: Boolean,
        allow_exceeded_amount: Boolean, split: [SplitInput]
      ): Transaction!
      createVoidForAuthorization(authorization_id: String!, void_amount: Int): Boolean
      updatePaymentMethodToDisabled(merchant_uid: ID!, payment_method_id: String!): Boolean!
      createBarcodePaymentSandbox(
        barcode_id: String!, amount_to_pay: Int!
      ): BarcodePaymentResponse!
    }
    """
}
