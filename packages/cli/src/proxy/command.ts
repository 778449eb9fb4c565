/** `strata proxy`: runs a proxy for the Messages API until Ctrl-C, or shows the status of running proxies. */
import { once } from "node:events"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { listAnnouncements } from "./announcement.ts"
import { PROXY } from "./descriptions.ts"
import { costLines } from "./report.ts"
import { startRunning } from "./start-proxy.ts"
import { printStatus } from "./status.ts"
import { displayAddress, isPublic, namedUpstream, publicApi, skipProxies } from "./upstream.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(PROXY, args)
  if (values.status) return printStatus(await listAnnouncements(env), { terminal, isJson: values.json })
  if (values.json) throw new UsageError("--json belongs to: strata proxy --status")
  const choice = namedUpstream(values.upstream, env)
  const { upstream } = choice ?? publicApi
  if (!choice) await warnOfBaseUrl({ env, terminal })
  const log = values.verbose ? (line: string) => terminal.complain(`${line}\n`) : () => {}
  const mode = values.observe ? "observe" : "manage"
  const running = await startRunning({
    ...{ upstream, mode, log, cwd, env },
    port: values.port,
    withoutRecall: values["no-recall"],
  })
  terminal.print(startText(running.url, { upstream, isObserving: values.observe }))
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), once(process, "SIGHUP")])
  const { rows } = await running.close()
  terminal.complain(`${costLines(rows, terminal).join("\n")}\n`)
  return 0
}

async function warnOfBaseUrl({ env, terminal }: Pick<CommandCall, "env" | "terminal">): Promise<void> {
  const baseUrl = env.ANTHROPIC_BASE_URL
  if (!baseUrl || isPublic(baseUrl) || isPublic(skipProxies(baseUrl, await listAnnouncements(env)))) return
  terminal.complain(
    `ANTHROPIC_BASE_URL names ${displayAddress(baseUrl)}, but that is the client's variable: this proxy sends to the public API. Use --upstream URL or STRATA_UPSTREAM to send elsewhere.\n`,
  )
}

/** Start message with one line for each known client. */
function startText(url: string, { upstream, isObserving }: { upstream: string; isObserving: boolean }): string {
  return [
    `Strata ${isObserving ? "observes" : "manages"} what passes to ${displayAddress(upstream)}. Ctrl-C ends it. The base URL:`,
    "",
    `  ${url}`,
    "",
    `  Claude Code   ANTHROPIC_BASE_URL=${url} ENABLE_TOOL_SEARCH=true claude`,
    `  SDKs          ANTHROPIC_BASE_URL=${url}`,
    `  AI SDK        createAnthropic({ baseURL: "${url}/v1" })`,
    `  pi            models.json: { "providers": { "anthropic": { "baseUrl": "${url}" } } }`,
    `  opencode      opencode.json: { "provider": { "anthropic": { "options": { "baseURL": "${url}/v1" } } } }`,
    "",
    "Or let strata wrap set it for one command.",
    "",
  ].join("\n")
}
