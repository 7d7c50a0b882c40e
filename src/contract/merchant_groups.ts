/** Groups of merchant category codes (ISO 18245), for reports. */
const GROUPS = `
groceries      Groceries                 5411 5422 5441 5451 5462 5499 5921
restaurants    Restaurants and bars      5811-5814
travel         Travel and lodging        3000-3999 4411 4457 4468 4511 4582 4722-4723 7011-7012
travel         Travel and lodging        7032-7033 7512-7519
transport      Transport and parking     4011 4111-4131 4784 4789 7523
vehicles       Fuel and vehicles         5172 5511-5599 5983 7531-7549
software       Software and online       4816 5045 5734 5815-5818 7372 7375 7379
utilities      Phone and utilities       4812-4815 4821 4899-4900
entertainment  Entertainment             7800-7999
health         Health and pharmacy       4119 5047 5122 5912 5975-5976 8011-8099
education      Education and child care  8211-8351
home           Home and garden           0780 1500-1799 5200-5261 5712-5722
finance        Finance and cash          4829 5960 6000-6999
business       Business services         2741 7276 7311-7371 7373-7374 7376-7378 7380-7399
business       Business services         8111 8734 8911-8999
shipping       Shipping and storage      4214-4225 9402
personal       Personal care             5977 7210-7273 7277-7299
giving         Charity and memberships   8398-8699
government     Taxes and government      9211-9401 9403-9950
shopping       Shopping                  5013-5044 5046 5065-5111 5131-5169 5192-5199 5300-5399
shopping       Shopping                  5611-5699 5731-5733 5735 5931-5959 5961-5974 5978-5982
shopping       Shopping                  5992-5999`

const OTHER = { key: 'other', label: 'Other' } as const

type MerchantGroup = { key: string; label: string }

const groups = new Map<string, MerchantGroup & { codes: string[] }>()
for (const line of GROUPS.trim().split('\n')) {
  const [, key = '', label = '', codes = ''] = /^(\w+) +(.+?) {2,}([\d -]+)$/.exec(line) ?? []
  const group = groups.get(key) ?? { key, label, codes: [] }
  group.codes.push(...codes.split(' '))
  groups.set(key, group)
}

export const merchantGroupKeys = (): readonly string[] => [...groups.keys()]

const covers = (code: string, mcc: string): boolean => {
  const [first = '', last = first] = code.split('-')
  return mcc >= first && mcc <= last
}

/** The group of a merchant category code. */
export function merchantGroupOf(mcc: string): string {
  for (const { key, codes } of groups.values()) {
    if (codes.some((code) => covers(code, mcc))) return key
  }
  return OTHER.key
}

export function merchantGroupLabel(key: string): string {
  return groups.get(key)?.label ?? OTHER.label
}

/** The codes and ranges of a group. Empty for codes that are in no group. */
export function codesOfMerchantGroup(key: string): readonly string[] {
  return groups.get(key)?.codes ?? []
}
