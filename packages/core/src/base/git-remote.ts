/**
 * The address of a repository's remote, as its config file has it. The file is only read: nothing that it includes is followed, and git is
 * not run. Two spellings of one address are one, and no credential is part of it.
 */
import { join } from "node:path"
import { readPlainFile } from "./plain-file.ts"

const MOST_CONFIG_BYTES = 1_000_000
const PREFERRED = "origin"
const LONGEST_ADDRESS = 2_000 // characters

/** Such as `github.com/acme/shop`. `origin` counts first, else the first by name. Remotes on this machine do not count. */
export async function remoteAddress(commonDirectory: string): Promise<string | undefined> {
  const addresses = new Map<string, string>()
  for (const [name, url] of await remoteUrls(commonDirectory)) {
    const address = addressIn(url)
    if (address !== undefined) addresses.set(name, address)
  }
  const [first] = [...addresses.keys()].sort()
  return addresses.get(PREFERRED) ?? (first === undefined ? undefined : addresses.get(first))
}

/** The first address of each remote, by its name, as it is written: it may have credentials in it. */
export async function remoteUrls(commonDirectory: string): Promise<ReadonlyMap<string, string>> {
  const bytes = await readPlainFile(join(commonDirectory, "config"), MOST_CONFIG_BYTES).catch(() => undefined)
  return bytes === undefined ? new Map() : remotesIn(bytes.toString("utf8"))
}

const SECTION = /^\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\]/
const URL_LINE = /^url[ \t]*=(.*)$/is

function remotesIn(config: string): ReadonlyMap<string, string> {
  const remotes = new Map<string, string>()
  let name: string | undefined
  // a backslash at the end of a line joins it with the next
  for (const raw of config.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    let line = raw.trim()
    const heading = SECTION.exec(line)
    if (heading) {
      name = heading[1]!.toLowerCase() === "remote" ? heading[2]?.replace(/\\(.)/g, "$1") : undefined
      line = line.slice(heading[0].length).trim()
    }
    const value = name === undefined ? undefined : URL_LINE.exec(line)?.[1]
    if (value !== undefined && !remotes.has(name!)) remotes.set(name!, configValue(value))
  }
  return remotes
}

/** As git reads it: quotes join parts, a backslash takes the next character as it is, and a comment ends it. */
function configValue(text: string): string {
  let value = ""
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') isQuoted = !isQuoted
    else if (character === "\\") value += text[++at] ?? ""
    else if (!isQuoted && (character === "#" || character === ";")) break
    else value += character
  }
  return value.trim()
}

/** Of protocols that lead to another machine: the port that need not be named. */
const USUAL_PORTS: Readonly<Record<string, string>> = {
  "https:": "443",
  "http:": "80",
  "ssh:": "22",
  "git+ssh:": "22",
  "ssh+git:": "22",
  "git:": "9418",
  "ftp:": "21",
  "ftps:": "990",
}

/** `user@host:path`. One letter before the colon is a drive, and two colons name a program. */
const SHORT = /^(?:[^@/:[\]]*@)?(\[[^[\]/]+\]|[^@/:[\]]{2,}):(?!:)(.+)$/s
const SHORT_WITH_PORT = /^\[(?:[^@/:[\]]*@)?([^@/:[\]]+):(\d+)\]:(.+)$/s

/** An address without credentials, usual port, `.git` and slash at the end. `undefined`: it names no other machine, or it may hold a secret. */
export function addressIn(url: string): string | undefined {
  if (url.length > LONGEST_ADDRESS || !/^[^\s\p{Cc}]+$/u.test(url)) return undefined
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return ofUrl(url)
  const withPort = SHORT_WITH_PORT.exec(url)
  if (withPort) return joined({ host: withPort[1]!, port: portOf("ssh:", withPort[2]!), path: withPort[3]! })
  const short = SHORT.exec(url)
  return short ? joined({ host: short[1]!, port: "", path: short[2]! }) : undefined
}

function ofUrl(text: string): string | undefined {
  const protocol = /^[^:]+:/.exec(text)![0].toLowerCase()
  if (!Object.hasOwn(USUAL_PORTS, protocol)) return undefined
  // the rules of https for all of them: host in lower case, dots in the path resolved
  const url = URL.parse(`https:${text.slice(protocol.length)}`)
  if (url === null || url.search !== "" || url.hash !== "") return undefined
  const given = /^[^:]+:\/\/(?:[^/@]*@)*[^/@]*?:(\d+)(?:\/|$)/.exec(text)?.[1] ?? ""
  return joined({ host: url.hostname, port: portOf(protocol, given), path: url.pathname })
}

const portOf = (protocol: string, port: string): string => {
  const plain = port.replace(/^0+(?=\d)/, "")
  return plain === USUAL_PORTS[protocol] ? "" : plain
}

interface AddressParts {
  readonly host: string
  readonly port: string
  readonly path: string
}

/** Names this machine, whichever it is. */
const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/

function joined({ host: given, port, path }: AddressParts): string | undefined {
  const host = given.toLowerCase().replace(/\.$/, "")
  const repository = path
    .replace(/^\/+|\/+$/g, "")
    .replace(/\/{2,}/g, "/")
    .replace(/\.git$/, "")
    .replace(/\/+$/, "")
  // with an @ in the path, what comes before it may be a password that was written in the wrong place
  if (host === "" || repository === "" || LOOPBACK.test(host) || /[@?#]/.test(repository)) return undefined
  return `${host}${port === "" ? "" : `:${port}`}/${repository}`
}
