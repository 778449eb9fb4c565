/**
 * What Strata would have done in observed conversations: `strata replay` on their journals, in a process of its own, so that a long one
 * can be given up.
 */
import { execFile } from "node:child_process"
import { access } from "node:fs/promises"
import type { ReplayReport } from "@strata/transcripts/replay"
import type { Call } from "../command.ts"
import { counted, dollars } from "../display/numbers.ts"

const PATIENCE_MS = 8_000
const MOST_BYTES = 256 * 1024 * 1024

type Replayed = Pick<ReplayReport, "totals">

export async function wouldHave(journals: readonly string[], { cwd, env }: Pick<Call, "cwd" | "env">): Promise<string> {
  const there = (await Promise.all(journals.map(exists))).flatMap((path) => path ?? [])
  if (there.length === 0) return "Nothing was kept that shows what Strata would have done."
  const later = `"strata replay FILE" on the journal says what Strata would have done.`
  try {
    const output = await ownOutput(["replay", "--json", ...there], { cwd, env })
    return sentence((JSON.parse(output) as { conversations: readonly Replayed[] }).conversations)
  } catch (error) {
    const isLate = (error as { killed?: boolean }).killed === true
    return isLate ? `Left out, because it takes longer than ${PATIENCE_MS / 1000} seconds: ${later}` : later
  }
}

const exists = (path: string): Promise<string | undefined> =>
  access(path).then(
    () => path,
    () => undefined,
  )

function ownOutput(args: readonly string[], { cwd, env }: Pick<Call, "cwd" | "env">): Promise<string> {
  const options = { cwd, env: env as NodeJS.ProcessEnv, timeout: PATIENCE_MS, maxBuffer: MOST_BYTES }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...process.execArgv, process.argv[1]!, ...args], options, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
  })
}

/** Of several conversations, only those whose price is known are added up. */
function sentence(replayed: readonly Replayed[]): string {
  const totals = replayed.flatMap(({ totals: each }) => (each.saved.unit === "dollars" ? [each] : []))
  const sum = (of: (each: Replayed["totals"]) => number) => totals.reduce((all, each) => all + of(each), 0)
  const [saved, cost] = [sum((each) => each.saved.amount), sum((each) => each.dollars ?? 0)]
  const acts = sum(({ acts: { compacted: _, ...others } }) => Object.values(others).reduce((all, one) => all + one, 0))
  const compactions = sum((each) => each.compactions)
  const would = `Managed, Strata would have acted on ${counted(acts, "result")} and compacted ${counted(compactions, "time")}`
  if (acts + compactions === 0) return "Managed, Strata would have done nothing yet: the conversation is too short."
  if (totals.length === 0) return `${would}. What that saves is unknown: the model has no known price.`
  const share = Math.round((100 * Math.abs(saved)) / (cost + saved || 1))
  return `${would}: about ${dollars(Math.abs(saved))} ${saved >= 0 ? "less" : "more"} (${share}%), by a replay of the journal.`
}
