type Named = { merchant_name: string }

/** A clearing without a purchase may have no merchant. */
export const merchantName = ({ merchant_name }: Named): string =>
  merchant_name === '' ? 'Unknown merchant' : merchant_name

/** Within a sentence. */
export const merchantText = ({ merchant_name }: Named): string =>
  merchant_name === '' ? 'an unknown merchant' : merchant_name
