/**
 * One GET over HTTP(S), within limits. If private addresses are forbidden, it connects to exactly the address it checked: each hop
 * resolves its name once. It follows a few redirects and checks each like the first.
 */
import { lookup as dnsLookup } from "node:dns/promises"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import { BlockList, isIP, type LookupFunction } from "node:net"
import { pipeline, type Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"

export interface GetOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
  /** None, all, or these. */
  readonly allowPrivateAddresses: boolean | readonly string[]
  /** Asked before each hop. The address is checked in any case. */
  readonly allowUrl?: (url: URL) => boolean | Promise<boolean>
  /** Called before a redirect is followed. To refuse it, throw a `FetchRefusedError`. */
  readonly checkRedirect?: (hop: { readonly from: URL; readonly to: URL }) => void
  /** Resolves a name to all its addresses. Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  /** Decides by the content type, before the body is read. */
  readonly wantsBody: (contentType: string) => boolean
}

export interface HttpAnswer {
  /** After redirects. */
  readonly url: URL
  readonly status: number
  readonly statusText: string
  readonly contentType: string
  /** As announced by the server. */
  readonly length?: number
  /** Missing if the body is not wanted. */
  readonly body?: Buffer
  /** The body was longer than allowed. */
  readonly isCut: boolean
}

/** The page was not fetched. The message says why. */
export class FetchRefusedError extends Error {
  override readonly name = "FetchRefusedError"
}

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const HEADERS = {
  "user-agent": "strata/0.1",
  accept: "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, br",
}

export async function httpGet(start: string, options: GetOptions): Promise<HttpAnswer> {
  let url = await checkUrl(start, options)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await send(url, options)
    const { statusCode = 0, headers } = response
    if (!REDIRECTS.has(statusCode) || headers.location === undefined) return read(response, url, options)
    response.destroy()
    const to = await checkUrl(headers.location, options, url)
    options.checkRedirect?.({ from: url, to })
    url = to
  }
  throw new FetchRefusedError(`more than ${MAX_REDIRECTS} redirects, the last one to ${url.href}`)
}

async function checkUrl(given: string, options: GetOptions, base?: URL): Promise<URL> {
  const url = URL.parse(given, base?.href)
  if (!url) throw new FetchRefusedError(`${JSON.stringify(given)} is not a URL`)
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new FetchRefusedError(`only http and https are fetched, not ${url.protocol}`)
  }
  if (url.username !== "" || url.password !== "")
    throw new FetchRefusedError("the URL contains a user name or a password")
  if ((await options.allowUrl?.(url)) === false) throw new FetchRefusedError(`${url.href} is not allowed`)
  return url
}

function send(url: URL, options: GetOptions): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  if (isIP(host) && !isAllowed(host, options)) throw refusedAddress(host, host) // no name, no lookup
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = url.protocol === "https:" ? httpsRequest : httpRequest
  request(url, { headers: HEADERS, signal: options.signal, agent: false, lookup: checkedLookup(options) }, resolve)
    .on("error", reject)
    .end()
  return promise
}

function checkedLookup(options: GetOptions): LookupFunction {
  const { resolve = resolveBySystem } = options
  return (name, { all }, callback) => {
    resolve(name)
      .then((addresses) => {
        const refused = addresses.find((address) => !isAllowed(address, options))
        if (refused !== undefined) throw refusedAddress(name, refused)
        if (addresses.length === 0) throw new FetchRefusedError(`${name} has no address`)
        const found = addresses.map((address) => ({ address, family: isIP(address) }))
        if (all) callback(null, found)
        else callback(null, found[0]!.address, found[0]!.family)
      })
      .catch((error) => callback(error, "", 0))
  }
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  return (await dnsLookup(name, { all: true })).map(({ address }) => address)
}

function isAllowed(address: string, { allowPrivateAddresses: allowed }: GetOptions): boolean {
  return (typeof allowed === "boolean" ? allowed : allowed.includes(address)) || !isPrivateAddress(address)
}

const refusedAddress = (name: string, address: string) =>
  new FetchRefusedError(
    `${name}${name === address ? "" : ` (${address})`} is this machine or a private network, which is not allowed`,
  )

async function read(response: IncomingMessage, url: URL, options: GetOptions): Promise<HttpAnswer> {
  const { statusCode = 0, statusMessage = "", headers } = response
  const contentType = headers["content-type"] ?? ""
  const length = Number(headers["content-length"])
  const answer = {
    url,
    status: statusCode,
    statusText: statusMessage,
    contentType,
    ...(Number.isSafeInteger(length) ? { length } : {}),
  }
  if (!options.wantsBody(contentType)) {
    response.destroy()
    return { ...answer, isCut: false }
  }
  return { ...answer, ...(await collect(response, options.maxBytes)) }
}

/** Counts unpacked bytes, so that a small answer cannot become a large one. */
async function collect(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Pick<HttpAnswer, "isCut"> & { body: Buffer }> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of unpacked(response) as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxBytes) break
    }
  } finally {
    response.destroy()
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: bytes > maxBytes }
}

function unpacked(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase()
  if (encoding === "identity") return response
  const unpacker = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    encoding
  ]
  if (!unpacker) throw new FetchRefusedError(`the answer has an unknown encoding: ${encoding}`)
  return pipeline(response, unpacker(), () => undefined) // the reader gets the error
}

/** Addresses of this machine, its network, or its cloud's own services, as opposed to the public web. */
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
  { range: "64:ff9b::/96", what: "IPv4 through NAT64" },
  { range: "64:ff9b:1::/48", what: "IPv4 through a local NAT64" },
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
