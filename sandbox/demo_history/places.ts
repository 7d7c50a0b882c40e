/** The merchants of the demo: name, category code, country, and the usual amounts. */
export type Place = {
  name: string
  mcc: string
  country: string
  usd: readonly [from: number, to: number]
  entry_mode: 'contactless' | 'chip' | 'ecommerce' | 'credential_on_file'
  currency: 'USD' | 'EUR' | 'GBP'
}

const place = (
  name: string,
  mcc: string,
  usd: Place['usd'],
  rest: Partial<Omit<Place, 'name' | 'mcc' | 'usd'>> = {},
): Place => ({
  name,
  mcc,
  usd,
  country: 'US',
  currency: 'USD',
  entry_mode: 'contactless',
  ...rest,
})

export const everyday: readonly Place[] = [
  place('Green Basket Market', '5411', [14, 92]),
  place('Corner Grocery', '5411', [4, 28]),
  place('Blue Door Coffee', '5814', [3.5, 9.8]),
  place('Noodle Lane', '5812', [11, 34]),
  place('Harbor Bakery', '5462', [4, 17]),
  place('City Transit', '4111', [2.75, 2.75]),
  place('Northside Fuel', '5541', [28, 64], { entry_mode: 'chip' }),
  place('Page & Spine Books', '5942', [9, 46]),
  place('Maple Pharmacy', '5912', [6, 38]),
  place('Lantern Cinema', '7832', [12, 31]),
  place('Paper Crane Online', '5999', [12, 120], { entry_mode: 'ecommerce' }),
  place('Threadbare Clothing', '5651', [24, 140], { entry_mode: 'ecommerce' }),
]

export const abroad: readonly Place[] = [
  place('Cafe Miramar', '5814', [3, 14], { country: 'PT', currency: 'EUR' }),
  place('Hotel Alvorada', '7011', [88, 170], {
    country: 'PT',
    currency: 'EUR',
    entry_mode: 'chip',
  }),
  place('Kings Road Bistro', '5812', [18, 62], { country: 'GB', currency: 'GBP' }),
  place('Tramway Lisboa', '4111', [2, 7], { country: 'PT', currency: 'EUR' }),
]

export const subscriptions: readonly Place[] = [
  place('Streamhouse', '4899', [15.49, 15.49], { entry_mode: 'credential_on_file' }),
  place('Cloudshelf Storage', '7372', [9.99, 9.99], { entry_mode: 'credential_on_file' }),
  place('Morning Paper', '5968', [17, 17], { entry_mode: 'credential_on_file' }),
  place('Tonebox Music', '5815', [10.99, 10.99], { entry_mode: 'credential_on_file' }),
]

export const agent_shops: readonly Place[] = [
  place('Model Gateway', '7372', [4, 42], { entry_mode: 'ecommerce' }),
  place('Vector Cloud', '7372', [12, 88], { entry_mode: 'ecommerce' }),
  place('Office Supply Depot', '5943', [8, 61], { entry_mode: 'ecommerce' }),
  place('Dataset Exchange', '5818', [19, 75], { entry_mode: 'ecommerce' }),
]

export const risky: Place = place('Lucky Seven Casino', '7995', [40, 90], {
  entry_mode: 'ecommerce',
})
