/** `strata doctor`: checks what `strata wrap` needs, one line each. */

import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdir, realpath, rm, statfs, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { strataDirectory } from "@strata/core"
import { sandboxSentence, systemSandbox } from "@strata/core/agent"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { connectThroughProxy } from "../connection.ts"
import type { Terminal } from "../display/terminal.ts"
import { indent, padEnd, wrapText } from "../display/text.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { nodeProblem } from "../node-version.ts"
import { type Announcement, listAnnouncements } from "../proxy/announcement.ts"
import { DOCTOR } from "../proxy/descriptions.ts"
import { displayAddress, isPublic, namedUpstream, publicApi, skipProxies } from "../proxy/upstream.ts"
import { type BaseUrlInForce, baseUrlInForce, claudeVariable } from "../wrap/base-url.ts"
import { CLIENT_NAMES, type ClientName } from "../wrap/client-names.ts"
import { describeStoreProblem, openBriefStore } from "./brief-store.ts"
import { type CheckResult, ok, problem, reasonOf } from "./check.ts"
import { checkPlugin } from "./plugin.ts"
import { checkCache, checkUpstream } from "./server.ts"

// Facts about a client: its version, its base URL, and whether its tools load on demand.

const VERSION_TIMEOUT_MS = 20_000

type ClientContext = Pick<CommandCall, "cwd" | "env">

/** Version of the client, or `undefined` if it is not installed. */
export function clientVersion(client: ClientName, { cwd, env }: ClientContext): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      client,
      ["--version"],
      { cwd, env: env as NodeJS.ProcessEnv, timeout: VERSION_TIMEOUT_MS, shell: process.platform === "win32" },
      (error, stdout, stderr) => {
        if ((error as NodeJS.ErrnoException | null)?.code === "ENOENT") return resolve(undefined)
        const line = `${stdout}\n${stderr}`.split("\n").find((text) => /\d+\.\d+/.test(text))
        resolve(error && !line ? "found, but it does not say its version" : (line?.trim() ?? "found"))
      },
    )
  })
}

export function checkBaseUrl(inForce: BaseUrlInForce | undefined, proxies: readonly Announcement[]): CheckResult {
  const name = "base URL"
  if (!inForce) return ok(name, "the public API; strata wrap sets another for one command")
  const { url, file } = inForce
  const from = file ?? "ANTHROPIC_BASE_URL"
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return problem(name, `${from} has one that is not a URL. Use one that starts with http:// or https://.`)
  if (proxies.some((proxy) => url.startsWith(proxy.url))) return ok(name, `a running Strata proxy, from ${from}`)
  return ok(name, `${displayAddress(url)}, from ${from}; strata wrap puts itself in front of it`)
}

/** If the base URL is not Claude's own, on-demand tools are enabled only by a variable. */
export async function checkTools(inForce: BaseUrlInForce | undefined, place: ClientContext): Promise<CheckResult> {
  const name = "on-demand tools"
  const set = (await claudeVariable("ENABLE_TOOL_SEARCH", place))?.value ?? place.env.ENABLE_TOOL_SEARCH
  if (set !== undefined && /^(?:false|0|no|off)$/i.test(set))
    return problem(name, `ENABLE_TOOL_SEARCH is ${set}: every tool is sent with every request. Unset it.`)
  if (set !== undefined) return ok(name, `on: ENABLE_TOOL_SEARCH is ${set}`)
  if (inForce && !isPublic(inForce.url))
    return problem(name, "off, because of the base URL. Set ENABLE_TOOL_SEARCH=true, or use strata wrap claude.")
  return ok(name, "on; strata wrap keeps them on")
}

// Checks of this machine: a Node that runs Strata, a port on loopback, and disk space for journals.

const MIN_FREE = 500_000_000 // bytes, enough for a day of long conversations
const GIGABYTE = 1e9

export function checkNode(): CheckResult {
  const wrong = nodeProblem(process.versions.node)
  return wrong === undefined ? ok("Node", process.versions.node) : problem("Node", wrong)
}

/** A missing sandbox is not a problem, because Strata works without one. */
export async function checkSandbox(): Promise<CheckResult> {
  return ok("sandbox", sandboxSentence("unasked", await systemSandbox()))
}

export async function checkPort(port = 0): Promise<CheckResult> {
  const server = createServer()
  server.listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
    return ok("port", port === 0 ? "this machine can be listened on" : `${port} is free`)
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "another program uses it" : reasonOf(error)
    return problem("port", `${port} cannot be used: ${why}. Choose another with --port, or leave it out.`)
  } finally {
    server.close()
  }
}

