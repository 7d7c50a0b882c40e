/** ISO 4217: numeric code, letters, and the number of decimals unless it is two. */
const CURRENCIES = `
  784AED 971AFN 008ALL 051AMD 532ANG 973AOA 032ARS 036AUD 533AWG 944AZN 977BAM 052BBD 050BDT 975BGN
  048BHD3 108BIF0 060BMD 096BND 068BOB 986BRL 044BSD 064BTN 072BWP 933BYN 084BZD 124CAD 976CDF
  756CHF 152CLP0 156CNY 170COP 188CRC 192CUP 132CVE 203CZK 262DJF0 208DKK 214DOP 012DZD 818EGP
  232ERN 230ETB 978EUR 242FJD 238FKP 826GBP 981GEL 936GHS 292GIP 270GMD 324GNF0 320GTQ 328GYD 344HKD
  340HNL 332HTG 348HUF 360IDR 376ILS 356INR 368IQD3 364IRR 352ISK0 388JMD 400JOD3 392JPY0 404KES
  417KGS 116KHR 174KMF0 408KPW 410KRW0 414KWD3 136KYD 398KZT 418LAK 422LBP 144LKR 430LRD 426LSL
  434LYD3 504MAD 498MDL 969MGA 807MKD 104MMK 496MNT 446MOP 929MRU 480MUR 462MVR 454MWK 484MXN 458MYR
  943MZN 516NAD 566NGN 558NIO 578NOK 524NPR 554NZD 512OMR3 590PAB 604PEN 598PGK 608PHP 586PKR 985PLN
  600PYG0 634QAR 946RON 941RSD 643RUB 646RWF0 682SAR 090SBD 690SCR 938SDG 752SEK 702SGD 654SHP
  925SLE 706SOS 968SRD 728SSP 930STN 222SVC 760SYP 748SZL 764THB 972TJS 934TMT 788TND3 776TOP 949TRY
  780TTD 901TWD 834TZS 980UAH 800UGX0 840USD 858UYU 860UZS 926VED 928VES 704VND0 548VUV0 882WST
  950XAF0 951XCD 952XOF0 953XPF0 886YER 710ZAR 967ZMW 924ZWG`

export type Currency = { numeric: string; letters: string; decimals: number }

const DECIMALS_STANDARD = 2

const currencies: readonly Currency[] = CURRENCIES.trim()
  .split(/\s+/)
  .map((row) => ({
    numeric: row.slice(0, 3),
    letters: row.slice(3, 6),
    decimals: row.length > 6 ? Number(row.slice(6)) : DECIMALS_STANDARD,
  }))

const by_numeric = new Map(currencies.map((currency) => [currency.numeric, currency]))
const by_letters = new Map(currencies.map((currency) => [currency.letters, currency]))

export const currencyOfNumber = (numeric: string): Currency | null =>
  by_numeric.get(numeric) ?? null
export const currencyOfLetters = (letters: string): Currency | null =>
  by_letters.get(letters) ?? null

/**
 * The JSON number of an amount in minor units. Element 4 has 12 digits, so both operands of the
 * division are exact and the result is the nearest double to the decimal amount.
 */
export function amountFromMinor(minor: bigint, currency: string): number {
  return Number(minor) / 10 ** decimalsOf(currency)
}

/** With all decimals of the currency, for people. */
export function amountText(minor: bigint, currency: string): string {
  const decimals = decimalsOf(currency)
  const digits = minor.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
}

const decimalsOf = (currency: string): number =>
  by_letters.get(currency)?.decimals ?? DECIMALS_STANDARD
