/** `strata doctor`: checks what `strata wrap` needs, one line each. */
import { realpath } from "node:fs/promises"
import { readArguments } from "../arguments.ts"
import { askForWord } from "../ask-for-word.ts"
import { type Call, type Run, UsageError } from "../command.ts"
import { connectThroughProxy } from "../connection.ts"
import type { Terminal } from "../display/terminal.ts"
import { indented, padEnd, wrapped } from "../display/text.ts"
import { printable, visibleJson } from "../display/visible.ts"
import { announced } from "../proxy/announcement.ts"
import { DOCTOR } from "../proxy/descriptions.ts"
import { namedUpstream, pastProxies, publicApi } from "../proxy/upstream.ts"
import { baseUrlInForce } from "../wrap/base-url.ts"
import { CLIENT_NAMES, type ClientName } from "../wrap/client-names.ts"
import { type Check, ok, problem } from "./check.ts"
import { checkBaseUrl, checkTools, versionOf } from "./client.ts"
import { checkDisk, checkNode, checkPort, checkSandbox } from "./machine.ts"
import { checkPlugin } from "./plugin.ts"
import { checkCache, checkUpstream } from "./server.ts"
import { checkStore } from "./store.ts"

const WIDEST = 110

export const run: Run = async ({ args, cwd, env, terminal, stdin }) => {
  const { values, operands } = readArguments(DOCTOR, args)
  const client = clientNamed(operands[0])
  connectThroughProxy(env)
  const place = { cwd: await realpath(cwd), env }
  const clients = await checkClients(client, place)
  const inForce = await baseUrlInForce(client, place)
  const proxies = await announced(env)
  const baseUrl = checkBaseUrl(inForce, proxies)
  const own = inForce && baseUrl.state === "ok" ? pastProxies(inForce.url, proxies) : publicApi.upstream
  const upstream = namedUpstream(values.upstream, env)?.upstream ?? own
  const isAllowed = async (question: string) =>
    values.yes ||
    (!values.json && stdin?.isTTY === true && (await askForWord(`${question} (yes or no) `, ["yes", "no"])) === "yes")
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
  if (values.json) terminal.print(`${visibleJson({ checks }, 2)}\n`)
  else terminal.print(`${lines(checks, terminal).join("\n")}\n`)
  return checks.some(({ state }) => state === "problem") ? 1 : 0
}

function clientNamed(name: string | undefined): ClientName | undefined {
  const client = CLIENT_NAMES.find((each) => each === name)
  if (name !== undefined && !client) throw new UsageError(`strata doctor knows ${CLIENT_NAMES.join(", ")}.`)
  return client
}

/** The named one must be there. Without a name, those that are there are listed. */
async function checkClients(client: ClientName | undefined, place: Pick<Call, "cwd" | "env">): Promise<Check[]> {
  const asked = client ? [client] : CLIENT_NAMES
  const versions = await Promise.all(asked.map((name) => versionOf(name, place)))
  const found = asked.flatMap((name, at) => (versions[at] === undefined ? [] : [ok(name, versions[at])]))
  if (found.length > 0) return found
  return client
    ? [problem(client, `it is not on the PATH. Install it, or wrap another command: strata wrap -- COMMAND`)]
    : [ok("client", `none of ${CLIENT_NAMES.join(", ")} is on the PATH; strata wrap -- COMMAND takes any other`)]
}

function lines(checks: readonly Check[], { style, columns }: Terminal): readonly string[] {
  const marks = { ok: style.green("ok     "), problem: style.red("problem"), "not checked": style.dim("not yet") }
  const width = Math.max(...checks.map(({ name }) => name.length))
  const start = 7 + 2 + width + 2
  return checks.flatMap(({ name, state, about }) => {
    const [first = "", ...rest] = wrapped(printable(about), Math.min(columns, WIDEST) - start)
    return [`${marks[state]}  ${padEnd(name, width)}  ${first}`, ...indented(rest, start)]
  })
}