export async function checkDisk(env: CommandCall["env"]): Promise<CheckResult> {
  const directory = strataDirectory(env)
  const probe = join(directory, `.doctor-${randomUUID()}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(probe, "", { mode: 0o600, flag: "wx" })
    const { bavail, bsize } = await statfs(directory)
    const free = `${((bavail * bsize) / GIGABYTE).toFixed(1)} GB free in ${directory}`
    return bavail * bsize < MIN_FREE ? problem("disk", `Only ${free}. Make room for journals.`) : ok("disk", free)
  } catch (error) {
    return problem("disk", `${directory} cannot be written: ${reasonOf(error)}. Mend it, or set STRATA_HOME.`)
  } finally {
    await rm(probe, { force: true }).catch(() => {})
  }
}

// Whether the store that `STRATA_STORE` names answers.

/** Checks a store in `STRATA_STORE`. For the file store, the disk is checked instead. */
export async function checkStore(env: CommandCall["env"]): Promise<readonly CheckResult[]> {
  if (!env.STRATA_STORE?.trim()) return []
  try {
    const store = await openBriefStore({ dir: strataDirectory(env), env })
    await store.projects()
    return [ok("store", `${store.description} answers`)]
  } catch (error) {
    return [problem("store", describeStoreProblem(error))]
  }
}

const WIDEST = 110

export const run: Run = async ({ args, cwd, env, terminal, stdin }) => {
  const { values, operands } = readArguments(DOCTOR, args)
  const client = clientNamed(operands[0])
  connectThroughProxy(env)
  const place = { cwd: await realpath(cwd), env }
  const clients = await checkClients(client, place)
  const inForce = await baseUrlInForce(client, place)
  const proxies = await listAnnouncements(env)
  const baseUrl = checkBaseUrl(inForce, proxies)
  const own = inForce && baseUrl.state === "ok" ? skipProxies(inForce.url, proxies) : publicApi.upstream
  const upstream = namedUpstream(values.upstream, env)?.upstream ?? own
  const isAllowed = async (question: string) =>
    values.yes ||
    (!values.json &&
      stdin?.isTTY === true &&
      (await promptForChoice(`${question} (yes or no) `, ["yes", "no"])) === "yes")
  const server = await checkUpstream(upstream)
  const checks = [
    ...clients,
    baseUrl,
    ...(client === undefined || client === "claude" ? [await checkTools(inForce, place)] : []),
    ...(client === undefined || client === "claude" ? await checkPlugin(env) : []),
    server,
    ...(server.state === "ok" ? [await checkCache({ upstream, env, isAllowed })] : []),
    await checkPort(values.port),
    await checkDisk(env),
    ...(await checkStore(env)),
    await checkSandbox(),
    checkNode(),
  ]
  if (values.json) terminal.print(`${jsonForTerminal({ checks }, 2)}\n`)
  else terminal.print(`${lines(checks, terminal).join("\n")}\n`)
  return checks.some(({ state }) => state === "problem") ? 1 : 0
}

function clientNamed(name: string | undefined): ClientName | undefined {
  const client = CLIENT_NAMES.find((each) => each === name)
  if (name !== undefined && !client) throw new UsageError(`strata doctor knows ${CLIENT_NAMES.join(", ")}.`)
  return client
}

/** Checks the named client, which must be installed. Without a name, all installed clients are checked. */
async function checkClients(
  client: ClientName | undefined,
  place: Pick<CommandCall, "cwd" | "env">,
): Promise<CheckResult[]> {
  const asked = client ? [client] : CLIENT_NAMES
  const versions = await Promise.all(asked.map((name) => clientVersion(name, place)))
  const found = asked.flatMap((name, at) => (versions[at] === undefined ? [] : [ok(name, versions[at])]))
  if (found.length > 0) return found
  return client
    ? [problem(client, `it is not on the PATH. Install it, or wrap another command: strata wrap -- COMMAND`)]
    : [ok("client", `none of ${CLIENT_NAMES.join(", ")} is on the PATH; strata wrap -- COMMAND takes any other`)]
}

function lines(checks: readonly CheckResult[], { style, columns }: Terminal): readonly string[] {
  const signs = { ok: style.green("ok     "), problem: style.red("problem"), "not checked": style.dim("not yet") }
  const width = Math.max(...checks.map(({ name }) => name.length))
  const start = 7 + 2 + width + 2
  return checks.flatMap(({ name, state, about }) => {
    const [first = "", ...rest] = wrapText(escapeToLine(about), Math.min(columns, WIDEST) - start)
    return [`${signs[state]}  ${padEnd(name, width)}  ${first}`, ...indent(rest, start)]
  })
}
