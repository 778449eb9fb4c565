/** What is known about a client: its version, the base URL it would use, and whether its tools load when they are needed. */
import { execFile } from "node:child_process"
import type { Call } from "../command.ts"
import type { Announcement } from "../proxy/announcement.ts"
import { isPublic, shownAddress } from "../proxy/upstream.ts"
import { type BaseUrlInForce, claudeVariable } from "../wrap/base-url.ts"
import type { ClientName } from "../wrap/client-names.ts"
import { type Check, ok, problem } from "./check.ts"

const PATIENCE_MS = 20_000

type Place = Pick<Call, "cwd" | "env">

/** `undefined`: it is not there. */
export function versionOf(client: ClientName, { cwd, env }: Place): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      client,
      ["--version"],
      { cwd, env: env as NodeJS.ProcessEnv, timeout: PATIENCE_MS, shell: process.platform === "win32" },
      (error, stdout, stderr) => {
        if ((error as NodeJS.ErrnoException | null)?.code === "ENOENT") return resolve(undefined)
        const line = `${stdout}\n${stderr}`.split("\n").find((text) => /\d+\.\d+/.test(text))
        resolve(error && !line ? "found, but it does not say its version" : (line?.trim() ?? "found"))
      },
    )
  })
}

export function checkBaseUrl(inForce: BaseUrlInForce | undefined, proxies: readonly Announcement[]): Check {
  const name = "base URL"
  if (!inForce) return ok(name, "the public API; strata wrap sets another for one command")
  const { url, file } = inForce
  const from = file ?? "ANTHROPIC_BASE_URL"
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    return problem(name, `${from} has one that is not a URL. Use one that starts with http:// or https://.`)
  if (proxies.some((proxy) => url.startsWith(proxy.url))) return ok(name, `a running Strata proxy, from ${from}`)
  return ok(name, `${shownAddress(url)}, from ${from}; strata wrap puts itself in front of it`)
}

/** Where the base URL is not Claude's own, its on-demand tools are on only if a variable says so. */
export async function checkTools(inForce: BaseUrlInForce | undefined, place: Place): Promise<Check> {
  const name = "on-demand tools"
  const set = (await claudeVariable("ENABLE_TOOL_SEARCH", place))?.value ?? place.env.ENABLE_TOOL_SEARCH
  if (set !== undefined && /^(?:false|0|no|off)$/i.test(set))
    return problem(name, `ENABLE_TOOL_SEARCH is ${set}: every tool is sent with every request. Unset it.`)
  if (set !== undefined) return ok(name, `on: ENABLE_TOOL_SEARCH is ${set}`)
  if (inForce && !isPublic(inForce.url))
    return problem(name, "off, because of the base URL. Set ENABLE_TOOL_SEARCH=true, or use strata wrap claude.")
  return ok(name, "on; strata wrap keeps them on")
}
