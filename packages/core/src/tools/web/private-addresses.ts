/** Addresses of this machine, its network, or its cloud's own services, as opposed to the public web. */
import { BlockList, isIP } from "node:net"

const RANGES: readonly { readonly range: string; readonly what: string }[] = [
  { range: "0.0.0.0/8", what: "this machine" },
  { range: "10.0.0.0/8", what: "private" },
  { range: "100.64.0.0/10", what: "shared by a provider's customers; metadata at Alibaba" },
  { range: "127.0.0.0/8", what: "loopback" },
  { range: "168.63.129.16/32", what: "metadata at Azure" },
  { range: "169.254.0.0/16", what: "link-local; metadata at AWS, Google, Azure" },
  { range: "172.16.0.0/12", what: "private" },
  { range: "192.0.0.0/24", what: "protocol assignments; metadata at Oracle" },
  { range: "192.0.2.0/24", what: "documentation" },
  { range: "192.168.0.0/16", what: "private" },
  { range: "198.18.0.0/15", what: "benchmarks" },
  { range: "198.51.100.0/24", what: "documentation" },
  { range: "203.0.113.0/24", what: "documentation" },
  { range: "224.0.0.0/4", what: "multicast" },
  { range: "240.0.0.0/4", what: "reserved, broadcast" },
  { range: "::/96", what: "unspecified, loopback, IPv4 in an old form" },
  { range: "::ffff:0:0:0/96", what: "IPv4 translated" },
  { range: "64:ff9b::/96", what: "IPv4 behind NAT64" },
  { range: "64:ff9b:1::/48", what: "IPv4 behind a local NAT64" },
  { range: "100::/64", what: "discarded" },
  { range: "2001::/32", what: "Teredo, IPv4 inside" },
  { range: "2001:db8::/32", what: "documentation" },
  { range: "2002::/16", what: "6to4, IPv4 inside" },
  { range: "fc00::/7", what: "private; metadata at AWS" },
  { range: "fe80::/10", what: "link-local" },
  { range: "fec0::/10", what: "site-local" },
  { range: "ff00::/8", what: "multicast" },
]

const blocked = new BlockList()
for (const { range } of RANGES) {
  const [address, bits] = range.split("/") as [string, string]
  blocked.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4")
}

/** Whether an address is not on the public web. Anything that is not an address counts as private. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").split("%")[0]!
  const version = isIP(bare)
  // the list itself checks an IPv4 address written as IPv6 (::ffff:10.0.0.1) against the IPv4 ranges
  return version === 0 || blocked.check(bare, version === 6 ? "ipv6" : "ipv4")
}
