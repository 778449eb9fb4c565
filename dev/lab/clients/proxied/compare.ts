/** Runs one case in all modes and compares the runs. */
import { type ProxiedRun, type ProxiedRunOptions, runCase } from "./run-case.ts"

/** One row of the table. */
export interface ComparedRuns {
  readonly client: string
  readonly version: string
  readonly what: string
  readonly goal: number
  readonly direct: ProxiedRun
  readonly proxy: ProxiedRun
  readonly observe?: ProxiedRun
}

export async function compare(running: Omit<ProxiedRunOptions, "way">, { observes }: { readonly observes: boolean }) {
  const { case: each, version } = running
  const direct = await runCase({ ...running, way: "direct" })
  const observe = observes ? await runCase({ ...running, way: "observe" }) : undefined
  const proxy = await runCase({ ...running, way: "proxy" })
  const { client, what, goal } = each
  return { client, version, what, goal, direct, proxy, ...(observe ? { observe } : {}) } satisfies ComparedRuns
}

const EXACTLY = 0.0005

/** Defects of the compared runs, as sentences. */
export function proxiedDefects({ direct, proxy, observe, goal }: ComparedRuns): readonly string[] {
  const faults: string[] = []
  for (const [name, { failure }] of Object.entries({ direct, proxy, ...(observe && { observe }) }))
    if (failure !== undefined) faults.push(`${name} ends early: ${failure}`)
  if (proxy.refused.length > direct.refused.length) faults.push(`refused: ${proxy.refused[0]}`)
  if (!areEqual(direct.answers, proxy.answers)) faults.push("the answers differ")
  const ratio = proxy.dollars / direct.dollars
  if (ratio > goal) faults.push(`costs ${ratio.toFixed(2)}, more than ${goal}`)
  if (observe && Math.abs(observe.dollars / direct.dollars - 1) > EXACTLY) faults.push("observing costs something")
  return [...faults, ...[...proxy.problems, ...(observe?.problems ?? [])].slice(0, 3)]
}

/** Whether both runs gave the same answers. The proxy's run may know what the client's own compaction has lost. */
export const areEqual = (direct: readonly string[], proxy: readonly string[]): boolean =>
  direct.length === proxy.length && direct.every((answer, at) => answer === proxy[at] || answer === lost(proxy[at]!))

const lost = (answer: string): string => answer.replace("port 4711", "port unknown")
