import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** Returns a test for addresses that may connect. An empty list allows every address. */
export function peerFilter(peers: readonly string[]): (address: string) => boolean {
  if (peers.length === 0) return () => true
  const allowed = new BlockList()
  for (const peer of peers) {
    const [address = '', bits] = peer.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    if (bits === undefined) allowed.addAddress(address, family)
    else allowed.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    if (isIPv4(address)) return allowed.check(address, 'ipv4')
    return isIPv6(address) && allowed.check(address, 'ipv6')
  }
}
