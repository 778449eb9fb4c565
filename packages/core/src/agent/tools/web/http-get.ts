/**
 * One GET request over HTTP(S), within limits. If private addresses are forbidden, it connects exactly to the address it checked: each hop
 * resolves its name once. A few redirects are followed, each checked like the first address.
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
  /** Whether private addresses are allowed: none, all, or a list. */
  readonly allowPrivateAddresses: boolean | readonly string[]
  /** Called before each hop. The address is checked additionally. */
  readonly allowUrl?: (url: URL) => boolean | Promise<boolean>
  /** Called before a redirect is followed. Throws a `FetchRefusedError` to refuse it. */
  readonly checkRedirect?: (hop: { readonly from: URL; readonly to: URL }) => void
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  /** Decides by content type whether to read the body. */
  readonly wantsBody: (contentType: string) => boolean
}

export interface HttpResponse {
  /** The URL after redirects. */
  readonly url: URL
  readonly status: number
  readonly statusText: string
  readonly contentType: string
  /** Length announced by the server. */
  readonly length?: number
  /** The body, unless `wantsBody` declined it. */
  readonly body?: Buffer
  /** Whether the body was longer than allowed. */
  readonly isCut: boolean
}

/** The page was not fetched. The message states the reason. */
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

export async function httpGet(start: string, options: GetOptions): Promise<HttpResponse> {
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
  if (isIP(host) && !isAllowed(host, options)) throw refusedAddress(host, host) // without a name, there is no lookup
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = url.protocol === "https:" ? httpsRequest : httpRequest
  request(url, { headers: HEADERS, signal: options.signal, agent: false, lookup: createLookup(options) }, resolve)
    .on("error", reject)
    .end()
  return promise
}

function createLookup(options: GetOptions): LookupFunction {
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

async function read(response: IncomingMessage, url: URL, options: GetOptions): Promise<HttpResponse> {
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

/** Reads the body. Counts decompressed bytes, so that a small response cannot expand without limit. */
async function collect(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Pick<HttpResponse, "isCut"> & { body: Buffer }> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of decompress(response) as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > maxBytes) break
    }
  } finally {
    response.destroy()
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: bytes > maxBytes }
}

function decompress(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase()
  if (encoding === "identity") return response
  const unpacker = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    encoding
  ]
  if (!unpacker) throw new FetchRefusedError(`the answer has an unknown encoding: ${encoding}`)
  return pipeline(response, unpacker(), () => undefined) // the reader receives the error
}

/** Address ranges of this machine, its network, or its cloud provider, as opposed to the public web. */
const RANGES: readonly { readonly range: string; readonly label: string }[] = [
  { range: "0.0.0.0/8", label: "this machine" },
  { range: "10.0.0.0/8", label: "private" },
  { range: "100.64.0.0/10", label: "shared by a provider's customers; metadata at Alibaba" },
  { range: "127.0.0.0/8", label: "loopback" },
  { range: "168.63.129.16/32", label: "metadata at Azure" },
  { range: "169.254.0.0/16", label: "link-local; metadata at AWS, Google, Azure" },
  { range: "172.16.0.0/12", label: "private" },
  { range: "192.0.0.0/24", label: "protocol assignments; metadata at Oracle" },
  { range: "192.0.2.0/24", label: "documentation" },
  { range: "192.168.0.0/16", label: "private" },
  { range: "198.18.0.0/15", label: "benchmarks" },
  { range: "198.51.100.0/24", label: "documentation" },
  { range: "203.0.113.0/24", label: "documentation" },
  { range: "224.0.0.0/4", label: "multicast" },
  { range: "240.0.0.0/4", label: "reserved, broadcast" },
  { range: "::/96", label: "unspecified, loopback, IPv4 in an old form" },
  { range: "::ffff:0:0:0/96", label: "IPv4 translated" },
  { range: "64:ff9b::/96", label: "IPv4 through NAT64" },
  { range: "64:ff9b:1::/48", label: "IPv4 through a local NAT64" },
  { range: "100::/64", label: "discarded" },
  { range: "2001::/32", label: "Teredo, IPv4 inside" },
  { range: "2001:db8::/32", label: "documentation" },
  { range: "2002::/16", label: "6to4, IPv4 inside" },
  { range: "fc00::/7", label: "private; metadata at AWS" },
  { range: "fe80::/10", label: "link-local" },
  { range: "fec0::/10", label: "site-local" },
  { range: "ff00::/8", label: "multicast" },
]

const blocked = new BlockList()
for (const { range } of RANGES) {
  const [address, bits] = range.split("/") as [string, string]
  blocked.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4")
}

/** Whether an address is not on the public web. Invalid addresses count as private. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").split("%")[0]!
  const version = isIP(bare)
  // the block list checks IPv4 addresses in IPv6 form (::ffff:10.0.0.1) against the IPv4 ranges
  return version === 0 || blocked.check(bare, version === 6 ? "ipv6" : "ipv4")
}
