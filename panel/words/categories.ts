/** Merchant category codes (ISO 18245) with short names. */
const LINES = `
0742 Veterinary services
0763 Agricultural cooperatives
0780 Landscaping and gardening
1520 General building contractors
1711 Heating, plumbing, air conditioning
1731 Electrical contractors
1740 Masonry, tiling, plastering
1750 Carpentry
1761 Roofing and siding
1771 Concrete work
1799 Special trade contractors
2741 Publishing and printing
2842 Cleaning and polishing supplies
4011 Railways, freight
4111 Local and suburban transit
4112 Passenger railways
4119 Ambulance services
4121 Taxis and ride hailing
4131 Bus lines
4214 Movers, couriers by road
4215 Couriers, air and ground
4225 Storage and warehouses
4411 Cruise lines
4457 Boat rentals
4468 Marinas and supplies
4511 Airlines
4582 Airports and terminals
4722 Travel agencies
4784 Tolls and bridge fees
4789 Transportation, other
4812 Telephones and equipment
4814 Telecommunication services
4816 Computer networks, online services
4829 Money transfer
4899 Cable, satellite, streaming
4900 Utilities: power, gas, water
5013 Motor vehicle supplies, wholesale
5021 Office furniture, wholesale
5039 Construction materials
5044 Office and photo equipment
5045 Computers and peripherals
5046 Commercial equipment
5047 Medical and dental supplies
5065 Electrical parts
5072 Hardware supplies
5074 Plumbing and heating supplies
5085 Industrial supplies
5094 Precious stones and metals
5099 Durable goods, wholesale
5111 Stationery and office supplies
5122 Drugs, wholesale
5131 Fabrics and notions
5137 Uniforms
5139 Footwear, wholesale
5169 Chemicals
5172 Petroleum products
5192 Books and newspapers
5193 Florists' supplies
5198 Paints and varnishes
5199 Nondurable goods, wholesale
5200 Home supply warehouses
5211 Building materials
5231 Glass, paint, wallpaper
5251 Hardware stores
5261 Nurseries and garden supplies
5300 Wholesale clubs
5309 Duty-free stores
5310 Discount stores
5311 Department stores
5331 Variety stores
5399 General merchandise
5411 Grocery stores, supermarkets
5422 Butchers
5441 Confectionery
5451 Dairies
5462 Bakeries
5499 Convenience and specialty food
5511 Car dealers, new and used
5521 Car dealers, used
5531 Car and home supplies
5532 Tires
5533 Car parts
5541 Gas stations
5542 Automated fuel pumps
5551 Boat dealers
5561 RV dealers
5571 Motorcycle dealers
5599 Vehicle dealers, other
5611 Men’s clothing
5621 Women’s clothing
5631 Women’s accessories
5641 Children’s clothing
5651 Family clothing
5655 Sports clothing
5661 Shoe stores
5681 Furriers
5691 Clothing stores
5697 Tailors, alterations
5699 Clothing, other
5712 Furniture
5713 Floor coverings
5714 Drapery and upholstery
5719 Home furnishings
5722 Household appliances
5732 Electronics stores
5733 Music stores and instruments
5734 Software stores
5735 Record stores
5811 Caterers
5812 Restaurants
5813 Bars and nightclubs
5814 Fast food
5815 Digital goods: media
5816 Digital goods: games
5817 Digital goods: applications
5818 Digital goods: large merchants
5912 Pharmacies
5921 Wine, beer and spirits
5931 Secondhand stores
5932 Antiques
5933 Pawn shops
5940 Bicycles
5941 Sporting goods
5942 Bookstores
5943 Stationery shops
5944 Jewelry and watches
5945 Toys, games, hobbies
5946 Camera shops
5947 Gifts and souvenirs
5948 Luggage and leather
5949 Sewing and fabrics
5950 Glassware and crystal
5960 Direct marketing: insurance
5962 Direct marketing: travel
5964 Direct marketing: catalogs
5965 Direct marketing: catalog and retail
5966 Direct marketing: outbound calls
5967 Direct marketing: inbound calls, adult
5968 Direct marketing: subscriptions
5969 Direct marketing, other
5970 Art supplies
5971 Art dealers
5972 Stamps and coins
5973 Religious goods
5975 Hearing aids
5976 Orthopedic goods
5977 Cosmetics
5983 Fuel dealers
5992 Florists
5993 Tobacco
5994 News dealers
5995 Pet shops
5996 Swimming pools
5999 Specialty retail, other
6010 Cash at a counter
6011 ATMs
6012 Financial institutions
6050 Quasi cash, customer institutions
6051 Quasi cash, crypto, money orders
6211 Securities and brokers
6300 Insurance
6513 Rent and property management
6532 Payment at an institution
6533 Payment at a merchant
6536 Money transfer, domestic
6537 Money transfer, cross-border
6538 Account funding
6540 Stored value loads
7011 Hotels and lodging
7012 Timeshares
7032 Recreational camps
7033 Campgrounds
7210 Laundry services
7211 Laundries
7216 Dry cleaners
7217 Carpet cleaning
7221 Photo studios
7230 Hair and beauty salons
7251 Shoe repair
7261 Funeral services
7273 Dating services
7276 Tax preparation
7277 Counseling
7296 Clothing rental
7297 Massage
7298 Health and beauty spas
7299 Personal services, other
7311 Advertising
7321 Credit reporting
7333 Commercial photography and graphics
7338 Copying services
7342 Pest control
7349 Cleaning and maintenance
7361 Employment agencies
7372 Programming and data processing
7375 Information retrieval
7379 Computer repair
7392 Consulting and public relations
7393 Security services
7394 Equipment rental
7399 Business services, other
7512 Car rental
7513 Truck rental
7519 RV rental
7523 Parking
7531 Car body repair
7534 Tire repair
7535 Car painting
7538 Car service
7542 Car washes
7549 Towing
7622 Electronics repair
7623 Air conditioning repair
7629 Appliance repair
7631 Watch and jewelry repair
7641 Furniture repair
7699 Repair, other
7800 Government lotteries
7801 Government online casinos
7802 Horse and dog racing
7829 Movie production
7832 Movie theaters
7841 Video rental
7911 Dance halls and studios
7922 Theater and concert tickets
7929 Bands and orchestras
7932 Billiards
7933 Bowling
7941 Sports clubs and fields
7991 Tourist attractions
7992 Golf courses
7993 Video game supplies
7994 Arcades
7995 Betting and casinos
7996 Amusement parks
7997 Country clubs
7998 Aquariums and zoos
7999 Recreation, other
8011 Doctors
8021 Dentists
8031 Osteopaths
8041 Chiropractors
8042 Optometrists
8043 Opticians
8049 Podiatrists
8050 Nursing and care
8062 Hospitals
8071 Medical laboratories
8099 Medical services, other
8111 Legal services
8211 Schools
8220 Universities
8241 Correspondence schools
8244 Business schools
8249 Trade schools
8299 Educational services
8351 Child care
8398 Charities
8641 Civic and social associations
8651 Political organizations
8661 Religious organizations
8675 Automobile associations
8699 Membership organizations
8734 Testing laboratories
8911 Architects and surveyors
8931 Accountants
8999 Professional services, other
9211 Court costs
9222 Fines
9223 Bail
9311 Taxes
9399 Government services
9402 Postal services
9405 Government purchases
3000-3299 Airlines, by name
3300-3499 Car rental, by name
3500-3999 Hotels, by name`

export const categories: readonly (readonly [code: string, name: string])[] = LINES.trim()
  .split('\n')
  .map((line) => {
    const at = line.indexOf(' ')
    return [line.slice(0, at), line.slice(at + 1)] as const
  })

const names = new Map(categories)

/** The name of a code, or of the range it falls into. */
export function categoryName(code: string): string {
  const known = names.get(code)
  if (known !== undefined) return known
  const [first = '', last] = code.split('-')
  if (last !== undefined) return `${categoryName(first)} to ${categoryName(last).toLowerCase()}`
  const within = categories.find(([range]) => {
    const [from, to] = range.split('-')
    return from !== undefined && to !== undefined && code >= from && code <= to
  })
  return within?.[1].replace(', by name', '') ?? 'Other'
}
