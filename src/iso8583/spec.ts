/** Digits; letters, digits and spaces; printable text; bytes written as hex; track data. */
export type Kind = 'n' | 'an' | 'ans' | 'b' | 'z'

/**
 * What may be shown of an element: all of it, the first six and last four digits, only its length
 * in stars, nothing, or all but the link's hidden tags.
 */
export type Show = 'plain' | 'pan' | 'stars' | 'drop' | 'tags'

/** The length counts characters, or bytes for kind b; ll is how many digits its prefix has. */
export type ElementRow = readonly [
  name: string,
  kind: Kind,
  length_max: number,
  ll: 0 | 1 | 2 | 3 | 4,
  show: Show,
]

export type ElementTable = Readonly<Record<number, ElementRow>>

/**
 * The data elements of ISO 8583:1987 that we speak, as the network-independent part of every link.
 * An element that is not here is refused: without its length nothing behind it can be read.
 */
export const elements_1987: ElementTable = {
  2: ['primary_account_number', 'n', 19, 2, 'pan'],
  3: ['processing_code', 'n', 6, 0, 'plain'],
  4: ['amount_transaction', 'n', 12, 0, 'plain'],
  5: ['amount_settlement', 'n', 12, 0, 'plain'],
  6: ['amount_cardholder_billing', 'n', 12, 0, 'plain'],
  7: ['transmission_date_time', 'n', 10, 0, 'plain'],
  9: ['conversion_rate_settlement', 'n', 8, 0, 'plain'],
  10: ['conversion_rate_cardholder_billing', 'n', 8, 0, 'plain'],
  11: ['system_trace_audit_number', 'n', 6, 0, 'plain'],
  12: ['time_local_transaction', 'n', 6, 0, 'plain'],
  13: ['date_local_transaction', 'n', 4, 0, 'plain'],
  14: ['date_expiration', 'n', 4, 0, 'stars'],
  15: ['date_settlement', 'n', 4, 0, 'plain'],
  16: ['date_conversion', 'n', 4, 0, 'plain'],
  18: ['merchant_category_code', 'n', 4, 0, 'plain'],
  19: ['acquiring_institution_country_code', 'n', 3, 0, 'plain'],
  20: ['primary_account_number_country_code', 'n', 3, 0, 'plain'],
  22: ['point_of_service_entry_mode', 'n', 3, 0, 'plain'],
  23: ['card_sequence_number', 'n', 3, 0, 'plain'],
  25: ['point_of_service_condition_code', 'n', 2, 0, 'plain'],
  26: ['point_of_service_pin_capture_code', 'n', 2, 0, 'plain'],
  28: ['amount_transaction_fee', 'an', 9, 0, 'plain'],
  32: ['acquiring_institution_id', 'n', 11, 2, 'plain'],
  33: ['forwarding_institution_id', 'n', 11, 2, 'plain'],
  35: ['track_2_data', 'z', 37, 2, 'drop'],
  36: ['track_3_data', 'z', 104, 3, 'drop'],
  37: ['retrieval_reference_number', 'an', 12, 0, 'plain'],
  38: ['authorization_code', 'an', 6, 0, 'plain'],
  39: ['response_code', 'an', 2, 0, 'plain'],
  41: ['card_acceptor_terminal_id', 'ans', 8, 0, 'plain'],
  42: ['card_acceptor_id', 'ans', 15, 0, 'plain'],
  43: ['card_acceptor_name_location', 'ans', 40, 0, 'plain'],
  44: ['additional_response_data', 'ans', 25, 2, 'plain'],
  45: ['track_1_data', 'ans', 76, 2, 'drop'],
  48: ['additional_data_private', 'ans', 999, 3, 'tags'],
  49: ['currency_code_transaction', 'n', 3, 0, 'plain'],
  50: ['currency_code_settlement', 'n', 3, 0, 'plain'],
  51: ['currency_code_cardholder_billing', 'n', 3, 0, 'plain'],
  52: ['pin_data', 'b', 8, 0, 'drop'],
  53: ['security_control_information', 'n', 16, 0, 'plain'],
  54: ['additional_amounts', 'an', 120, 3, 'plain'],
  55: ['icc_data', 'b', 255, 3, 'drop'],
  56: ['reserved_iso_56', 'ans', 999, 3, 'plain'],
  60: ['reserved_national_60', 'ans', 999, 3, 'plain'],
  61: ['reserved_national_61', 'ans', 999, 3, 'plain'],
  62: ['reserved_private_62', 'ans', 999, 3, 'plain'],
  63: ['reserved_private_63', 'ans', 999, 3, 'plain'],
  64: ['message_authentication_code', 'b', 8, 0, 'plain'],
  70: ['network_management_information_code', 'n', 3, 0, 'plain'],
  90: ['original_data_elements', 'n', 42, 0, 'plain'],
  95: ['replacement_amounts', 'an', 42, 0, 'plain'],
  100: ['receiving_institution_id', 'n', 11, 2, 'plain'],
  102: ['account_identification_1', 'ans', 28, 2, 'plain'],
  103: ['account_identification_2', 'ans', 28, 2, 'plain'],
  120: ['reserved_private_120', 'ans', 999, 3, 'plain'],
  123: ['reserved_private_123', 'ans', 255, 3, 'drop'],
  126: ['reserved_private_126', 'ans', 255, 3, 'drop'],
  128: ['message_authentication_code_secondary', 'b', 8, 0, 'plain'],
}
