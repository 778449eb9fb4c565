/** `strata proxy`: in front of the Messages API until Ctrl-C, or a look at those that run. */
import { once } from "node:events"
import { readArguments } from "../arguments.ts"
import { type Call, type Run, UsageError } from "../command.ts"
import { announced } from "./announcement.ts"
import { PROXY } from "./descriptions.ts"
import { costLines } from "./report.ts"
import { startRunning } from "./running.ts"
import { printStatus } from "./status.ts"
import { isPublic, namedUpstream, pastProxies, publicApi, shownAddress } from "./upstream.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(PROXY, args)
  if (values.status) return printStatus(await announced(env), { terminal, isJson: values.json })
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

async function warnOfBaseUrl({ env, terminal }: Pick<Call, "env" | "terminal">): Promise<void> {
  const baseUrl = env.ANTHROPIC_BASE_URL
  if (!baseUrl || isPublic(baseUrl) || isPublic(pastProxies(baseUrl, await announced(env)))) return
  terminal.complain(
    `ANTHROPIC_BASE_URL names ${shownAddress(baseUrl)}, but that is the client's variable: this proxy sends to the public API. Use --upstream URL or STRATA_UPSTREAM to send elsewhere.\n`,
  )
}

/** One line for each known client. */
function startText(url: string, { upstream, isObserving }: { upstream: string; isObserving: boolean }): string {
  return [
    `Strata ${isObserving ? "observes" : "manages"} what passes to ${shownAddress(upstream)}. Ctrl-C ends it. The base URL:`,
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
