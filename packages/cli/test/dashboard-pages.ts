/** `strata dashboard` as a process, and its pages. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { onTestFinished } from "vitest"
import { MAIN } from "./strata-process.ts"
import type { Workbench } from "./workbench.ts"

/** Requests pages like a browser. */
export async function startDashboard(
  bench: Workbench,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
) {
  const child = spawn(process.execPath, [MAIN, "dashboard", "--no-open", ...args], {
    cwd: bench.project,
    env: { ...bench.env, ...env },
  })
  onTestFinished(() => void child.kill())
  let printed = ""
  for await (const piece of child.stdout) {
    printed += piece
    if (/key=[\w-]+\n/.test(printed)) break
  }
  const address = /http:\S+/.exec(printed)![0]
  const entered = await fetch(address, { redirect: "manual" })
  const cookie = entered.headers.get("set-cookie")!.split(";")[0]!
  const base = address.replace(/\/\?.*$/, "")
  const { origin } = new URL(base)
  const page = async (path: string) => (await fetch(base + path, { headers: { cookie } })).text()
  const post = async (path: string) =>
    (await fetch(base + path, { method: "POST", headers: { cookie, origin, "x-strata-page": "1" } })).text()
  /** The number of rows at each change event. */
  const events = async (path: string) => {
    const reader = (await fetch(base + path, { headers: { cookie } }))
      .body!.pipeThrough(new TextDecoderStream())
      .getReader()
    onTestFinished(() => reader.cancel().catch(() => undefined))
    return async (): Promise<number> => {
      for (;;) {
        const { value = "", done } = await reader.read()
        const [, rows] = /"rows":(\d+)/.exec(value) ?? []
        if (rows !== undefined) return Number(rows)
        if (done) throw new Error("The page ended the stream.")
      }
    }
  }
  const end = async () => {
    child.kill("SIGINT")
    const [code] = (await once(child, "exit")) as [number | null]
    return code
  }
  return { page, post, events, end, printed }
}
